package engine

import (
	"net"
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
	needsBubblewrap(t)
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
		out, err := confined(t, dir, "sh", "-c", command)
		if (err == nil) != works {
			t.Errorf("%s: %v: %s", command, err, out)
		}
		if strings.Contains(string(out), "bwrap:") {
			t.Errorf("%s: %s", command, out)
		}
	}
}

func needsBubblewrap(t *testing.T) {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed")
	}
	if out, err := exec.Command(bwrap, "--unshare-user-try", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap does not run here: %v: %s", err, out)
	}
}

// confined runs a command as a check would be.
func confined(t *testing.T, dir string, argv ...string) (out []byte, err error) {
	t.Helper()
	argv, filter, err := confine(argv)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if filter != nil {
		defer filter.Close()
		cmd.ExtraFiles = []*os.File{filter}
	}
	return cmd.CombinedOutput()
}

// TestConfineSockets dials, from the box, this test's own sockets and those of
// the box. The program that dials is this test.
func TestConfineSockets(t *testing.T) {
	if at := os.Getenv("CONFINE_TEST_DIAL"); at != "" {
		network, address, _ := strings.Cut(at, " ")
		if address == "" { // the box's own
			l, err := net.Listen(network, "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address = l.Addr().String()
		}
		if _, err := net.Dial(network, address); err != nil {
			t.Fatal(err)
		}
		return
	}
	needsBubblewrap(t)
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		at             string
		network, works bool
	}{
		{"unix " + unix.Addr().String(), false, false},
		{"unix " + unix.Addr().String(), true, true},
		{"tcp ", false, true},
	} {
		t.Setenv(place.ConfineEnv, place.Confinement{Network: c.network}.String())
		t.Setenv("CONFINE_TEST_DIAL", c.at)
		out, err := confined(t, "/", os.Args[0], "-test.run=^TestConfineSockets$")
		if (err == nil) != c.works {
			t.Errorf("%+v: %v: %s", c, err, out)
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
	if got, _, err := confine(argv); err != nil || len(got) != 1 {
		t.Errorf("without a sandbox: %q, %v", got, err)
	}
	t.Setenv(place.ConfineEnv, "anything")
	if _, _, err := confine(argv); !fault.Is(err, fault.Refused) {
		t.Errorf("a sandbox that can't be told: %v", err)
	}
	t.Setenv(place.ConfineEnv, place.Confinement{}.String())
	t.Setenv("PATH", t.TempDir())
	if _, _, err := confine(argv); !fault.Is(err, fault.Refused) {
		t.Errorf("without bubblewrap: %v", err)
	}
}
