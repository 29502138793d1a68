package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// demanded are the demands that have been met so far.
var demanded = strings.Fields(`D101 D108 D109 D110 D111 D139 D156 D157 D248 D249 D250 D251 D253 D254 D255 D256 D257 D258
	D261 D262 D263 D264 D265 D266 D267 D268 D269 D270 D275 D276 D279 D293 D297 D309 D310 D311 D312 D313 D317 D337`)

var conformanceRow = regexp.MustCompile(`(?m)^\| (D\d+) \| .+ \| (.+) \|$`)

// TestConformance holds docs/conformance.md against the tests that exist.
func TestConformance(t *testing.T) {
	root := filepath.Join("..", "..")
	tests := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".txtar") {
			tests[d.Name()] = true
		}
		if strings.HasSuffix(path, "_test.go") {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range name.FindAllStringSubmatch(string(b), -1) {
				tests[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range conformanceRow.FindAllStringSubmatch(string(doc), -1) {
		rows[m[1]] = true
		for _, test := range strings.Split(m[2], ", ") {
			if !tests[test] {
				t.Errorf("%s names the test %q, which does not exist", m[1], test)
			}
		}
	}
	for _, id := range demanded {
		if !rows[id] {
			t.Errorf("%s has no row", id)
		}
	}
}
