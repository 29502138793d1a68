package shell

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// gateReads reports whether a person counts a call as reading: it is one of
// Env.Readers, and nothing in the text gives it another meaning. Where the
// shell stands and the paths that it is given lie in the governed tree, in
// which nobody writes without a seat; a makefile elsewhere may be an agent's.
func (j *judge) gateReads(c *call, changed bool) bool {
	if len(j.env.Readers) == 0 || !c.shell || changed || j.taint || j.exports || j.funcs[c.program.text] != nil || !j.inTree() {
		return false
	}
	words := append([]word{c.program}, c.args...)
	for _, w := range words {
		if !w.known || w.many || w.open {
			return false
		}
	}
	for _, pattern := range j.env.Readers {
		if len(pattern) > 0 && !strings.HasPrefix(pattern[0], "*") && matches(pattern, words) {
			return true
		}
	}
	return false
}

// matches reports whether words fit a pattern, in which * is a word and ** at
// the end any number of them.
func matches(pattern []string, words []word) bool {
	for i, want := range pattern {
		switch {
		case want == "**" && i == len(pattern)-1:
			for _, w := range words[i:] {
				if !modest(w.text) {
					return false
				}
			}
			return true
		case i == len(words):
			return false
		case want == "*":
			if !modest(words[i].text) {
				return false
			}
		case words[i].text != want:
			return false
		}
	}
	return len(pattern) == len(words)
}

// modest reports whether a word is neither an option nor an assignment, and
// leads nowhere outside.
func modest(text string) bool {
	if text == "" || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "~") || strings.Contains(text, "=") {
		return false
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." || part == "" {
			return false
		}
	}
	return !strings.ContainsAny(text, ":@,") || !strings.Contains(text, "/")
}

// inTree reports whether the shell stands in the governed work tree.
func (j *judge) inTree() bool {
	if j.env.Tree == "" || j.dir == "" || strings.Contains(j.dir+"/", "/../") {
		return false
	}
	dir := filepath.Clean(j.dir)
	for _, top := range [...]string{filepath.Clean(j.env.Dir), filepath.Clean(j.env.Tree)} {
		if dir == top || strings.HasPrefix(dir, top+"/") {
			return j.env.OwnGit != nil && j.env.OwnGit(dir) // it may be a link that leads away
		}
	}
	return false
}

// surveyExports finds what may hand variables on to programs.
func (j *judge) surveyExports(n *syntax.DeclClause) {
	j.exports = j.exports || n.Variant.Value != "local"
}
