package decide

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"satelle/hooks/dialect"
	"satelle/internal/place"
	"satelle/ledger/seatread"
)

// speaker words the denials. In each the command that leads on comes first,
// since Grok passes on 256 characters; whatever comes from a payload or a
// story is quoted and clipped.
type speaker struct {
	call  dialect.Call
	facts Facts
}

// Bounds of what a reason quotes, in bytes.
const (
	maxQuote  = 120
	maxReason = 1500
)

func deny(rule string, parts ...string) Decision {
	reason := strings.Join(parts, "")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	return Decision{Deny: true, Rule: rule, Mode: seatread.ModeEnforce, Reason: reason}
}

// because says of a command which part of it counts as changing files and by
// which rule, and how to contradict; of a tool that nobody knows, how it becomes
// known.
func (s speaker) because() string {
	if _, known := toolOf(s.call.Tool); !known {
		return " It is not known to only read; if it does, a person names it in [gate] reader_tools of .satelle/satelle.toml (" + s.program() + " help hooks)."
	}
	e := s.facts.Act.Effect
	if s.facts.Act.Kind != Command || e.Rule == "" {
		return ""
	}
	why := " It counts as changing files by " + quoted(e.Why) + ": rule " + e.Rule + " (" + s.program() + " help hooks " + e.Rule + ")."
	if s.facts.Who != NoWorker {
		return why // whose appeal would be refused
	}
	return why + " If that is wrong: " + s.program() + ` appeal "WHY"`
}

// seatRule is the kind of rule by which the call needs a seat.
func (s speaker) seatRule() string {
	switch s.facts.Act.Kind {
	case Edits:
		return seatread.RuleEdit
	case Command:
		return seatread.RuleCommand
	}
	return seatread.RuleTool
}

// act names the tool and its target.
func (s speaker) act(target string) string {
	text := "satelle denied " + quoted(s.call.Tool)
	if target != "" {
		text += " of " + quoted(target)
	}
	return text
}

func (s speaker) program() string {
	if s.facts.Program == "" {
		return "satelle"
	}
	return s.facts.Program
}

// in is how satelle is called for a spot: from the work tree that it lies in,
// which need not be the one where the session works.
func (s speaker) in(t Spot) string {
	if !s.elsewhere(t) {
		return s.program()
	}
	return "cd " + shellWord(t.Tree) + " && " + s.program()
}

// elsewhere reports whether a spot lies in another work tree than the session.
func (s speaker) elsewhere(t Spot) bool {
	return t.Tree != "" && (t.Tree != s.facts.Here.Tree || s.facts.Here.Away)
}

// tree names the work tree of a spot.
func (s speaker) tree(t Spot) string {
	if s.elsewhere(t) {
		return "another work tree, " + quoted(t.Tree)
	}
	return "this work tree"
}

func (s speaker) start(t Spot) string {
	return s.in(t) + ` story start --title "WHAT" --ac "WHEN IT IS DONE"`
}

func (s speaker) free(t Spot) Decision {
	lead, other := s.start(t), ""
	if len(t.Row.Open) > 0 {
		open := t.Row.Open[0]
		lead = s.in(t) + " story set " + plain(open.Story) + " --status " + plain(open.Next)
		other = " That is story " + quoted(open.Title) + "; for other work run: " + s.start(t)
	}
	return deny(s.seatRule(), "To go on run: ", lead, " ; then repeat the call. ", s.act(s.target(t)), ": no story holds the seat of ", s.tree(t), ".", other, s.because())
}

func (s speaker) suspended(t Spot) Decision {
	return deny(s.seatRule(), "To go on run: ", s.in(t), " story join ", plain(t.Seat.Story), " ; then repeat the call. ", s.act(s.target(t)),
		": story ", plain(t.Seat.Story), " (", quoted(t.Seat.Title), ") holds the seat of ", s.tree(t), ", but was idle and is suspended.", s.because())
}

func (s speaker) lent(t Spot) Decision {
	return deny(s.seatRule(), "To follow it run: ", s.in(t), " story wait ", plain(t.Seat.Story), " . ", s.act(s.target(t)),
		": the seat of ", s.tree(t), " is lent to the agent that performs step ", quoted(t.Seat.Step), " of story ", plain(t.Seat.Story), " (", quoted(t.Seat.Title), ") until that transition ends.")
}

func (s speaker) scope(t Spot) Decision {
	scopes := make([]string, 0, len(t.Seat.Paths))
	for _, p := range t.Seat.Paths {
		scopes = append(scopes, quoted(p))
	}
	list := strings.Join(scopes, ", ")
	if len(list) > 3*maxQuote {
		list = strings.ToValidUTF8(list[:3*maxQuote], "") + "…"
	}
	return deny(seatread.RuleScope, "Story ", plain(t.Seat.Story), " may change only ", list, ". ", s.act(t.Path), ": it lies outside of these path scopes. To widen them see: ",
		s.program(), " story edit --help")
}

