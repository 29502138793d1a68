package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func tree() *cobra.Command {
	root := newRootCmd(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, stdin: strings.NewReader("")})
	root.InitDefaultCompletionCmd() // which Execute does for a real run
	return root
}

func walk(cmd *cobra.Command, fn func(*cobra.Command)) {
	fn(cmd)
	for _, c := range cmd.Commands() {
		walk(c, fn)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			return
		}
		if c.Short == "" || c.Example == "" {
			t.Errorf("%s has no short help or example", c.CommandPath())
		}
		if !c.HasSubCommands() && !strings.Contains(c.Long, "EXIT STATUS") {
			t.Errorf("%s has no EXIT STATUS section", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			if len(line) > 110 {
				t.Errorf("%s: an example has more than 110 columns", c.CommandPath())
			}
		}
	})
}

var update = flag.Bool("update", false, "write docs/manual from the commands")

// TestManualIsCurrent fails when docs/manual, a page a command, differs from the
// commands; `make manual` writes it.
func TestManualIsCurrent(t *testing.T) {
	want := t.TempDir()
	if err := doc.GenMarkdownTree(tree(), want); err != nil {
		t.Fatal(err)
	}
	have := filepath.Join("..", "..", "docs", "manual")
	if *update {
		if err := errors.Join(os.RemoveAll(have), os.CopyFS(have, os.DirFS(want))); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := os.ReadDir(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		w, err := os.ReadFile(filepath.Join(want, p.Name()))
		if err != nil {
			t.Fatal(err)
		}
		h, err := os.ReadFile(filepath.Join(have, p.Name()))
		if err != nil || !bytes.Equal(w, h) {
			t.Errorf("docs/manual/%s is not what the commands say (make manual): %v", p.Name(), err)
		}
	}
	old, err := os.ReadDir(have)
	if err != nil {
		t.Fatal(err)
	}
	if len(old) != len(pages) {
		t.Errorf("docs/manual has %d pages, want %d", len(old), len(pages))
	}
}

// told finds commands in prose: `satelle story start …` in backticks, or at
// the start of an indented line.
var told = regexp.MustCompile("(?m)(?:`|^(?:\\$ |    |  ))satelle((?: [a-z][a-z-]*)+)")

// TestProseNamesCommandsThatExist reads the documents and help topics.
func TestProseNamesCommandsThatExist(t *testing.T) {
	files, err := filepath.Glob("topics/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/decisions/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	root := tree()
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range told.FindAllStringSubmatch(string(b), -1) {
			words := strings.Fields(m[1])
			cmd, _, err := root.Find(words)
			n++
			if err != nil || cmd == root && words[0] != "help" && words[0] != "completion" {
				t.Errorf("%s names `satelle%s`, which does not exist", f, m[1])
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d commands were found in the prose: the pattern is wrong", n)
	}
}

// TestNoServerOfItsOwn: agents control satelle through its verbs alone
// (seed 001, "Control plane in").
func TestNoServerOfItsOwn(t *testing.T) {
	walk(tree(), func(c *cobra.Command) {
		for _, n := range append([]string{c.Name()}, c.Aliases...) {
			if strings.Contains(n, "mcp") || strings.HasPrefix(n, "serve") {
				t.Errorf("there is a command %q (%s)", c.CommandPath(), n)
			}
		}
	})
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			if p.ImportPath == "satelle/internal/clienttest" || p.ImportPath == "satelle/internal/scriptmodel" {
				continue // models that play a script to an agent, for as long as that runs
			}
			b, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte("net.Listen")) || bytes.Contains(b, []byte("ListenAndServe")) {
				t.Errorf("%s/%s listens", p.ImportPath, f)
			}
		}
	}
}
