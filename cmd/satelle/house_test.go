package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goPackage is the part of `go list -json` that the house's rules need.
type goPackage struct {
	ImportPath string
	Dir        string
	Doc        string
	Imports    []string
	GoFiles    []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// floors are the rooms from the ground up: a package may import those of lower
// floors and of its own room, and nothing from above.
var floors = []struct {
	room  string
	floor int
}{
	{"satelle/internal/fault", 0},
	{"satelle/internal/nearest", 0},
	{"satelle/internal/place", 0},
	{"satelle/internal/ancestry", 0},
	{"satelle/internal/proc", 0},
	{"satelle/internal/scriptmodel", 0},
	{"satelle/internal/spool", 0},
	{"satelle/internal/jsonedit", 1},
	{"satelle/internal/tomledit", 1},
	{"satelle/internal/gitrepo", 1},
	{"satelle/ledger", 2},
	{"satelle/workflow", 3},
	{"satelle/hooks", 4},
	{"satelle/agents", 4},
	{"satelle/board", 4},
	{"satelle/internal/audit", 4},
	{"satelle/internal/telemetry", 4},
	{"satelle/internal/engine", 5},
	{"satelle/internal/clienttest", 6},
	{"satelle/tests", 6},
	{"satelle/cmd", 7},
}

func roomOf(path string) (room string, floor int) {
	floor = -1
	for _, f := range floors {
		if (path == f.room || strings.HasPrefix(path, f.room+"/")) && len(f.room) > len(room) {
			room, floor = f.room, f.floor
		}
	}
	return room, floor
}

func TestImportsRunDownwards(t *testing.T) {
	for _, p := range packages(t) {
		room, floor := roomOf(p.ImportPath)
		if floor < 0 {
			t.Errorf("%s is in no room of the house", p.ImportPath)
		}
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, "satelle/") {
				continue
			}
			if other, below := roomOf(i); other != room && below >= floor {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, i)
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) == 0 {
			continue // only tests
		}
		if p.Doc == "" || !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go with a package comment", p.ImportPath)
		}
	}
}

func TestFilesHaveOneSubject(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			name := strings.TrimSuffix(f, ".go")
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "misc"}, name) {
				t.Errorf("%s/%s names no subject", p.ImportPath, f)
			}
			b, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(b), "\n"); n > 700 {
				t.Errorf("%s/%s has %d lines", p.ImportPath, f, n)
			}
		}
	}
}
