package liveness

import (
	"strings"
	"testing"

	"satelle/hooks/dialect"
	"satelle/hooks/install"
)

// appServer speaks as Codex's app server does: it answers each request, sends
// what nobody asked for in between, and leaves when its input ends.
const appServer = `#!/bin/sh
[ "$1" = app-server ] || exit 9
while read -r line; do
	case $line in
	*initialize\"*) echo '{"id":1,"result":{"userAgent":"x"}}'; echo '{"method":"remoteControl/status/changed","params":{}}' ;;
	*hooks/list*) printf '%s\n' ANSWER ;;
	esac
done
`

func (w *world) codexSays(answer string) {
	w.program("bin/codex", strings.Replace(appServer, "ANSWER", "'"+strings.ReplaceAll(answer, "'", `'\''`)+"'", 1))
}

// hooksList is Codex's answer in which each hook has that trust.
func (w *world) hooksList(trust string) string {
	w.t.Helper()
	file := w.path("my repo/.codex/hooks.json")
	reviews, err := install.Reviews(file, []byte(w.read("my repo/.codex/hooks.json")))
	if err != nil {
		w.t.Fatal(err)
	}
	command := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(dialect.Command(dialect.Deny))
	var hooks []string
	for _, r := range reviews {
		hooks = append(hooks, `{"key":"`+r.Key+`","command":"`+command+`","enabled":true,"trustStatus":"`+trust+`"}`)
	}
	return `{"id":2,"result":{"data":[{"cwd":"x","hooks":[` + strings.Join(hooks, ",") + `],"warnings":[],"errors":[]}]}}`
}

func TestAskCodex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(*world) string
		want   string // the finding, "" for none
		what   string
	}{
		{"trusted", func(w *world) string { return w.hooksList("trusted") }, "", ""},
		{"untrusted", func(w *world) string { return w.hooksList("untrusted") }, "codex-says", "pre_tool_use untrusted"},
		{"modified", func(w *world) string { return w.hooksList("modified") }, "codex-says", "modified"},
		{"not loaded", func(*world) string { return `{"id":2,"result":{"data":[{"hooks":[],"errors":[]}]}}` }, "codex-says", "not loaded"},
		{"switched off", func(w *world) string {
			return strings.ReplaceAll(w.hooksList("trusted"), `"enabled":true`, `"enabled":false`)
		}, "codex-says", "not loaded"},
		{"another command", func(w *world) string { return strings.ReplaceAll(w.hooksList("trusted"), "exit 0", "exit 1") }, "codex-says", "not loaded"},
		{"complains", func(w *world) string {
			return strings.Replace(w.hooksList("trusted"), `"errors":[]`, `"errors":[{"message":"bad file"}]`, 1)
		}, "codex-says", "bad file"},
		{"refuses", func(*world) string { return `{"id":2,"error":{"message":"no such method"}}` }, "unasked", "no such method"},
		{"garbage", func(*world) string { return "}{" }, "unasked", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.codexSays(c.answer(w))
			if c.name == "garbage" {
				w.program("bin/codex", "#!/bin/sh\necho '}{'\n")
			}
			r := w.examine()
			h := w.hook(r, "codex", install.Project)
			if c.want == "" {
				if !h.Live || h.Proof != ProofAsked || len(r.Findings) > 0 {
					t.Errorf("%+v\n%+v", h, r.Findings)
				}
				return
			}
			found := named(r, c.want)
			if len(found) != 1 || !strings.Contains(found[0].What, c.what) || h.Live != (c.want == "unasked") {
				t.Errorf("%+v\n%+v", h, r.Findings)
			}
		})
	}
}

func TestAskGrok(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, answer, want, what string }{
		{"loaded", `{"projectRoot":"/x/","projectTrusted":true,"hooks":[{"event":"pre_tool_use","target":"sh -c '[ -s \"/satelle-hook\" ]'"}]}`, "", ""},
		{"loaded from Claude's settings", `{"projectRoot":"/x/","projectTrusted":true,"hooks":[{"event":"pre_tool_use","target":"\"b/satelle-hook\"","compatibilityStatus":"enabled"}]}`, "", ""},
		{"not Claude's", `{"projectRoot":"/x/","projectTrusted":true,"hooks":[{"event":"pre_tool_use","target":"\"b/satelle-hook\"","compatibilityStatus":"disabled"}]}`, "grok-says", "has not loaded"},
		{"untrusted", `{"projectRoot":"/x/","projectTrusted":false,"hooks":[]}`, "grok-says", "project trusted: false"},
		{"no project", `{"projectRoot":null,"projectTrusted":false,"hooks":[]}`, "grok-says", "has not loaded"},
		{"garbage", `no JSON`, "unasked", "no JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("answer", c.answer)
			w.program("bin/grok", "#!/bin/sh\n[ \"$*\" = 'inspect --json' ] || exit 9\ncat '"+w.path("answer")+"'\n[ '"+c.name+"' != garbage ] || echo no JSON >&2\n")
			r := w.examine()
			h := w.hook(r, "grok", install.Project)
			if c.want == "" {
				if !h.Live || h.Proof != ProofAsked || len(r.Findings) > 0 {
					t.Errorf("%+v\n%+v", h, r.Findings)
				}
				return
			}
			found := named(r, c.want)
			if len(found) != 1 || !strings.Contains(found[0].What, c.what) || h.Live != (c.want == "unasked") {
				t.Errorf("%+v\n%+v", h, r.Findings)
			}
		})
	}
}

// A Claude Code that asks its hook tells the model so.
func TestPlayClaude(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, result, finding string }{
		{"denied by the hook", "PreToolUse:Write hook error: satelle denied", ""},
		{"let through", "Claude requested permissions to write", "claude-says"},
		{"does not start", "", "unasked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Play = true
			w.write("home/.claude/settings.json", `{"model": "mine"}`)
			w.write("home/.claude/.credentials.json", "secret")
			w.env("ANTHROPIC_API_KEY=secret", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDECODE=1")
			body := `{"model":"m","tools":[{}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_scripted","content":"` + c.result + `"}]}]}`
			script := "#!/bin/sh\nenv > '" + w.path("env") + "'\nls -A \"$CLAUDE_CONFIG_DIR\" > '" + w.path("config") + "'\n"
			if c.result != "" {
				script += post(body)
			}
			w.program("bin/claude", script)
			r := w.examine()
			if env := w.read("env"); strings.Contains(env, "secret") || !strings.Contains(env, "ANTHROPIC_API_KEY=dummy") || strings.Contains(env, "BEDROCK=1") || strings.Contains(env, "CLAUDECODE=1") {
				t.Errorf("its environment:\n%s", env)
			}
			if got := w.read("config"); got != "settings.json\n" {
				t.Errorf("its configuration holds %q", got)
			}
			h := w.hook(r, "claude", install.Project)
			switch c.finding {
			case "":
				if !h.Live || h.Proof != ProofPlayed || len(r.Findings) > 0 {
					t.Errorf("%+v\n%+v", h, r.Findings)
				}
			default:
				if f := named(r, c.finding); len(f) != 1 || h.Live != (c.finding == "unasked") {
					t.Errorf("%+v\n%+v", h, r.Findings)
				}
			}
		})
	}
}

// post is a shell command that posts a body to the model, by the means of a
// bare machine.
func post(body string) string {
	return `exec bash -c 'hostport=${ANTHROPIC_BASE_URL#http://}; exec 3<>"/dev/tcp/${hostport%:*}/${hostport#*:}"; ` +
		`printf "POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" "${#0}" "$0" >&3; cat <&3' '` + body + "'\n"
}
