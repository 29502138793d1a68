package agents

import (
	"path"
	"slices"
	"strings"
)

// The CLIs whose flags satelle knows.
const (
	claude   = "claude"
	codex    = "codex"
	grok     = "grok"
	opencode = "opencode"
)

// clis are the words by which a command may start a CLI: programs, packages of
// npm and satelle's launchers.
var clis = map[string]string{
	"claude": claude, "claude-code": claude, "@anthropic-ai/claude-code": claude, "satelle-claude": claude,
	"codex": codex, "@openai/codex": codex, "codex-acp": codex, "@agentclientprotocol/codex-acp": codex, "satelle-codex": codex,
	"grok": grok, "@xai-official/grok": grok, "satelle-grok": grok,
	"opencode": opencode, "opencode-ai": opencode, "satelle-opencode": opencode,
}

// cli returns the CLI that a command line starts, "" for one that satelle does
// not know, and the words behind it. A word in front of it, such as env or npx,
// may be anything; the line of a shell is read as words, too.
func cli(argv []string) (name string, before, args []string) {
	var words []string
	for _, arg := range argv {
		if len(argv) > 0 && slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "env"}, path.Base(argv[0])) {
			words = append(words, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(blanks+`'";`, r) })...)
			continue
		}
		words = append(words, arg)
	}
	for i, w := range words {
		if at := strings.LastIndex(w, "@"); at > 0 {
			w = w[:at] // the version of a package
		}
		for _, known := range []string{w, path.Base(w), strings.TrimSuffix(path.Base(w), ".js")} {
			if clis[known] != "" {
				return clis[known], words[:i], words[i+1:]
			}
		}
	}
	return "", words, nil
}

// cli is the CLI that the binding starts, with the words before and behind its
// program as they would run.
func (b Binding) cli() (name string, before, args []string) {
	return cli(b.Argv(Values{System: holdsSystem, Payload: holdsPayload}))
}

// Own reports whether the binding starts none of the CLIs that satelle knows, and
// so a program of whoever wrote it.
func (b Binding) Own() bool {
	name, _, _ := b.cli()
	return name == "" && b.Command != InLoop
}

// option is one flag of a command line with its value. A flag without a value
// of its own has the word that follows, which may be an operand.
type option struct{ flag, value string }

// options returns the flags of a command line in each form that the CLIs take:
// `--flag value`, `--flag=value`, `-f value`, `-f=value`, `-fvalue`. What is the
// value of another flag is looked at as well, so that nothing hides there.
func options(args []string) []option {
	var all []option
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
			continue
		}
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		if flag, value, fused := strings.Cut(arg, "="); fused && (strings.HasPrefix(arg, "--") || len(flag) == 2) {
			all = append(all, option{flag, value})
			continue
		}
		all = append(all, option{arg, next})
		if !strings.HasPrefix(arg, "--") && len(arg) > 2 {
			all = append(all, option{arg[:2], arg[2:]})
		}
	}
	return all
}

// setting is a `-c key=value` of Codex.
type setting struct{ key, value string }

// settings are the configuration values that a command line of Codex sets.
func settings(args []string) []setting {
	var all []setting
	for _, o := range options(args) {
		switch o.flag {
		case "-c", "--config":
			key, value, _ := strings.Cut(o.value, "=")
			all = append(all, setting{bare(key), bare(value)})
		case "--enable":
			all = append(all, setting{"features." + bare(o.value), "true"})
		case "--disable":
			all = append(all, setting{"features." + bare(o.value), "false"})
		}
	}
	return all
}

// bare takes the blanks and quotes of TOML off a word.
func bare(s string) string {
	return strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "", "\n", "", "\r", "").Replace(s)
}
