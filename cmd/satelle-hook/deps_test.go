package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// allowed is all that the hook may link beside the standard library. Each of
// it was measured: a package whose initialisation takes time is paid on every
// tool call of every agent.
var allowed = []string{
	"github.com/tidwall/gjson",
	"github.com/tidwall/match",
	"github.com/tidwall/pretty",
	"mvdan.cc/sh/v3/syntax",
	"mvdan.cc/sh/v3/fileutil",
	"satelle/cmd/satelle-hook",
	"satelle/hooks/decide",
	"satelle/hooks/dialect",
	"satelle/hooks/shell",
	"satelle/hooks/shell/snippet",
	"satelle/internal/ancestry",
	"satelle/internal/place",
	"satelle/internal/spool",
	"satelle/ledger/seatread",
}

// costly names packages of the standard library that must stay out: their
// initialisation or size is felt. encoding/json, regexp and fmt come with gjson
// and the shell's parser.
var costly = []string{"net", "os/exec", "crypto", "crypto/sha256", "net/http", "log", "log/slog", "flag", "text/template", "go/token"}

func TestDependencies(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}+{{end}}{{.ImportPath}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		may := append([]string(nil), allowed...)
		if goos == "darwin" {
			may = append(may, "golang.org/x/sys/unix")
		}
		for _, dep := range strings.Fields(string(out)) {
			name, foreign := strings.CutPrefix(dep, "+")
			list, want := costly, false
			if foreign {
				list, want = may, true
			}
			found := false
			for _, l := range list {
				found = found || l == name
			}
			if found != want {
				t.Errorf("%s: the hook must not link %s", goos, name)
			}
		}
	}
}

// maxSize is the most that the hook's program may take.
const maxSize = 4_000_000

func TestSize(t *testing.T) {
	info, err := os.Stat(build(t, ".", filepath.Join(t.TempDir(), "satelle-hook")))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxSize {
		t.Errorf("the program has %d bytes, more than %d", info.Size(), maxSize)
	}
}

// build compiles a package as it is shipped.
func build(t testing.TB, pkg, to string) string {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}
