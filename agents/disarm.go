package agents

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// disarming are the flags by which a CLI starts without the hooks that govern
// it, or with hooks that nobody has reviewed. Each was tried on the real
// client.
var disarming = map[string][]string{
	claude:   {"--bare", "--safe-mode", "--setting-sources", "--restricted"},
	codex:    {"--dangerously-bypass-hook-trust", "--ignore-user-config"},
	opencode: {"--pure"},
}

// disarmingEnv are variables that do the same; whatever their value, they have
// no place in a binding.
var disarmingEnv = []string{
	"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_PERSONAL_HOOKS_OFF", "GROK_CLAUDE_HOOKS_ENABLED",
	"OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG",
}

// allHooksOff matches Claude's setting in JSON that is written out.
var allHooksOff = regexp.MustCompile(`"disableAllHooks"\s*:\s*true`)

// disarms tells what in the binding turns the hooks of its own agent off, "" for
// nothing that satelle knows of.
func (b Binding) disarms() string {
	for _, key := range slices.Sorted(maps.Keys(b.Env)) {
		if slices.Contains(disarmingEnv, key) {
			return "env " + key
		}
		if allHooksOff.MatchString(b.Env[key]) {
			return "disableAllHooks in env " + key
		}
	}
	name, before, args := b.cli()
	for _, word := range before {
		if key, _, set := strings.Cut(word, "="); set && slices.Contains(disarmingEnv, key) {
			return key
		}
	}
	for _, o := range options(args) {
		if slices.Contains(disarming[name], o.flag) {
			return o.flag
		}
	}
	switch name {
	case claude:
		if slices.ContainsFunc(args, allHooksOff.MatchString) {
			return "disableAllHooks"
		}
	case codex:
		return codexDisarms(args)
	}
	return ""
}

// codexDisarms looks at the features: hooks are one, and without the other
// nothing that is typed into a terminal passes a hook.
func codexDisarms(args []string) string {
	for _, s := range settings(args) {
		switch {
		case slices.Contains([]string{"features.hooks", "features.codex_hooks"}, s.key) && s.value != "true":
			return s.key + "=" + s.value
		case s.key == "features.unified_exec_tty" && s.value != "false":
			return s.key + "=" + s.value
		case s.key == "features": // a whole table
			return "features=" + s.value
		case s.key == "hooks" || strings.HasPrefix(s.key, "hooks."):
			return s.key
		}
	}
	return ""
}
