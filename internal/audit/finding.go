package audit

import (
	"fmt"
	"slices"

	"satelle/internal/fault"
)

// Levels of findings, as SARIF names them.
const (
	Error   = "error"   // the commit or the log cannot be vouched for
	Warning = "warning" // somebody should look
	Note    = "note"    // how it is vouched for, where that is not plain
)

// A Rule is a kind of finding.
type Rule struct {
	ID    string
	Level string // unless a finding says otherwise
	What  string
	Mend  string
}

// Rules are all kinds of findings, in the order of their weight.
var Rules = []Rule{
	{"log-broken", Error, "A published log does not hold in itself.", "Run satelle ledger verify in the clone that published it, and publish it anew."},
	{"log-key", Error, "A published log is not of the key that the trusted side names.", "Compare .satelle/logs of the base branch with satelle ledger checkpoint in the clone."},
	{"log-rewritten", Error, "A published log is not the one that commits of the trusted side speak of.", "Keep both checkpoints as evidence, and see docs/threat-model.md."},
	{"log-truncated", Error, "A published log is shorter than commits of the trusted side say.", "Publish the log anew from its clone: git push."},
	{"log-newer", Error, "A published log was written by a newer satelle.", "Audit with a newer satelle."},
	{"forged-trailer", Error, "A trailer has not the form that satelle writes.", "Commit again in a clone with satelle's git hooks."},
	{"unknown-origin", Error, "A trailer names a log that the trusted side has no key of.", "Merge the clone's .satelle/logs/*.pub first, reviewed by a person."},
	{"log-missing", Error, "A trailer names a log that is not published here.", "git fetch origin '+refs/satelle/logs/*:refs/satelle/logs/*' brings what is published; git push from the clone of the log publishes it."},
	{"forged-root", Error, "A trailer's root is not the log's at that size.", "Commit again in a clone with satelle's git hooks."},
	{"forged-record", Error, "A trailer points to a record that is of no commit.", "Commit again in a clone with satelle's git hooks."},
	{"forged-story", Error, "A trailer names another story than its record.", "Commit again in a clone with satelle's git hooks."},
	{"forged-tree", Error, "A trailer's record is of another commit.", "Commit again in a clone with satelle's git hooks."},
	{"stale", Error, "A trailer is newer than the published log.", "Publish the log from its clone: git push."},
	{"ungoverned", Error, "A commit has no trailers, and no log knows it.", "Install the hooks with satelle agents install git, and commit again."},
	{"ungoverned-merge", Error, "A merge holds what neither side had, and no log knows it.", "Merge again in a clone with satelle's git hooks."},
	{"no-seat", Error, "A commit was made while its story did not hold the seat.", "Take the seat with satelle story start, and commit again."},
	{"out-of-scope", Error, "A commit changes paths outside of its story's scopes.", "Move those changes to a commit of another story."},
	{"substrate", Error, "A commit changes governance without a story that a person approved for it.", "Make the change in a story of the category substrate."},
	{"new-log-key", Warning, "A log is vouched for only by a key that comes with the audited commits.", "A person reviews the new file in .satelle/logs."},
	{"story-open", Warning, "A story with commits is not done.", "Move it on with satelle story set ID --next, and push."},
	{"story-cancelled", Warning, "A story with commits was cancelled.", "Look whether the commits should stay."},
	{"adopted", Warning, "A commit may hold work that was done before its story.", "A person reviews it."},
	{"revert", Warning, "A commit exactly undoes another, and no log knows it.", "A person reviews it."},
	{"person", Note, "A person committed without a story.", ""},
	{"exempt", Note, "The author is exempt by [audit] of the trusted side.", ""},
	{"rewritten", Note, "A commit was made anew out of another one.", ""},
	{"moved", Note, "A commit carries recorded content or a recorded patch to another place.", ""},
	{"no-trailer", Note, "A commit bears no trailers, but a log knows it.", ""},
	{"empty", Note, "A commit changes nothing.", ""},
	{"log-unknown", Note, "A log is published that nobody trusts; it was not used.", ""},
}

// integrity lists the rules under which a log cannot be believed.
var integrity = []string{"log-broken", "log-key", "log-rewritten", "log-truncated"}

func rule(id string) Rule {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })
	return Rules[i]
}

// A Finding is one thing to say of a commit, a story or a log.
type Finding struct {
	Level   string  `json:"level"`
	Rule    string  `json:"rule"`
	Commit  string  `json:"commit,omitempty"`
	Subject string  `json:"subject,omitempty"`
	Story   string  `json:"story,omitempty"`
	Origin  string  `json:"origin,omitempty"`
	Record  *uint64 `json:"record,omitempty"`
	Message string  `json:"message"`
	Mend    string  `json:"mend,omitempty"`
	// Path is one that the finding is about, for readers that want a place.
	Path string `json:"path,omitempty"`
}

func found(id, format string, args ...any) Finding {
	r := rule(id)
	return Finding{Level: r.Level, Rule: id, Message: fmt.Sprintf(format, args...), Mend: r.Mend}
}

func (f Finding) of(c *Commit) Finding {
	f.Commit, f.Subject = c.Hash, c.Subject()
	if f.Path == "" && len(c.Paths) > 0 {
		f.Path = c.Paths[0]
	}
	return f
}

func (f Finding) at(p *prepared) Finding {
	seq := p.seq
	f.Origin, f.Record, f.Story = p.log.Origin, &seq, p.story
	return f
}

// A Report is what an audit found.
type Report struct {
	// Base is the commit whose side is trusted, "" if there is none; Head the
	// last commit.
	Base string `json:"base,omitempty"`
	Head string `json:"head"`
	// Commits counts those that were looked at, Bound those that a record
	// vouches for.
	Commits  int       `json:"commits"`
	Bound    int       `json:"bound"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	Notes    int       `json:"notes"`
	Logs     []LogSeen `json:"logs"`
	Findings []Finding `json:"-"`
	// All are the commits that were looked at, oldest first.
	All []Commit `json:"-"`
}

// LogSeen is a log that was looked at.
type LogSeen struct {
	Origin string `json:"origin"`
	Size   uint64 `json:"size"`
	Holds  bool   `json:"holds"`
}

func (r *Report) add(f Finding) {
	switch f.Level {
	case Error:
		r.Errors++
	case Warning:
		r.Warnings++
	default:
		r.Notes++
	}
	r.Findings = append(r.Findings, f)
}

// Err is the report as an error: of class fault.Integrity where a log does not
// hold, of class fault.Refused where there are other errors, else nil.
func (r *Report) Err() error {
	if r.Errors == 0 {
		return nil
	}
	class := fault.Refused
	if r.loses() {
		class = fault.Integrity
	}
	return fault.New(class, "the audit found %s in %s", Count(r.Errors, "error"), Count(r.Commits, "commit"))
}

// loses reports whether a log does not hold.
func (r *Report) loses() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Contains(integrity, f.Rule) })
}

// Next is the command that leads on where there are errors, "" if none does.
func (r *Report) Next() string {
	if r.loses() {
		return "satelle ledger verify"
	}
	for _, f := range r.Findings {
		if f.Level == Error && f.Commit != "" {
			return "git show --stat " + f.Commit
		}
	}
	return ""
}

// Count writes a number of things.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}
