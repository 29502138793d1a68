package dialect

import "strings"

// Deny and Allow say what the installed command answers on a machine where
// satelle is not installed at all.
const (
	Deny  = "deny"
	Allow = "allow"
)

// The command is one line for every harness and machine. In its parts:
//
//   - sh -c '…': Codex runs hooks under the user's login shell.
//   - Every variable has a modifier: Grok skips a command with a bare $name
//     that it can't resolve, without a word.
//   - The engine is a child and not exec'ed: a file that the kernel refuses or
//     that dies (truncated, of another architecture, on a noexec mount) then
//     still leads on. `[ -s … ]` comes first because a shell takes an empty
//     file for a script that succeeds.
//   - satelle-hook.sh is sourced, which costs no process, and leaves the shell
//     when it has answered; an empty one falls through.
//   - What remains is a constant that all three harnesses take for a denial.
//     Where it can't be written, exit code 2 with a reason on standard error is
//     one, too (Claude, Codex; seed 001, "PreToolUse deny channels").
const (
	commandHead = `sh -c 'b="${SATELLE_HOME:-${HOME:-}/.satelle}/bin"; ` +
		`[ -s "${b:-}/satelle-hook" ] && "${b:-}/satelle-hook" && exit 0; ` +
		`[ -s "${b:-}/satelle-hook.sh" ] && . "${b:-}/satelle-hook.sh"; `
	commandAllow = `[ -d "${b:-}" ] || exit 0; `
	commandDeny  = `echo "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",` +
		`\"permissionDecisionReason\":\"` + uninstalledReason + `\"}}" || { echo "` + unwrittenReason + `" >&2; exit 2; }'`

	// uninstalledReason holds no character that means anything to a shell or
	// to JSON, and fits in the 256 characters that Grok passes on.
	uninstalledReason = `satelle governs here but is not installed on this machine, or is broken, so no tool may run. ` +
		`A person mends it: install satelle, then run satelle agents install all.`

	unwrittenReason = `satelle could not write its answer, so no tool may run.`
)

// Command is the hook command that is written into a harness's settings.
// uninstalled is what it answers where satelle is not installed at all; any
// value but Allow means Deny.
func Command(uninstalled string) string {
	if uninstalled == Allow {
		return commandHead + commandAllow + commandDeny
	}
	return commandHead + commandDeny
}

// IsOurs reports whether a command found in a harness's settings was written
// by satelle. Only then may it be changed or removed.
func IsOurs(command string) bool {
	command = strings.TrimSpace(command)
	return command == Command(Deny) || command == Command(Allow)
}
