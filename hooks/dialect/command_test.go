package dialect

import (
	"os"
	"strings"
	"testing"

	"satelle/internal/ancestry"
)

func TestCommandIsFrozen(t *testing.T) {
	for uninstalled, file := range map[string]string{Deny: "testdata/command-deny.txt", Allow: "testdata/command-allow.txt"} {
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := Command(uninstalled) + "\n"; got != string(golden) {
			t.Errorf("the installed command must never change: every trust in it would be lost\ngot  %swant %s", got, golden)
		}
	}
	if Command("") != Command(Deny) {
		t.Error("without a choice the command must deny")
	}
}

func TestCommandSuitsEveryHarness(t *testing.T) {
	for _, uninstalled := range []string{Deny, Allow} {
		c := Command(uninstalled)
		if strings.ContainsAny(c, "\n\r\t!`") {
			t.Errorf("a line end, a backquote or an exclamation mark in %s", c)
		}
		for rest := c; ; {
			_, after, ok := strings.Cut(rest, "$")
			if !ok {
				break
			}
			rest = after
			name := strings.TrimLeft(strings.TrimPrefix(after, "{"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
			if !strings.HasPrefix(after, "{") || !strings.HasPrefix(name, ":-") {
				t.Errorf("Grok skips a command whose variable has no modifier: $%.20s", after)
			}
		}
		if strings.Count(c, "'") != 2 {
			t.Errorf("the quotes of sh -c must be the only single ones: %s", c)
		}
		if strings.Contains(c, "/home") || strings.Contains(c, "/usr") {
			t.Errorf("a path of a machine in %s", c)
		}
		if !strings.Contains(c, ancestry.Signature) {
			t.Errorf("ancestry can't tell its processes from the harness: %s", c)
		}
	}
	if n := len(uninstalledReason); n > 256 {
		t.Errorf("the reason has %d characters; Grok passes on 256", n)
	}
}

func TestIsOurs(t *testing.T) {
	for command, want := range map[string]bool{
		Command(Deny):                       true,
		Command(Allow):                      true,
		"  " + Command(Deny) + "\n":         true,
		"":                                  false,
		"satelle-hook":                      false,
		Command(Deny) + " ; true":           false,
		"echo '" + ancestry.Signature + "'": false,
		strings.ToUpper(Command(Deny)):      false,
		strings.Replace(Command(Deny), "&& exit 0", "", 1): false,
	} {
		if IsOurs(command) != want {
			t.Errorf("IsOurs(%q) is %v", command, !want)
		}
	}
}
