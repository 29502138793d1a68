package ancestry

import (
	"os"
	"testing"
)

// TestATerminalRegistersNobody holds that a person who runs the hook by hand,
// its answer on the screen, does not become a session.
func TestATerminalRegistersNobody(t *testing.T) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	if !terminal(int(screen.Fd())) || terminal(int(nothing.Fd())) || terminal(-1) {
		t.Errorf("terminal: %v, no device: %v", terminal(int(screen.Fd())), terminal(int(nothing.Fd())))
	}
	home := t.TempDir()
	for file, want := range map[*os.File]int{screen: 0, nothing: 1} {
		stdout := os.Stdout
		os.Stdout = file
		err := Register(home, "s", "h")
		os.Stdout = stdout
		if got := len(entries(t, home)); err != nil || got != want {
			t.Errorf("answering to %s: %d registered, %v", file.Name(), got, err)
		}
		for _, e := range entries(t, home) {
			os.Remove(e)
		}
	}
}

// TestLone: a namespace of users that an agent can make has one user, those of
// containers have many.
func TestLone(t *testing.T) {
	for text, want := range map[string]bool{
		"         0       1000          1\n":                                   true,
		"      1000       1000          1\n":                                   true,
		"         0          0 4294967295\n":                                   false,
		"         0       1000          1\n         1     100000      65536\n": false,
		"         0 4294967295 4294967295\n":                                   true,
		"":                                                                     false,
	} {
		if got := lone(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if wholeMachine() && alone() {
		t.Error("the whole machine is no sandbox")
	}
}
