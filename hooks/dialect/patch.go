package dialect

import (
	"errors"
	"strings"
)

// ErrPatch means that a patch body names no file in a form that is known.
var ErrPatch = errors.New("the patch names no file that it would change")

// PatchTargets lists every file that a patch in Codex's format adds, updates,
// deletes or moves, in order and each once. It looks for the headers wherever
// they stand, indented ones too, and takes what another reader of the format
// could take for one, or for the end of a line: a line of content that looks
// like a header adds a target too many, an overlooked header would be one too
// few.
func PatchTargets(body string) ([]string, error) {
	var t patchTargets
	for body != "" {
		var line string
		line, body, _ = strings.Cut(body, "\n")
		if err := t.take(line); err != nil {
			return nil, err
		}
		if !strings.ContainsFunc(line, endsLine) {
			continue
		}
		for _, part := range strings.FieldsFunc(line, endsLine) {
			if err := t.take(part); err != nil {
				return nil, err
			}
		}
	}
	if len(t.targets) == 0 {
		return nil, ErrPatch
	}
	return t.targets, nil
}

// endsLine reports whether some reader takes r for the end of a line.
func endsLine(r rune) bool {
	switch r {
	case '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

type patchTargets struct {
	targets []string
	seen    map[string]bool
}

// take reads one line.
func (t *patchTargets) take(line string) error {
	line, ok := strings.CutPrefix(strings.TrimSpace(line), "***")
	if !ok {
		return nil
	}
	header, path, ok := strings.Cut(line, ":")
	if !ok {
		return nil
	}
	switch strings.ToLower(strings.Join(strings.Fields(header), " ")) {
	case "add file", "update file", "delete file", "move to", "move file", "rename to", "rename file", "create file":
	default:
		return nil
	}
	if path = strings.TrimSpace(path); path == "" {
		return ErrPatch
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	if !t.seen[path] {
		t.seen[path] = true
		t.targets = append(t.targets, path)
	}
	return nil
}
