package liveness

import "slices"

// Opening is a way past the hooks that a harness keeps open by its own design.
type Opening struct {
	Harness string `json:"harness"`
	What    string `json:"what"`    // what happens
	Outcome string `json:"outcome"` // what the harness does then
	Narrows string `json:"narrows"` // what makes it less wide
}

// Openings is all that is known to stay open, as it was seen with the real
// harnesses. What gets through there is caught at the git boundary and in CI.
var Openings = []Opening{
	{"claude", "--bare, --safe-mode, --restricted or --setting-sources without the scope of the hooks", "starts without the hooks", "managed settings hold against the first three; whoever starts the agent chooses its flags"},
	{"claude", "a hook prints plain text or unfinished JSON and exits with 0", "the call runs, onFailure or not", "the engine writes one whole object in one write"},
	{"claude", "disableAllHooks in a nearer settings file, written before the session starts", "starts without the hooks", "doctor finds it; within a session ConfigChange keeps it out"},
	{"claude", "a session starts in a sub-directory", "the settings at the root are not read", "satelle agents install claude --scope user"},
	{"codex", "the hook is killed by a signal, or hangs before its first instruction", "the call runs, after its timeout (60 s) where it hangs", "the engine's own deadline of 2 s"},
	{"codex", "the hook exits with another code than 0 and 2, or prints anything beside its one object", "the call runs", "the command falls through to a constant denial"},
	{"codex", "--disable hooks, or -c features.hooks=false", "starts without the hooks", "whoever starts the agent chooses its flags"},
	{"codex", "code mode: JavaScript around the tool calls", "no hook for the outer call; each tool call in it is hooked", "nothing is needed"},
	{"codex", "write_stdin to a terminal that runs already", "no hook", "unified_exec_tty = false, which install writes"},
	{"codex", "an untrusted project, or a hook whose hash was not reviewed", "skips the hooks in silence", "satelle agents install codex --trust; doctor asks Codex"},
	{"grok", "the hook is killed by a signal, or hangs before its first instruction", "the call runs, after its timeout (60 s) where it hangs", "the engine's own deadline of 2 s"},
	{"grok", "the hook exits with another code than 0 and 2 without a decision, or prints anything beside it", "the call runs", "the command falls through to a constant denial"},
	{"grok", "a process that the hook left behind holds its output", "the call runs after the timeout", "the engine starts nothing that outlives its answer"},
	{"grok", "a folder without git, or one that nobody trusts", "skips the project's hooks in silence", "satelle agents install grok --scope user"},
	{"grok", "a session starts", "no answer of a hook reaches the model then", "the welcome comes with the result of the first call"},
	{"git", "commit --no-verify, another core.hooksPath, or a commit made elsewhere", "commits without the hooks", "the agents' hooks deny the first two; satelle audit finds such commits"},
	{"opencode", "--pure, or a plugin that fails to load", "starts without the plugin", "doctor can't ask it"},
}

// openingsOf are those of some harnesses.
func openingsOf(harnesses []string) []Opening {
	out := []Opening{}
	for _, o := range Openings {
		if slices.Contains(harnesses, o.Harness) {
			out = append(out, o)
		}
	}
	return out
}
