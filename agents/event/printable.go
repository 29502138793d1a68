package event

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Printable keeps foreign text from speaking to the terminal: control
// characters other than line breaks and tabs, and characters that hide or turn
// around what stands beside them, are shown and not sent. All foreign text that
// satelle shows goes through it.
func Printable(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, unprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			fmt.Fprintf(&b, escape(r), r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// InLine is [Printable] for what shares a line or a column with others, so
// that no text can pass for a line of ours.
func InLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Printable(s))
}

// escape is how a character is shown: as Go, JSON and most shells write it.
func escape(r rune) string {
	switch {
	case r < 0x100:
		return `\x%02x`
	case r < 0x10000:
		return `\u%04x`
	}
	return `\U%08x`
}

// unprintable are controls, separators of lines and all format characters:
// those that set the direction of text, and those of no width.
func unprintable(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf))
}

var sequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x{9d})[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)
})

// uncoloured is s without the sequences that colour a terminal or give it a
// title. A log has no use for them, and a secret may stand right behind one.
func uncoloured(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d") {
		return s
	}
	return sequences().ReplaceAllString(s, "")
}
