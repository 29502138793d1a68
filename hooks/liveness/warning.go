package liveness

import (
	"os"
	"os/user"
	"strings"
)

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

// maxPasswd bounds the file of accounts.
const maxPasswd = 4 << 20

// LoginShell is the shell of this account, as the machine's list of accounts
// has it: a harness does not ask $SHELL. Where that can't be told it is
// /bin/sh.
func LoginShell() string {
	u, err := user.Current()
	if err != nil {
		return "/bin/sh"
	}
	doc, err := os.ReadFile("/etc/passwd")
	if err == nil && len(doc) < maxPasswd {
		for line := range strings.Lines(string(doc)) {
			fields := strings.Split(strings.TrimSpace(line), ":")
			if len(fields) == 7 && fields[2] == u.Uid && fields[6] != "" {
				return fields[6]
			}
		}
	}
	if shell := os.Getenv("SHELL"); strings.HasPrefix(shell, "/") {
		return shell // macOS keeps the accounts elsewhere
	}
	return "/bin/sh"
}
