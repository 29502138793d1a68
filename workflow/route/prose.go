package route

import (
	"iter"
	"strings"
)

// Unfenced yields the lines of a Markdown text that stand outside of fenced
// blocks, without their ends. A block that does not end hides the rest, as it
// does for a reader. One in a list item may be indented as far as it likes.
func Unfenced(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var block fence
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			bare := strings.TrimLeft(line, " \t>")
			if block.mark == 0 {
				bare = strings.TrimLeft(bare, " \t>-*+") // it may begin an item
			}
			if _, begins := fenceOf(bare); begins || block.mark != 0 {
				line = bare
			}
			if !block.holds(line) && !yield(line) {
				return
			}
		}
	}
}
