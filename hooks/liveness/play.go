package liveness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"satelle/internal/proc"
	"satelle/internal/scriptmodel"
)

// playTime bounds the scripted turn of Claude Code, which takes seconds.
const playTime = 90 * time.Second

// steering are the variables that would lead Claude Code to another model, or
// make it think that it runs within itself.
var steering = []string{"ANTHROPIC_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_OAUTH", "CLAUDECODE=", "CLAUDE_CODE_SESSION_ID=", "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CONFIG_DIR="}

// playClaude lets Claude Code start here, with the settings of this place and
// of the person, against a model on loopback that asks it for one change that
// nobody may make. In its default mode it would ask somebody for permission, and
// nobody is there: so the file stays as it is even without a hook.
func (l *look) playClaude(ctx context.Context, program string) {
	result, err := l.play(ctx, program)
	if err != nil {
		l.unasked("claude", err)
		return
	}
	says := "denied"
	if !strings.Contains(result, "hook") || !strings.Contains(result, "satelle") {
		says = "not denied"
	}
	for i := range l.report.Hooks {
		if h := &l.report.Hooks[i]; h.Harness == "claude" && h.Installed {
			h.Proof, h.Says = ProofPlayed, says
		}
	}
	if says != "denied" {
		l.find(Broken, "claude-says", "claude", "", "mend the other findings", "Claude Code did not ask the hook before a change that nobody may make: %s", clip(result))
	}
}

// play returns what Claude Code told the model about the call.
func (l *look) play(ctx context.Context, program string) (string, error) {
	config, err := l.claudeConfig()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(config)
	target := filepath.Join(l.SatelleHome, "bin", "satelle-hook")
	if l.report.Governed && l.tree != "" {
		target = filepath.Join(l.tree, ".claude", "settings.json")
	}
	model, err := scriptmodel.Start("Write", map[string]any{"file_path": target, "content": "canary\n"})
	if err != nil {
		return "", err
	}
	defer model.Close()
	// Settings can set the environment too, so these are given as the nearest
	// settings as well.
	own := map[string]string{
		"ANTHROPIC_BASE_URL": model.URL, "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_AUTH_TOKEN": "",
		"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "1",
	}
	settings, err := json.Marshal(map[string]any{"env": own})
	if err != nil {
		return "", err
	}
	env := []string{"CLAUDE_CONFIG_DIR=" + config}
	for _, v := range l.Env {
		if !steers(v) {
			env = append(env, v)
		}
	}
	for name, value := range own {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{program, "-p", "Play the scripted turn of satelle doctor.", "--output-format", "json", "--settings", string(settings)},
		Dir:  l.Dir, Env: env, Timeout: playTime,
	})
	if err != nil {
		return "", err
	}
	result, told := model.Result()
	switch {
	case told:
		return result, nil
	case res.TimedOut:
		return "", errors.New("it did not end within " + playTime.String())
	case !model.Asked():
		return "", errors.New("it asked no model: " + clip(string(res.Output)))
	}
	return "", errors.New("it said nothing of the call: " + clip(string(res.Output)))
}

// claudeConfig makes a folder with the person's settings and nothing else of
// theirs: no credentials, and nothing of the turn stays with them.
func (l *look) claudeConfig() (string, error) {
	dir := l.env["CLAUDE_CONFIG_DIR"]
	if dir == "" {
		dir = filepath.Join(l.Home, ".claude")
	}
	doc, err := load(filepath.Join(dir, "settings.json"))
	if err != nil {
		return "", err
	}
	config, err := os.MkdirTemp("", "satelle-doctor-*")
	if err != nil || doc == nil {
		return config, err
	}
	return config, os.WriteFile(filepath.Join(config, "settings.json"), doc, 0o600)
}

func steers(variable string) bool {
	for _, s := range steering {
		if strings.HasPrefix(variable, s) {
			return true
		}
	}
	return false
}
