package ancestry

import (
	"os"
	"os/exec"
	"testing"
)

// TestMark: what runs below a marked process is told from what does not, in
// another session and with another environment.
func TestMark(t *testing.T) {
	before, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile("/proc/self/comm", before, 0) })
	if len(Mark("/a")) != 15 || Mark("/a") == Mark("/b") {
		t.Error(Mark("/a"), Mark("/b"))
	}
	below := func(home string) bool {
		cmd := exec.Command("setsid", "-w", os.Args[0])
		cmd.Env = []string{"ANCESTRY_TEST_HOME=" + home, roleEnv + "=marked"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out) == "true <nil>\n"
	}
	if below("/a") {
		t.Error("marked, and nobody has the mark")
	}
	if err := TakeMark("/a"); err != nil {
		t.Fatal(err)
	}
	if !below("/a") || below("/b") {
		t.Error("the mark of /a is not the mark of /a alone")
	}
}
