package seatread

import (
	"path"
	"strings"
)

// InScope reports whether a path, relative to the work tree, lies within one
// of the globs of a story. A glob reaches what lies below a folder that it
// matches; ** stands for any number of folders. No globs at all allow
// everything. The hook, the commit and the audit ask this one function.
func InScope(globs []string, rel string) bool {
	if len(globs) == 0 {
		return true
	}
	parts := strings.Split(rel, "/")
	for _, g := range globs {
		if matchParts(strings.Split(strings.Trim(path.Clean("/"+g), "/"), "/"), parts) {
			return true
		}
	}
	return false
}

func matchParts(glob, parts []string) bool {
	for i, g := range glob {
		if g == "**" {
			for skip := 0; skip <= len(parts)-i; skip++ {
				if matchParts(glob[i+1:], parts[i+skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(parts) {
			return false
		}
		if ok, err := path.Match(g, parts[i]); !ok || err != nil {
			return false
		}
	}
	return true
}
