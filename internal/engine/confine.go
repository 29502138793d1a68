package engine

import (
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"satelle/internal/fault"
	"satelle/internal/place"
	"satelle/internal/proc"
)

// confine puts around a check the sandbox of the session that asked for it.
// Codex's commands run in one, and satelle, whose hook carries out their calls
// of it, does not; but what a check runs, the agent may have written.
//
// What it returns beside the command is to be its descriptor [proc.ExtraFD],
// and to be closed.
func confine(argv []string) (_ []string, filter *os.File, err error) {
	text, asked := os.LookupEnv(place.ConfineEnv)
	if !asked {
		return argv, nil, nil
	}
	box, ok := place.ParseConfinement(text)
	if !ok {
		return nil, nil, fault.New(fault.Refused, "the sandbox that the check must stay in can't be told from %s", place.ConfineEnv)
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, nil, fault.New(fault.Refused, "the check must stay in the sandbox of the session that asks, and bubblewrap (bwrap), which would hold it there, "+
			"is not installed: a person runs the same command in a terminal of their own")
	}
	around := confinement(bwrap, box)
	if !box.Network {
		if filter, err = pipeOf(socketFilter()); err != nil {
			return nil, nil, err
		}
		around = append(around, "--seccomp", strconv.Itoa(proc.ExtraFD))
	}
	return append(append(around, "--"), argv...), filter, nil
}

// pipeOf holds the filter for bubblewrap to read.
func pipeOf(filter []byte) (*os.File, error) {
	if filter == nil {
		return nil, fault.New(fault.Refused, "the check must stay in the sandbox of the session that asks, and on a machine of this kind (%s) it would not: "+
			"a person runs the same command in a terminal of their own", runtime.GOARCH)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fault.Wrap(err, nil, "starting the check")
	}
	_, err = to.Write(filter) // far less than a pipe holds
	if e := to.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = from.Close()
		return nil, fault.Wrap(err, nil, "starting the check")
	}
	return from, nil
}

// confinement is the call of bubblewrap that holds a command in a box.
func confinement(bwrap string, box place.Confinement) []string {
	argv := []string{
		bwrap, "--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if !box.Network {
		argv = append(argv, "--unshare-net")
	}
	type mount struct{ how, path string }
	var mounts []mount
	for _, p := range box.Write {
		mounts = append(mounts, mount{"--bind-try", p})
	}
	for _, p := range box.Keep {
		mounts = append(mounts, mount{"--ro-bind-try", p})
	}
	// A folder comes before what lies in it, and is written before it is kept.
	slices.SortStableFunc(mounts, func(a, b mount) int { return cmp.Compare(len(a.path), len(b.path)) })
	for _, m := range mounts {
		argv = append(argv, m.how, m.path, m.path)
	}
	return append(argv, ownCache(box)...)
}

// scratch is a folder that every machine has and that no project works in.
const scratch = "/var/tmp"

// ownCache gives a check a folder for caches of its own, gone with it, where
// it may not write the person's: compilers do not work without one. One that
// the agent could write would let it put results there.
func ownCache(box place.Confinement) []string {
	cache, err := os.UserCacheDir()
	if err == nil && slices.ContainsFunc(box.Write, func(p string) bool { return cache == p || strings.HasPrefix(cache, p+"/") }) {
		return nil
	}
	return []string{"--tmpfs", scratch, "--setenv", "XDG_CACHE_HOME", scratch + "/cache"}
}
