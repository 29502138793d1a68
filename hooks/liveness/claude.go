package liveness

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime"

	"github.com/tidwall/gjson"

	"satelle/hooks/install"
)

// claudeFile is one of the settings files that Claude Code puts together. Of
// those that set a key, the last one counts.
type claudeFile struct {
	scope string // of the hooks that it may hold, "" for none
	path  string
	doc   []byte
}

// claudeFiles are those of a session that starts here. It reads no others: not
// those at the root if it starts in a sub-directory.
func (l *look) claudeFiles() []claudeFile {
	files := []claudeFile{{scope: install.User, path: filepath.Join(l.Home, ".claude", "settings.json")}}
	if l.tree != "" {
		files = append(files, claudeFile{scope: install.Project, path: filepath.Join(l.tree, ".claude", "settings.json")},
			claudeFile{path: filepath.Join(l.tree, ".claude", "settings.local.json")})
	}
	if l.Dir != l.tree {
		files = append(files, claudeFile{path: filepath.Join(l.Dir, ".claude", "settings.json")},
			claudeFile{path: filepath.Join(l.Dir, ".claude", "settings.local.json")})
	}
	return files
}

// claude looks for what disarms hooks in Claude Code's settings.
func (l *look) claude() {
	scopes := l.scopes("claude")
	if len(scopes) == 0 {
		return
	}
	off := ""
	for _, f := range l.claudeFiles() {
		doc, err := load(f.path)
		if err != nil {
			l.find(Note, "unreadable", "claude", "", "make it readable, or remove it", "%v", err)
			continue
		}
		if f.doc = doc; doc == nil {
			continue
		}
		if why := claudeDrops(doc); why != "" {
			l.claudeDropped(f, why)
			continue
		}
		if v := gjson.GetBytes(doc, "disableAllHooks"); v.IsBool() {
			if off = ""; v.Bool() {
				off = f.path
			}
		}
		if f.scope != "" && l.has("claude", f.scope) {
			l.claudeEntries(f)
		}
	}
	if off != "" {
		l.find(Broken, "hooks-off", "claude", "", `set "disableAllHooks": false in `+off, "%s sets disableAllHooks: Claude Code runs no hook here", off)
	}
	l.claudeManaged()
	l.claudeStart()
	for _, name := range []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"} {
		if truthy(l.env[name]) {
			l.find(Broken, "environment", "claude", "", "unset "+name, "%s is set: a Claude Code that starts from this shell runs no hooks", name)
		}
	}
	if dir := l.env["CLAUDE_CONFIG_DIR"]; dir != "" && dir != filepath.Join(l.Home, ".claude") && l.has("claude", install.User) {
		l.find(Broken, "environment", "claude", install.User, "unset CLAUDE_CONFIG_DIR",
			"CLAUDE_CONFIG_DIR is set: a Claude Code that starts from this shell reads its user settings in %s", dir)
	}
}

// claudeDrops says why Claude Code drops a whole settings file, without a word
// in a run that nobody watches; "" if it takes it.
func claudeDrops(doc []byte) string {
	switch root := gjson.ParseBytes(doc); {
	case !json.Valid(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))):
		return "it is no valid JSON"
	case !root.IsObject():
		return "it holds no object"
	case root.Get("permissions").Exists() && !root.Get("permissions").IsObject():
		return "`permissions` is no object"
	case root.Get("hooks").Exists() && !root.Get("hooks").IsObject():
		return "`hooks` is no object"
	}
	return ""
}

func (l *look) claudeDropped(f claudeFile, why string) {
	level := Note
	if f.scope != "" && bytes.Contains(f.doc, []byte("/satelle-hook")) {
		level = Broken
	}
	l.find(level, "file-dropped", "claude", f.scope, "mend "+f.path, "Claude Code drops %s as a whole: %s", f.path, why)
}

// claudeEntries looks at satelle's own entries.
func (l *look) claudeEntries(f claudeFile) {
	for _, e := range l.entries("claude", f.path) {
		if l.entry("claude", f.scope, f.path, e); !e.Guard {
			continue
		}
		switch v := gjson.GetBytes(e.Handler, "onFailure"); {
		case !v.Exists():
			l.find(Open, "fails-open", "claude", f.scope, installing("claude", f.scope), "the hook for %s in %s lacks `onFailure`: its failure lets the call through", e.Event, f.path)
		case v.String() != "block":
			l.find(Broken, "entry-dropped", "claude", f.scope, installing("claude", f.scope), "Claude Code drops the hook for %s in %s: onFailure is %q", e.Event, f.path, clip(v.String()))
		}
	}
}

// claudeManaged looks at the machine's settings, which beat all others.
func (l *look) claudeManaged() {
	path := filepath.Join(l.System, "claude-code", "managed-settings.json")
	if runtime.GOOS == "darwin" && l.System == "/etc" {
		path = "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	doc, err := load(path)
	if doc == nil && err == nil {
		return
	}
	if gjson.GetBytes(doc, "allowManagedHooksOnly").Bool() || gjson.GetBytes(doc, "disableAllHooks").Bool() {
		l.find(Broken, "managed", "claude", "", "the administrator puts satelle's hooks into "+path, "%s lets Claude Code run no hooks but its own", path)
		return
	}
	l.find(Note, "managed", "claude", "", "nothing: they beat all other settings", "managed settings are present: %s", path)
}

// claudeStart warns of a start that reads no settings of the root.
func (l *look) claudeStart() {
	if l.tree == "" || l.Dir == l.tree || !l.has("claude", install.Project) {
		return
	}
	level := Open
	if l.has("claude", install.User) {
		level = Note
	}
	l.find(level, "sub-directory", "claude", install.Project, installing("claude", install.User),
		"a Claude Code that starts in %s does not read the settings at the root %s", l.Dir, l.tree)
}
