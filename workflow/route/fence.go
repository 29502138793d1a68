package route

import "strings"

// fence follows the fenced blocks of Markdown through a file, line by line. Its
// zero value stands outside of any block.
type fence struct {
	mark   byte // ` or ~; 0 outside of a block
	width  int
	indent int
	info   string
}

// holds takes the next line and reports whether it belongs to a block, as its
// content or as one of its two fences.
func (f *fence) holds(text string) bool {
	next, ok := fenceOf(text)
	if f.mark == 0 {
		if ok {
			*f = next
		}
		return ok
	}
	if ok && next.mark == f.mark && next.width >= f.width && next.info == "" {
		*f = fence{}
	}
	return true
}

// content is a line of the block without the indent of its fence.
func (f *fence) content(text string) string {
	for range f.indent {
		text = strings.TrimPrefix(text, " ")
	}
	return text
}

// fenceOf reads a line as a fence: at most three blanks, then three or more of
// the same mark, then what the block is.
func fenceOf(text string) (fence, bool) {
	bare := strings.TrimLeft(text, " ")
	indent := len(text) - len(bare)
	if indent > 3 || len(bare) < 3 || bare[0] != '`' && bare[0] != '~' {
		return fence{}, false
	}
	mark := bare[0]
	info := strings.TrimLeft(bare, string(mark))
	width := len(bare) - len(info)
	if width < 3 || mark == '`' && strings.Contains(info, "`") {
		return fence{}, false
	}
	return fence{mark: mark, width: width, indent: indent, info: strings.TrimSpace(info)}, true
}
