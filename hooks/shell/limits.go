package shell

import "strings"

// Limits come before parsing. A text beyond them counts as changing files; one
// that a person or an agent writes to read something stays far below.
const (
	maxText    = 1 << 20  // all of it
	maxCode    = 32 << 10 // outside of here-documents
	maxOpening = 1024     // brackets and keywords that can nest
	maxInDocs  = 16 << 10 // brackets within here-documents
	maxTexts   = 4        // sh -c within sh -c
	maxCalls   = 8        // functions that call functions
)

// oversized says by which rule a text must not be parsed, and why, or "".
func oversized(text string) (rule, why string) {
	if strings.IndexByte(text, 0) >= 0 {
		return ruleUnparsable, "it holds a NUL byte"
	}
	if len(text) > maxText {
		return ruleTooLong, "it is too long to be judged"
	}
	code, opening, inDocs := measure(text)
	switch {
	case code > maxCode:
		return ruleTooLong, "it is too long to be judged"
	case opening > maxOpening || inDocs > maxInDocs:
		return ruleTooDeep, "it is nested too deeply to be judged"
	}
	return "", ""
}

// measure counts the bytes outside of here-documents and all that can nest. It
// knows no quotes, so that no text can nest deeper than it counts: what looks
// like a bracket is one. What looks like a here-document counts as one, too; a
// text that only feigns it is held by the second limit, which leaves room for
// documents full of code and is still well within a stack.
func measure(text string) (code, opening, inDocs int) {
	var delims []string
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if len(delims) > 0 {
			inDocs += openings(line)
			if strings.TrimLeft(line, "\t") == delims[0] {
				delims = delims[1:]
			}
			continue
		}
		code += len(line) + 1
		opening += openings(line)
		delims = heredocs(line)
	}
	return code, opening, inDocs
}

var nesting = [...]string{"if", "while", "until", "for", "case", "select", "function", "coproc", "time", "!"}

func openings(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{', '[', '`':
			n++
		}
	}
	for _, field := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t;&|({", r) }) {
		for _, keyword := range nesting {
			if field == keyword {
				n++
			}
		}
	}
	return n
}

// heredocs returns the delimiters of the here-documents that begin on a line.
func heredocs(line string) []string {
	var delims []string
	for {
		_, after, ok := strings.Cut(line, "<<")
		if !ok {
			return delims
		}
		if strings.HasPrefix(after, "<") { // a here-string
			line = strings.TrimLeft(after, "<")
			continue
		}
		after = strings.TrimLeft(strings.TrimPrefix(after, "-"), " \t")
		end := strings.IndexAny(after, " \t;&|<>()")
		if end < 0 {
			end = len(after)
		}
		if delim := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(after[:end]); delim != "" {
			delims = append(delims, delim)
		}
		line = after[end:]
	}
}