// protected refuses a change of what no story opens, or only one of the
// category substrate.
func (s speaker) protected(what, target string, t Spot) Decision {
	if what == substrate {
		return deny(ruleProtected, "To change it run: ", s.in(t), ` story create --title "WHAT" --category substrate --ac "WHEN IT IS DONE" ; then a person runs: `,
			s.program(), " approve ID ; then run: ", s.program(), " story set ID --next . ", s.act(target), ": ", what, " of ", s.tree(t), " is protected; a story that a person approved opens it.")
	}
	return deny(ruleProtected, "No story opens this path; a person changes it outside of a hooked session. ", s.act(target), ": ", what, " is protected.")
}

func (s speaker) bypass() Decision {
	return deny(ruleProtected, "Run it without ", quoted(s.facts.Act.Effect.Bypass), ". ", s.act(s.facts.Act.What), ": git's hooks stay on, whoever holds the seat.")
}

func (s speaker) outside(t Spot) Decision {
	return deny(seatread.RuleOutside, "Write within the work tree, or in a temporary folder. ", s.act(t.Path), ": it lies outside of every governed tree.")
}

func (s speaker) secret() Decision {
	return deny(ruleSecret, s.act(s.facts.Act.What), ": ", s.facts.Secret, " is secret, and nothing in a session needs it.")
}

func (s speaker) person() Decision {
	return deny(rulePerson, "Ask the person to run it in a terminal of their own. ", s.act(s.facts.Act.What), ": satelle ", quoted(s.facts.Verb), " is a person's.")
}

func (s speaker) foreign() Decision {
	return deny(ruleForeign, "Call it as a plain command by its full path: ", s.program(), " . ", s.act(s.facts.Act.What), ": ", quoted(s.facts.Foreign),
		" is not, or can't be known to be, the installed satelle.")
}

func (s speaker) halted(why string) Decision {
	return deny(ruleHalt, "Everything is halted until a person runs: satelle resume . ", s.act(s.facts.Act.What), ": ", quoted(why), ".")
}

func (s speaker) noLedger(t Spot) Decision {
	if t.Nested {
		return deny(ruleState, "A person sets it up, or takes its .satelle away: ", s.in(t), " init . ", s.act(s.target(t)),
			": this folder claims to be governed on its own within a governed place.")
	}
	return deny(ruleState, "To go on run: ", s.in(t), " init ; then repeat the call. ", s.act(s.target(t)), ": this repository is governed by satelle, but this machine keeps no ledger for it yet.")
}

func (s speaker) noRow(t Spot) Decision {
	return deny(ruleState, "To see what is wrong run: ", s.in(t), " doctor . ", s.act(s.target(t)), ": satelle can't read whether a story holds the seat (", rowProblem(t.RowErr), "). Reading goes on.")
}

func (s speaker) noRoot(t Spot) Decision {
	return deny(ruleState, "A person checks out a commit that has .satelle/satelle.toml, or restores it. ", s.act(s.target(t)),
		": this repository is registered with satelle, but this work tree lacks .satelle.")
}

func (s speaker) unknownPlace() Decision {
	return deny(ruleState, "To see what is wrong run: ", s.program(), " doctor . ", s.act(s.facts.Act.What), ": satelle can't tell whether it governs here: ", placeProblem(s.facts.Err), ". Reading goes on.")
}

// placeProblem names why a place could not be told.
func placeProblem(err error) string {
	if errors.Is(err, place.ErrForged) {
		return place.ErrForged.Error() // without the path, which could push it out of sight
	}
	return quoted(err.Error())
}

// target is what a reason names: for a command the command, else the file.
func (s speaker) target(t Spot) string {
	if s.facts.Act.Kind == Edits && t.Path != "" {
		return t.Path
	}
	return s.facts.Act.What
}

// shellWord is a path as a word of a shell command.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// quoted makes foreign text safe to read: one line, no control characters, no
// direction marks, bounded.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if b.Len() > maxQuote {
			b.WriteString("…")
			break
		}
		switch {
		case r >= ' ' && r < 0x7f && r != '"':
			b.WriteRune(r)
		case unsafeRune(r):
			b.WriteByte(' ')
		case r == '"':
			b.WriteByte('\'')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unsafeRune tells what could end a line, speak to a terminal or turn the
// reading direction.
func unsafeRune(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// plain keeps what an id or a status may be made of.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
	return s[:min(len(s), 64)]
}
