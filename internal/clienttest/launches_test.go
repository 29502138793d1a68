//go:build clients

package clienttest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A launch is a place in which, or a way by which, a harness is started.
type launch struct {
	name  string
	on    *harness // with another way of reading or other tools, if need be
	mode  []string
	world func(t *testing.T) *world
	// alone says that the harness itself refuses what the hook lets pass, so
	// that nothing can be seen with a seat.
	alone bool
	open  string // the known opening, if the hooks are not asked
}

const allowed = "--allowedTools=Read,Bash,Write,Edit,NotebookEdit,Monitor,Agent"

var launches = map[*harness][]launch{
	claude: {
		{name: "at the root, bypassing permissions"},
		{name: "default mode", mode: []string{allowed}},
		{name: "mode acceptEdits", mode: []string{"--permission-mode", "acceptEdits", allowed}},
		{name: "mode dontAsk", mode: []string{"--permission-mode", "dontAsk", allowed}},
		// In these two Claude Code asks a service that is not there.
		{name: "mode auto", on: without(claude, "Agent"), mode: []string{"--permission-mode", "auto", allowed}, alone: true},
		{name: "mode plan", on: without(claude, "Agent"), mode: []string{"--permission-mode", "plan", allowed}, alone: true},
		{name: "in a linked work tree", world: linked("claude")},
		{name: "in a sub-folder, hooks of the user", world: within("claude", "--scope", "user")},
		{name: "with the hooks of all harnesses", world: installed("all", "--trust")},
		{
			name: "in a sub-folder, hooks of the project only", world: within("claude"),
			open: "a session starts in a sub-directory",
		},
		{
			name: "with disableAllHooks in settings.local.json", world: func(t *testing.T) *world {
				w := newWorld(t, "claude")
				w.write(".claude/settings.local.json", `{"disableAllHooks": true}`)
				return w
			},
			open: "disableAllHooks in a nearer settings file, written before the session starts",
		},
		{name: "with --bare", on: only(claude, "Bash"), mode: []string{"--bare", "--dangerously-skip-permissions"}, open: claudeFlags},
		{name: "with --safe-mode", mode: []string{"--safe-mode", "--dangerously-skip-permissions"}, open: claudeFlags},
		{name: "with --setting-sources user", mode: []string{"--setting-sources", "user", "--dangerously-skip-permissions"}, open: claudeFlags},
	},
	codex: {
		{name: "at the root, bypassing approvals and sandbox"},
		{name: "sandbox danger-full-access", mode: []string{"-s", "danger-full-access"}},
		{name: "sandbox workspace-write", mode: []string{"-s", "workspace-write"}},
		{name: "sandbox read-only", mode: []string{"-s", "read-only"}, alone: true},
		{name: "in a linked work tree", world: linked("codex", "--trust")},
		{name: "in a sub-folder", world: within("codex", "--trust")},
		{name: "in a sub-folder, hooks of the user", world: within("codex", "--scope", "user", "--trust")},
		{name: "with the hooks of all harnesses", world: installed("all", "--trust")},
		{name: "where nobody trusted the project and its hooks", world: untrusted, open: "an untrusted project, or a hook whose hash was not reviewed"},
		{name: "with --disable hooks", mode: append([]string{"--disable", "hooks"}, codexYolo...), open: "--disable hooks, or -c features.hooks=false"},
	},
	grok: {
		{name: "at the root, always approving"},
		{name: "with --yolo", mode: []string{"--yolo"}},
		{name: "mode bypassPermissions", mode: []string{"--permission-mode", "bypassPermissions"}},
		// In these Grok ends the turn where it would have to ask.
		{name: "mode default", on: looking(grok), mode: []string{"--permission-mode", "default"}, alone: true},
		{name: "mode acceptEdits", on: looking(grok), mode: []string{"--permission-mode", "acceptEdits"}, alone: true},
		{name: "mode dontAsk", on: looking(grok), mode: []string{"--permission-mode", "dontAsk"}, alone: true},
		{name: "mode plan", on: looking(grok), mode: []string{"--permission-mode", "plan"}, alone: true},
		{name: "mode auto", on: looking(grok), mode: []string{"--permission-mode", "auto"}, alone: true},
		{name: "in a linked work tree", world: linked("grok", "--trust")},
		{name: "in a sub-folder", world: within("grok", "--trust")},
		{name: "in a sub-folder, hooks of the user", world: within("grok", "--scope", "user")},
		{name: "with the hooks of all harnesses", world: installed("all", "--trust")},
		{name: "where nobody trusted the folder", world: installed("grok"), open: "a folder without git, or one that nobody trusts"},
	},
}

const claudeFlags = "--bare, --safe-mode, --restricted or --setting-sources without the scope of the hooks"

// installed makes a world with other arguments of the installation.
func installed(harness string, install ...string) func(*testing.T) *world {
	return func(t *testing.T) *world { return newWorld(t, harness, install...) }
}

// within makes one in which the client starts in a sub-folder.
func within(harness string, install ...string) func(*testing.T) *world {
	return func(t *testing.T) *world {
		w := newWorld(t, harness, install...)
		w.cwd = filepath.Join(w.repo, "sub folder")
		w.write("sub folder/main-old.txt", "old\n")
		return w
	}
}

// linked makes one in which the client starts in a linked work tree.
func linked(harness string, install ...string) func(*testing.T) *world {
	return func(t *testing.T) *world {
		w := newWorld(t, harness, install...)
		tree := filepath.Join(w.dir, "linked tree")
		w.run(nil, "git", "worktree", "add", "-q", "-b", "linked", tree)
		w.repo, w.cwd = tree, tree
		return w
	}
}

// untrusted makes one in which nobody told Codex to trust the hooks.
func untrusted(t *testing.T) *world {
	w := newWorld(t, "codex")
	if err := os.MkdirAll(filepath.Join(w.home, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// without is a harness with fewer ways, only one with a single way, looking one
// that reads by its file tool alone.
func without(h *harness, name string) *harness {
	less := *h
	less.ways = slices.DeleteFunc(slices.Clone(h.ways), func(y way) bool { return y.name == name })
	return &less
}

func only(h *harness, name string) *harness {
	less := *h
	less.ways = slices.DeleteFunc(slices.Clone(h.ways), func(y way) bool { return y.name != name })
	return &less
}

func looking(h *harness) *harness {
	less := *without(h, "spawn_subagent")
	less.reads = h.reads[1:2]
	return &less
}

// tried are the ways that are tried in each launch: the quick ones, and those of
// a sub-agent.
func tried(h *harness, alone bool) []way {
	var some []way
	for _, y := range h.ways {
		if y.quick || y.main && !alone {
			some = append(some, y)
		}
	}
	return some
}

// play runs the session of a launch and notes in the sheet what became of all
// its calls together.
func (s launch) play(t *testing.T, h *harness, into *sheet) {
	on := s.on
	if on == nil {
		on = h
	}
	states := []state{seats[0], {name: seated, set: (*world).takeSeat, runs: true}}
	if s.alone || s.open != "" {
		states = states[:1]
	}
	p := session{on: on, ways: tried(on, s.open != ""), states: states, mode: s.mode, world: s.world}.play(t)
	for n, st := range states {
		var o outcome
		p.spots(n, func(at spot, y way) { o.add(y.name, p.changing(at, y) == hasRun) })
		into.put(t, h, s.name, st.name, o.sum(t, s.name), st.runs, s.open)
	}
}
