package shell

import (
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
)

// Limits come before parsing. A text beyond them counts as changing files; one
// that a person or an agent writes to read something stays far below.
const (
	maxText     = 160 << 10 // all of it, long words counted as longWord
	maxCode     = 32 << 10  // outside of here-documents, the same
	maxCommands = 1024      // what separates commands, outside of here-documents
	maxOpening  = 1024      // brackets and keywords that can nest
	maxInDocs   = 16 << 10  // brackets within here-documents
	maxTexts    = 4         // sh -c within sh -c
	maxCalls    = 8         // functions that call functions
	maxWords    = 1024      // words that may name a file, each of which is looked up
	maxSteps    = 4 << 10   // commands and kilobytes of text that are looked at, one more than once included

	// Of a longer word only the beginning is looked at: no file has such a name.
	longWord = 4 << 10
)

// oversized says by which rule a text must not be parsed, and why, or "".
func oversized(text string) (rule, why string) {
	if strings.IndexByte(text, 0) >= 0 {
		return ruleUnparsable, "it holds a NUL byte"
	}
	if len(text) > maxText {
		return ruleTooLong, "it is too long to be judged"
	}
	m := measure(text)
	switch {
	case m.code > maxCode || m.commands > maxCommands:
		return ruleTooLong, "it is too long to be judged"
	case m.opening > maxOpening || m.inDocs > maxInDocs:
		return ruleTooDeep, "it is nested too deeply to be judged"
	}
	return "", ""
}

// shortened replaces what is too long in words of letters and digits by a sum
// of it, which no text can foresee: equal words stay equal, and others differ.
func shortened(text string) string {
	if len(text) <= longWord {
		return text
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && isWordByte[text[i]] {
			i++
		}
		if i-from > longWord {
			b.WriteString(text[done : from+longWord/2])
			b.WriteString(strconv.FormatUint(maphash.String(seed(), text[from:i]), 36))
			done = i
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

var seed = sync.OnceValue(maphash.MakeSeed)

// size is what a text measures.
type size struct{ code, commands, opening, inDocs int }

// measure counts the bytes outside of here-documents and all that can nest. It
// knows no quotes, so that no text can nest deeper than it counts: what looks
// like a bracket is one. What looks like a here-document counts as one, too; a
// text that only feigns it is held by the second limit, which leaves room for
// documents full of code and is still well within a stack.
func measure(text string) (m size) {
	var delims []string
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		commands, opening := weigh(line)
		if len(delims) > 0 {
			m.inDocs += opening
			if strings.TrimLeft(line, "\t") == delims[0] {
				delims = delims[1:]
			}
			continue
		}
		m.code += len(line) + 1
		m.commands += commands + 1
		m.opening += opening
		delims = heredocs(line)
	}
	return m
}

// weigh counts what separates commands in a line, and what can nest.
func weigh(line string) (commands, opening int) {
	for i := 0; i < len(line); {
		from := i
		for i < len(line) && isWordByte[line[i]] {
			i++
		}
		if n := i - from; n > 0 {
			if n <= len("function") && (from == 0 || strings.IndexByte(before, line[from-1]) >= 0) && nests(line[from:i]) {
				opening++
			}
			continue
		}
		switch line[i] {
		case '(', '{', '[', '`', '!':
			opening++
		case ';', '&', '|':
			if i == 0 || line[i-1] != line[i] {
				commands++
			}
		}
		i++
	}
	return commands, opening
}

// isWordByte tells letters and digits.
var isWordByte = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true, 'k': true, 'l': true, 'm': true,
	'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'_': true,
}

// before are the signs after which a keyword can stand.
const before = " \t;&|({)}"

// nests reports whether a word begins what can nest.
func nests(word string) bool {
	switch word {
	case "if", "while", "until", "for", "case", "select", "function", "coproc", "time":
		return true
	}
	return false
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
