package install

import "path/filepath"

// timeout is what every hook entry grants the hook, in seconds. Codex and Grok
// let a call through when it runs out, so it is no deadline to aim at: it
// stands far above the engine's own, which denies in time. It is explicit since
// the defaults differ (600 s with Claude and Codex, 5 s with Grok, too short on
// a busy machine), and short enough that a stopped engine ends one day.
const timeout = 60

// harness is what one coding agent wants.
type harness struct {
	name     string
	launcher string // file name under $SATELLE_HOME/agents/bin
	starts   string // what the launcher executes
	events   []event
	settings func(*job) string // the file that takes the hooks
	// strict settings hold no keys but these on the top level: the harness
	// drops the whole file otherwise, and with it the hooks.
	strict []string
	// onFailure marks that the harness lets a hook say that its own failure
	// blocks.
	onFailure bool
	// extra edits what the harness needs besides its hooks; trust records that
	// the person trusts them; untrust takes that back.
	extra, unextra func(*job, *plan) error
	trust, untrust func(*job, *plan) error
	// trusted reports whether the harness will run the hooks in this document.
	trusted func(j *job, settings []byte) (bool, error)
	// off names the file and key by which the harness was told to run no hooks
	// at all, or "".
	off func(*job) (string, error)
	// untrusted is what to tell the person if trusted says no.
	untrusted string
}

// event is one of the harness's hook events.
type event struct {
	name string
	// guard marks an event whose answer can block; there the hook's failure
	// must block too.
	guard bool
}

var harnesses = []harness{
	{
		name:     "claude",
		launcher: "satelle-claude",
		starts:   `claude "$@"`,
		events: []event{
			{"PreToolUse", true},
			{"PreSkillShellCommand", true}, // the shell preamble of a skill fires no PreToolUse
			{"ConfigChange", true},         // settings are read again within a session
			{"PostToolUse", false},
			{"SessionStart", false},
		},
		settings:  func(j *job) string { return filepath.Join(j.base(j.Home), ".claude", "settings.json") },
		onFailure: true,
		trusted:   func(*job, []byte) (bool, error) { return true, nil },
		off:       claudeOff,
	},
	{
		name:      "grok",
		launcher:  "satelle-grok",
		starts:    "grok agent stdio",
		events:    []event{{"PreToolUse", true}, {"PostToolUse", false}, {"SessionStart", false}},
		settings:  func(j *job) string { return filepath.Join(j.base(j.Home), ".grok", "hooks", "satelle.json") },
		trust:     grokTrust,
		untrust:   grokUntrust,
		trusted:   grokTrusted,
		untrusted: "Grok skips the hooks of a folder that it does not trust, without a word: run `satelle agents install grok --trust`, or start `grok` here once and trust the folder",
	},
	{
		name:      "codex",
		launcher:  "satelle-codex",
		starts:    "npx -y @agentclientprotocol/codex-acp",
		events:    codexEvents,
		settings:  codexSettings,
		strict:    []string{"hooks", "description"},
		extra:     codexNoTTY,
		unextra:   codexTTY,
		trust:     codexTrust,
		untrust:   codexUntrust,
		trusted:   codexTrusted,
		off:       codexOff,
		untrusted: "Codex skips hooks that were not reviewed, without a word: run `satelle agents install codex --trust`, or start `codex` here once, trust the project and review the hooks with /hooks",
	},
}

// base is the folder that holds the harness's own one: the work tree's root, or
// home.
func (j *job) base(home string) string {
	if j.Scope == User {
		return home
	}
	return j.root
}
