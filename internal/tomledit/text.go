package tomledit

import (
	"fmt"
	"strings"
)

// dotted writes a path as a TOML key.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, k := range path {
		parts[i] = key(k)
	}
	return strings.Join(parts, ".")
}

func key(k string) string {
	bare := k != ""
	for _, c := range []byte(k) {
		bare = bare && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
	}
	if bare {
		return k
	}
	return Quote(k)
}

// Quote writes s as a TOML basic string.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
