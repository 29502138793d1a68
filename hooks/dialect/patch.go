package dialect

import (
	"errors"
	"strings"
)

// ErrPatch means that a patch body names no file in a form that is known.
var ErrPatch = errors.New("the patch names no file that it would change")

// PatchTargets lists every file that a patch in Codex's format adds, updates,
// deletes or moves, in order and each once. It looks for the headers wherever
// they stand, indented ones too: a line of content that looks like a header
// adds a target too many, an overlooked header would be one too few.
func PatchTargets(body string) ([]string, error) {
	var targets []string
	seen := map[string]bool{}
	for body != "" {
		var line string
		line, body, _ = strings.Cut(body, "\n")
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, header := range [...]string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
			path, ok := strings.CutPrefix(line, header)
			if !ok {
				continue
			}
			if path = strings.TrimSpace(path); path == "" {
				return nil, ErrPatch
			}
			if !seen[path] {
				seen[path] = true
				targets = append(targets, path)
			}
		}
	}
	if len(targets) == 0 {
		return nil, ErrPatch
	}
	return targets, nil
}
