package liveness

import (
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"

	"satelle/hooks/install"
)

// grok looks for what disarms hooks in Grok's settings.
func (l *look) grok() {
	l.grokFolder()
	scopes := l.scopes("grok")
	if len(scopes) == 0 {
		return
	}
	for _, scope := range scopes {
		file := l.hook("grok", scope).File
		for _, e := range l.entries("grok", file) {
			l.entry("grok", scope, file, e)
		}
		if doc, err := load(file); err == nil {
			l.grokTimeouts(scope, file, doc)
		}
	}
	if l.has("grok", install.Project) {
		l.grokTrust()
	}
	if dir := l.env["GROK_HOME"]; dir != "" && dir != filepath.Join(l.Home, ".grok") {
		l.find(Broken, "environment", "grok", "", "unset GROK_HOME", "GROK_HOME is set: a Grok that starts from this shell reads its hooks and what it trusts in %s", dir)
	}
	l.managed("grok", filepath.Join(l.System, "grok", "requirements.toml"), filepath.Join(l.System, "grok", "managed_config.toml"))
}

// grokFolder warns of a folder whose own hooks Grok never loads, and of the
// switch by which it does not run Claude's.
func (l *look) grokFolder() {
	claude := len(l.scopes("claude")) > 0
	if falsy(l.env["GROK_CLAUDE_HOOKS_ENABLED"]) && claude && len(l.scopes("grok")) == 0 {
		l.find(Open, "environment", "grok", "", installing("grok", install.Project), "GROK_CLAUDE_HOOKS_ENABLED is off: Grok does not run the hooks in Claude's settings, and has none of its own")
	}
	if l.tree == "" && l.program("grok") != "" && !l.has("grok", install.User) && (l.report.Governed || claude) {
		l.find(Open, "no-git", "grok", "", installing("grok", install.User), "%s is in no git work tree: Grok loads no hooks of a project there", l.Dir)
	}
}

// grokTimeouts looks at all timeouts of a file, since one that is no whole
// number makes Grok drop it.
func (l *look) grokTimeouts(scope, file string, doc []byte) {
	gjson.GetBytes(doc, "hooks").ForEach(func(_, groups gjson.Result) bool {
		for _, t := range groups.Get("#.hooks.#.timeout|@flatten").Array() {
			if t.Type != gjson.Number || float64(t.Int()) != t.Num {
				l.find(Broken, "file-dropped", "grok", scope, "mend "+file, "Grok drops %s as a whole: the timeout %s is no whole number", file, clip(t.Raw))
				return false
			}
		}
		return true
	})
}

// grokTrust looks whether Grok trusts the folder, which covers all work trees of
// its repository.
func (l *look) grokTrust() {
	h := l.hook("grok", install.Project)
	h.Trusted = false
	own := filepath.Join(l.Home, ".grok")
	var folders struct {
		Folders map[string]struct {
			Trusted bool `toml:"trusted"`
		} `toml:"folders"`
	}
	if !l.grokRead(filepath.Join(own, "trusted_folders.toml"), &folders) {
		return
	}
	if folders.Folders[l.tree].Trusted || folders.Folders[l.primary].Trusted {
		h.Trusted = true
		return
	}
	var config struct {
		Trust struct {
			Enabled *bool `toml:"enabled"`
		} `toml:"folder_trust"`
	}
	if !l.grokRead(filepath.Join(own, "config.toml"), &config) {
		return
	}
	switch {
	case falsy(l.env["GROK_FOLDER_TRUST"]):
		h.Trusted = true
		l.find(Note, "environment", "grok", install.Project, trusting("grok", install.Project), "GROK_FOLDER_TRUST is off: a Grok that starts from this shell trusts every folder, one from elsewhere does not trust this one")
	case config.Trust.Enabled != nil && !*config.Trust.Enabled && !truthy(l.env["GROK_FOLDER_TRUST"]):
		h.Trusted = true
	default:
		l.find(Broken, "untrusted-folder", "grok", install.Project, trusting("grok", install.Project), "Grok does not trust the folder %s and skips its hooks without a word", l.tree)
	}
}

func (l *look) grokRead(path string, into any) bool {
	doc, err := load(path)
	if err == nil && doc != nil {
		err = toml.Unmarshal(doc, into)
	}
	if err != nil {
		l.find(Broken, "unreadable", "grok", install.Project, "mend "+path, "%s can't be read: %v", path, err)
	}
	return err == nil
}
