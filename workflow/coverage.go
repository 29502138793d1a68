package workflow

import (
	"regexp"
	"strconv"
	"strings"

	"satelle/workflow/route"
)

// What names a criterion: a heading anywhere, a list item at its start, behind a
// check box and marks of emphasis. (Decision Q43.)
var (
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]|$)`)
	underline = regexp.MustCompile(`^ {0,3}(?:=+|-+)[ \t]*$`)
	listItem  = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?[*_~"'(\[]*(AC\d+)`)
	anyItem   = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
	criterion = regexp.MustCompile(`AC\d+`)
)

// uncovered lists the criteria from 1 to n that a Markdown text does not name
// in a heading or at the start of a list item, outside of fenced blocks.
func uncovered(text string, n int) []int {
	named := map[string]bool{}
	word := func(line string, from, to int) {
		if !wordByte(line, from-1) && !wordByte(line, to) {
			named[line[from:to]] = true
		}
	}
	all := func(line string) {
		for _, at := range criterion.FindAllStringIndex(line, -1) {
			word(line, at[0], at[1])
		}
	}
	before := ""
	for line := range route.Unfenced(text) {
		switch at := listItem.FindStringSubmatchIndex(line); {
		case at != nil:
			word(line, at[2], at[3])
		case heading.MatchString(line):
			all(line)
		case underline.MatchString(line) && strings.TrimSpace(before) != "" && !anyItem.MatchString(before):
			all(before)
		}
		before = line
	}
	var out []int
	for i := 1; i <= n; i++ {
		if !named["AC"+strconv.Itoa(i)] {
			out = append(out, i)
		}
	}
	return out
}

// wordByte reports whether the byte at i belongs to a word; every byte of a
// letter beyond ASCII does.
func wordByte(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
