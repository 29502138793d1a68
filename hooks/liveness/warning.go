package liveness

import "strings"

// maxWarned bounds the findings that a session is told of.
const maxWarned = 3

// Warning says in a line what is broken or open for a session of a harness, ""
// if nothing is.
func (r Report) Warning(harness string) string {
	var lines []string
	mend := ""
	for _, f := range r.Findings {
		if !f.bad() || f.Harness != "" && f.Harness != harness {
			continue
		}
		if mend == "" {
			mend = f.Mend
		}
		if len(lines) < maxWarned {
			lines = append(lines, f.What+".")
		}
	}
	if mend == "" {
		return ""
	}
	return "It mends the first of it: " + mend + " . " + strings.Join(lines, " ") + " All of it: satelle doctor"
}
