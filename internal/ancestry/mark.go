package ancestry

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
)

// Mark is the name that processes bear which start agents under a home, and the
// supervisors of these agents: 15 bytes, as many as Linux keeps. Registrations
// are files, which whoever runs as the same user can delete; a process's name is
// its own to change.
func Mark(home string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(home))
	word := strconv.FormatUint(uint64(h.Sum32()), 36) // at most 7
	return "satelle:" + strings.Repeat("0", 7-len(word)) + word
}

// Marked reports whether this process runs below one that bears the mark of a
// home. Linux only.
func Marked(home string) (bool, error) {
	mark := Mark(home)
	pid, err := parent()
	for depth := 0; err == nil && pid > 0; depth++ {
		if depth == maxDepth {
			return false, errDepth
		}
		var p process
		if p, err = lookup(pid); err == nil && p.comm == mark {
			return true, nil
		}
		pid = p.parent
	}
	return false, err
}

var errDepth = errors.New("too many ancestors")
