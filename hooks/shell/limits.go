package shell

import "strings"

// Limits come before parsing. A text beyond them counts as changing files; one
// that a person or an agent writes to read something stays far below.
const (
	maxText    = 512 << 10 // all of it
	maxCode    = 32 << 10  // outside of here-documents, long words counted as maxWord
	maxPlain   = 384 << 10 // outside of here-documents, long words included
	maxWord    = 256       // letters and digits in a row
	maxOpening = 1024      // brackets and keywords that can nest
	maxInDocs  = 16 << 10  // brackets within here-documents
	maxTexts   = 4         // sh -c within sh -c
	maxCalls   = 8         // functions that call functions
	maxWords   = 2048      // words that may name a file, each of which is looked up
	maxSteps   = 16 << 10  // commands and kilobytes of text that are looked at, one more than once included
)

// oversized says by which rule a text must not be parsed, and why, or "".
func oversized(text string) (rule, why string) {
	if strings.IndexByte(text, 0) >= 0 {
		return ruleUnparsable, "it holds a NUL byte"
	}
	if len(text) > maxText {
		return ruleTooLong, "it is too long to be judged"
	}
	code, plain, opening, inDocs := measure(text)
	switch {
	case code > maxCode || plain > maxPlain:
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
func measure(text string) (code, plain, opening, inDocs int) {
	var delims []string
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		weight, n := weigh(line)
		if len(delims) > 0 {
			inDocs += n
			if strings.TrimLeft(line, "\t") == delims[0] {
				delims = delims[1:]
			}
			continue
		}
		plain += len(line) + 1
		code += weight + 1
		opening += n
		delims = heredocs(line)
	}
	return code, plain, opening, inDocs
}

// weigh counts the bytes of a line, of a long word only its beginning, and
// what can nest in it.
func weigh(line string) (weight, opening int) {
	for i := 0; i < len(line); {
		from := i
		for i < len(line) && isWordByte[line[i]] {
			i++
		}
		if n := i - from; n > 0 {
			weight += min(n, maxWord)
			if n <= len("function") && (from == 0 || strings.IndexByte(before, line[from-1]) >= 0) && nests(line[from:i]) {
				opening++
			}
			continue
		}
		switch line[i] {
		case '(', '{', '[', '`', '!':
			opening++
		}
		weight++
		i++
	}
	return weight, opening
}

// isWordByte tells letters and digits.
var isWordByte = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true, 'k': true, 'l': true, 'm': true,
	'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'_': true, '=': true, '+': true,
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
