package engine

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"satelle/internal/fault"
)

// Bounds of what a prompt holds of the principles.
const (
	maxPrincipleFiles = 100
	maxPrinciples     = 32 << 10
)

// principles are the texts of `.satelle/principles`, by name, without their
// front matter. What is beyond the bound is named and left out.
func (s substrate) principles() ([]string, error) {
	dir := filepath.Join(s.dir, "principles")
	entries, err := os.ReadDir(dir) // sorted
	if err != nil && !os.IsNotExist(err) {
		return nil, fault.Wrap(err, fault.Refused, "reading the principles")
	}
	if len(entries) > maxPrincipleFiles {
		return nil, fault.New(fault.Refused, ".satelle/principles holds %d files; at most %d are read", len(entries), maxPrincipleFiles)
	}
	var out []string
	size := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".md") || !e.Type().IsRegular() {
			continue
		}
		b, err := readBounded(filepath.Join(dir, e.Name()), maxConfig)
		if err != nil {
			return nil, fault.Wrap(err, fault.Refused, "reading the principles")
		}
		text := strings.TrimSpace(unfronted(string(b)))
		if !utf8.ValidString(text) {
			return nil, fault.New(fault.Refused, ".satelle/principles/%s is no UTF-8 text", e.Name())
		}
		if size += len(text); size > maxPrinciples {
			return append(out, "More principles are in .satelle/principles; read them."), nil
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out, nil
}

// unfronted is a Markdown text without its front matter.
func unfronted(text string) string {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	rest, opened := strings.CutPrefix(text, "---\n")
	if !opened {
		return text
	}
	if _, after, closed := strings.Cut("\n"+rest, "\n---\n"); closed {
		return after
	}
	return text
}
