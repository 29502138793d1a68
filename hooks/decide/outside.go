package decide

import (
	"strings"

	"satelle/internal/place"
)

// harnessOwn lists what the harnesses keep for themselves below a home: plans,
// memory, and isolated work trees, which are governed as what they are.
var harnessOwn = [...]string{
	".claude/plans", ".claude/projects", ".claude/todos",
	".codex/memories", ".codex/worktrees",
	".grok/plans", ".grok/memory", ".grok/memories", ".grok/worktrees",
	".cursor/worktrees", ".cursor/plans",
}

// outside says what an ungoverned real path is.
func outside(real, userHome string, temps []string) Outside {
	for _, dir := range temps {
		temp, err := place.Resolve(dir)
		if err == nil && temp != "/" && within(real, temp) && real != temp {
			return Temporary
		}
	}
	for _, own := range harnessOwn {
		if userHome != "" && within(real, userHome+"/"+own) {
			return HarnessOwn
		}
	}
	return Elsewhere
}

// worktreeFolders are where harnesses create work trees: one there inherits
// the seat of the work tree that it came from.
var worktreeFolders = [...]string{"/.claude/worktrees/", "/.codex/worktrees/", "/.grok/worktrees/", "/.cursor/worktrees/", "/.opencode/worktrees/"}

// parentTree returns the folder that a harness's work tree came from, as far
// as its path says: the one around, for those below a home the home.
func parentTree(workTree string) (folder string, ok bool) {
	for _, dir := range worktreeFolders {
		if i := strings.LastIndex(workTree+"/", dir); i >= 0 {
			return workTree[:i], true
		}
	}
	return "", false
}
