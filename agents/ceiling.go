package agents

import (
	"encoding/json"
	"slices"
	"strings"
)

// readOnly is the sandbox in which Codex changes nothing.
const readOnly = "read-only"

// ceiling tells by what the command of a reviewer could write although its role
// is to change nothing, "" for no way that satelle knows of. Where a CLI has no
// such switch, its grant and its permissions are the ceiling. (Seed 001,
// "Sample — Codex exec command transport".)
func (b Binding) ceiling() string {
	name, before, args := b.cli()
	switch name {
	case codex:
		return b.codexCeiling(before, args)
	case opencode:
		return b.opencodeCeiling()
	case claude:
		return opened(args, []string{"Write", "Edit", "NotebookEdit", "Bash"}, "--disallowedTools", "--disallowed-tools")
	case grok:
		return opened(args, []string{"Write", "Edit", "Bash"}, "--deny", "--disallowed-tools")
	}
	return ""
}

// openers are the flags by which Claude and Grok stop asking for permission, and
// openModes the modes that do the same.
var (
	openers   = []string{"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--always-approve", "--yolo"}
	openModes = []string{"acceptEdits", "bypassPermissions", "auto"}
)

// opened tells by what a command asks for no permission, unless it denies the tools
// that write: a denial holds in every mode of either CLI. Nothing behind -- is a
// flag.
func opened(args, writers []string, denials ...string) string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	denied := map[string]bool{}
	for i, arg := range args {
		flag, value, _ := strings.Cut(arg, "=")
		if !slices.Contains(denials, flag) {
			continue
		}
		words := []string{value}
		for j := i + 1; j < len(args) && !strings.HasPrefix(args[j], "-"); j++ {
			words = append(words, args[j])
		}
		for _, tool := range strings.FieldsFunc(strings.Join(words, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
			denied[bare(tool)] = true
		}
	}
	if !slices.ContainsFunc(writers, func(w string) bool { return !denied[w] }) {
		return ""
	}
	by := ""
	for _, o := range options(args) {
		switch value := bare(o.value); {
		case slices.Contains(openers, o.flag):
			by = o.flag + " lets it do everything"
		case o.flag == "--permission-mode" && slices.Contains(openModes, value):
			by = "its permission mode is " + value
		case o.flag == "--settings" && slices.ContainsFunc(openModes, func(m string) bool { return strings.Contains(value, "defaultMode:"+m) }):
			by = "its settings open its permission mode"
		}
	}
	return by
}

// codexCeiling asks for a sandbox that is read-only however the command line
// says it: one word to the contrary is enough, since the last may win. Over ACP
// the client grants what is done, so nothing need be said.
func (b Binding) codexCeiling(before, args []string) string {
	// What stands behind `--` is no option, and so no evidence.
	said := b.Interface == InterfaceACP
	if end := slices.Index(args, "--"); end >= 0 {
		said = said || sandboxed(args[:end])
	} else {
		said = said || sandboxed(args)
	}
	for _, o := range options(args) {
		switch o.flag {
		case "-s", "--sandbox":
			if bare(o.value) != readOnly {
				return "its sandbox is " + o.value
			}
		case "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--full-auto", "--approve-for-me", "--add-dir":
			return o.flag + " opens its sandbox"
		}
	}
	for _, s := range settings(args) {
		switch top, _, _ := strings.Cut(s.key, "."); {
		case s.key == "sandbox_mode" && s.value != readOnly:
			return "it sets sandbox_mode=" + s.value
		case slices.Contains([]string{"sandbox_permissions", "default_permissions", "permissions", "permission_profile"}, top):
			return "it sets " + s.key
		case strings.HasSuffix(s.key, ".sandbox_mode") && s.value != readOnly: // of a profile
			return "it sets " + s.key + "=" + s.value
		}
	}
	for _, word := range before {
		if mode, found := strings.CutPrefix(word, "INITIAL_AGENT_MODE="); found && mode != readOnly {
			return "it starts in the mode " + mode
		}
	}
	if mode, found := b.Env["INITIAL_AGENT_MODE"]; found && mode != readOnly {
		return "env starts it in the mode " + mode
	}
	if !said {
		return "it names no sandbox"
	}
	return ""
}

// sandboxed reports whether one of the options names a sandbox.
func sandboxed(args []string) bool {
	return slices.ContainsFunc(options(args), func(o option) bool { return o.flag == "-s" || o.flag == "--sandbox" })
}

// permissionKey is the variable whose rules opencode puts over those of every
// file.
const permissionKey = "OPENCODE_PERMISSION"

// readOnlyRules keep opencode from editing, from the shell, and from agents that
// have their own rules.
const readOnlyRules = `{"edit":"deny","bash":"deny","task":"deny"}`

// opencodeCeiling asks for rules that deny editing and the shell: without any,
// opencode allows both, and no flag says otherwise.
func (b Binding) opencodeCeiling() string {
	if b.Interface == InterfaceACP {
		return ""
	}
	var rules map[string]any
	if json.Unmarshal([]byte(b.Env[permissionKey]), &rules) == nil {
		denied := func(tool string) bool {
			if rule, set := rules[tool]; set {
				return rule == "deny"
			}
			return rules["*"] == "deny"
		}
		if denied("edit") && denied("bash") && denied("task") {
			return ""
		}
	}
	return "env sets no " + permissionKey + " that denies edit, bash and task, such as '" + readOnlyRules + "'"
}
