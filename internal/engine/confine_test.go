package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/internal/place"
)

// TestConfine runs commands in the box that a check of a sandboxed session gets.
func TestConfine(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed")
	}
	if out, err := exec.Command(bwrap, "--unshare-user-try", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not run here: %v: %s", err, out)
	}
	dir := t.TempDir()
	for _, name := range []string{"tree/.git", "tree/.git/hooks", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CACHE_HOME", "")
	box := place.Confinement{Write: []string{filepath.Join(dir, "tree"), filepath.Join(dir, "missing")}, Keep: []string{filepath.Join(dir, "tree/.git"), filepath.Join(dir, "tree/.none")}}
	t.Setenv(place.ConfineEnv, box.String())
	for command, works := range map[string]bool{
		"mkdir $XDG_CACHE_HOME && echo x > $XDG_CACHE_HOME/a":        true,
		"echo x > tree/a && cat tree/a":                              true,
		"echo x > home/a":                                            false,
		"echo x > tree/.git/config":                                  false,
		"echo x > tree/.git/hooks/post":                              false,
		"rm -rf tree/.git":                                           false,
		"echo x > a":                                                 false,
		"kill -0 " + strconv.Itoa(os.Getpid()):                       false,
		"mount -t tmpfs x tree":                                      false,
		"test -n \"$(cat /proc/net/dev | grep -v lo: | sed -n 3p)\"": false,
	} {
		argv, err := confine([]string{"sh", "-c", command})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if (err == nil) != works {
			t.Errorf("%s: %v: %s", command, err, out)
		}
		if strings.Contains(string(out), "bwrap:") {
			t.Errorf("%s: %s", command, out)
		}
	}
}

func TestConfineKeepsACacheThatIsOpen(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/h/.cache")
	if got := ownCache(place.Confinement{Write: []string{"/h"}}); got != nil {
		t.Errorf("got %q", got)
	}
	if got := ownCache(place.Confinement{Write: []string{"/h/.cach"}}); got == nil {
		t.Error("a cache that may not be written is the person's")
	}
}

func TestConfineRefuses(t *testing.T) {
	argv := []string{"true"}
	if got, err := confine(argv); err != nil || len(got) != 1 {
		t.Errorf("without a sandbox: %q, %v", got, err)
	}
	t.Setenv(place.ConfineEnv, "anything")
	if _, err := confine(argv); !fault.Is(err, fault.Refused) {
		t.Errorf("a sandbox that can't be told: %v", err)
	}
	t.Setenv(place.ConfineEnv, place.Confinement{}.String())
	t.Setenv("PATH", t.TempDir())
	if _, err := confine(argv); !fault.Is(err, fault.Refused) {
		t.Errorf("without bubblewrap: %v", err)
	}
}
