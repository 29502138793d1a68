package agents

import (
	"regexp"
	"slices"
	"strings"

	"satelle/internal/fault"
)

// Values fill the placeholders of a command.
type Values struct {
	System, Payload string
}

// The placeholders of a command, without their braces.
const (
	holdsSystem   = "system"
	holdsPayload  = "payload"
	holdsTools    = "tools"
	holdsModel    = "model"
	holdsEffort   = "effort"
	holdsSettings = "settings"
)

// placeholders are those that a command may hold.
var placeholders = []string{holdsSystem, holdsTools, holdsModel, holdsSettings, holdsPayload, holdsEffort}

// placeholder matches one, known or not.
var placeholder = regexp.MustCompile(`\{([A-Za-z_]+)\}`)

// Argv fills the binding's command token by token: each placeholder stays
// within its token whatever its value holds, and what a value holds is not
// filled again. A token whose tools, model, effort or settings are empty is
// left out, and with it the flag before it. (Seed 001, "The dispatch contract"
// and "Reasoning effort".)
func (b Binding) Argv(v Values) []string {
	values := map[string]string{
		holdsSystem: v.System, holdsPayload: v.Payload, holdsTools: b.Tools, holdsModel: b.Model,
		holdsEffort: b.Effort, holdsSettings: b.Settings,
	}
	// A command with a quote that nothing ends is no valid binding.
	tokens, _ := split(b.Command)
	var argv []string
	flag := false // the last of argv is a flag that waits for its value
	for i, token := range tokens {
		dropped := false
		filled := placeholder.ReplaceAllStringFunc(token, func(held string) string {
			name := held[1 : len(held)-1]
			value, known := values[name]
			switch {
			case !known:
				return held
			case value == "" && name != holdsSystem && name != holdsPayload:
				dropped = true
			}
			return value
		})
		option := strings.HasPrefix(token, "-")
		switch {
		case !dropped:
			argv = append(argv, filled)
			flag = option && i > 0 && !strings.Contains(token, "=") && !placeholder.MatchString(token)
		// `--model={model}` is its own flag; the one before it is another.
		case flag && !option:
			argv, flag = argv[:len(argv)-1], false
		}
	}
	return argv
}

// split splits a command at its blanks. A token that begins with a quote ends
// with the next of its kind and loses both; every other quote stands for
// itself, so that `model_reasoning_effort="{effort}"` stays TOML. Nothing is an
// escape, and no shell is asked.
func split(command string) ([]string, error) {
	var tokens []string
	for rest := strings.Trim(command, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		quote := rest[0]
		if quote != '"' && quote != '\'' {
			end := strings.IndexAny(rest, blanks)
			if end < 0 {
				end = len(rest)
			}
			tokens, rest = append(tokens, rest[:end]), rest[end:]
			continue
		}
		end := strings.IndexByte(rest[1:], quote) + 1
		if end == 0 {
			return append(tokens, rest), fault.New(fault.Refused, "nothing ends the quote before %.40q", rest[1:])
		}
		token, after := rest[1:end], rest[end+1:]
		if after != "" && !strings.ContainsRune(blanks, rune(after[0])) {
			return append(tokens, rest), fault.New(fault.Refused, "after %.40q a blank has to follow", rest[:end+1])
		}
		tokens, rest = append(tokens, token), after
	}
	return tokens, nil
}

const blanks = " \t\r\n"

// foreign returns what stands in the command like a placeholder and is none.
func (b Binding) foreign() string {
	for _, m := range placeholder.FindAllStringSubmatch(b.Command, -1) {
		if !slices.Contains(placeholders, m[1]) {
			return m[1]
		}
	}
	return ""
}
