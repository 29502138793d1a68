package liveness

import (
	"os"
	"os/user"
	"strings"
)

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
