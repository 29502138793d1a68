package liveness

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"

	"satelle/hooks/install"
)

// codexConfig is what of Codex's config.toml bears on hooks.
type codexConfig struct {
	Features map[string]any `toml:"features"`
	Projects map[string]struct {
		Trust string `toml:"trust_level"`
	} `toml:"projects"`
	Hooks struct {
		State map[string]struct {
			Hash    string `toml:"trusted_hash"`
			Enabled *bool  `toml:"enabled"`
		} `toml:"state"`
	} `toml:"hooks"`
}

func (l *look) codexHome() string {
	if l.CodexHome != "" {
		return l.CodexHome
	}
	return filepath.Join(l.Home, ".codex")
}

// codex looks for what disarms hooks in Codex's settings.
func (l *look) codex() {
	scopes := l.scopes("codex")
	if len(scopes) == 0 {
		return
	}
	own := filepath.Join(l.codexHome(), "config.toml")
	user, ok := l.codexRead(own)
	if !ok {
		return
	}
	project, trusted := codexConfig{}, false
	if l.primary != "" {
		if project, ok = l.codexRead(filepath.Join(l.primary, ".codex", "config.toml")); !ok {
			return
		}
		trusted = user.Projects[l.primary].Trust == "trusted"
	}
	for _, c := range []struct {
		file   string
		config codexConfig
	}{{own, user}, {filepath.Join(l.primary, ".codex", "config.toml"), project}} {
		for _, key := range []string{"hooks", "codex_hooks"} {
			if on, set := c.config.Features[key].(bool); set && !on {
				l.find(Broken, "hooks-off", "codex", "", "set "+key+" = true under [features] in "+c.file, "%s switches hooks off ([features] %s): Codex runs none", c.file, key)
			}
		}
	}
	for _, scope := range scopes {
		l.codexFile(scope)
		l.codexTrust(scope, user, trusted)
	}
	l.codexTyping(user, project, trusted)
	l.codexEnvironment()
	if l.tree != l.primary && l.has("codex", install.Project) {
		l.find(Note, "linked-tree", "codex", install.Project, "nothing: they were looked at", "in this linked work tree Codex reads the hooks of the primary checkout %s", l.primary)
	}
	l.managed("codex", filepath.Join(l.System, "codex", "requirements.toml"), filepath.Join(l.System, "codex", "managed_config.toml"))
}

func (l *look) codexRead(path string) (codexConfig, bool) {
	var c codexConfig
	doc, err := load(path)
	if err == nil && doc != nil {
		err = toml.Unmarshal(doc, &c)
	}
	if err != nil {
		l.find(Broken, "unreadable", "codex", "", "mend "+path, "%s can't be read: %v", path, err)
	}
	return c, err == nil
}

// codexFile looks at the hooks file, which Codex drops as a whole for a value
// of the wrong type, whoever's hook it is in.
func (l *look) codexFile(scope string) {
	file := l.hook("codex", scope).File
	doc, err := load(file)
	if err != nil || doc == nil {
		return // install has reported it
	}
	for _, e := range l.entries("codex", file) {
		l.entry("codex", scope, file, e)
	}
	if why := codexDrops(gjson.ParseBytes(doc)); why != "" {
		l.find(Broken, "file-dropped", "codex", scope, "mend "+file, "Codex drops %s as a whole: %s", file, why)
	}
}

func codexDrops(root gjson.Result) (why string) {
	wrong := func(v gjson.Result, ok bool, what string) bool {
		if v.Exists() && v.Type != gjson.Null && !ok && why == "" {
			why = what
		}
		return why != ""
	}
	root.ForEach(func(key, _ gjson.Result) bool {
		if key.Str != "hooks" && key.Str != "description" {
			why = "it does not know the key " + clip(key.Raw)
		}
		return why == ""
	})
	description := root.Get("description")
	wrong(description, description.Type == gjson.String, "`description` is no string")
	root.Get("hooks").ForEach(func(event, groups gjson.Result) bool {
		if wrong(groups, groups.IsArray(), "`hooks."+clip(event.Str)+"` is no array") {
			return false
		}
		for _, g := range groups.Array() {
			m, hooks := g.Get("matcher"), g.Get("hooks")
			if wrong(m, m.Type == gjson.String, "a matcher is no string") || wrong(hooks, hooks.IsArray(), "the hooks of a group are no array") {
				return false
			}
			for _, h := range hooks.Array() {
				t, c, a := h.Get("timeout"), h.Get("command"), h.Get("async")
				if wrong(t, t.Type == gjson.Number && !strings.ContainsAny(t.Raw, ".eE-"), "a timeout is no whole number") ||
					wrong(c, c.Type == gjson.String, "a command is no string") || wrong(a, a.IsBool(), "`async` is neither true nor false") {
					return false
				}
			}
		}
		return true
	})
	return why
}

// codexTrust compares what was reviewed with what stands there.
func (l *look) codexTrust(scope string, user codexConfig, trusted bool) {
	h := l.hook("codex", scope)
	h.Trusted = true
	against := func(name, what string, args ...any) {
		h.Trusted = false
		mend := trusting("codex", scope)
		if name == "disabled" {
			mend = "start codex here, and switch them on with /hooks"
		}
		l.find(Broken, name, "codex", scope, mend, what, args...)
	}
	if scope == install.Project && !trusted {
		against("untrusted-project", "Codex does not trust the project %s and skips its hooks without a word", l.primary)
	}
	source := codexSource(scope, h.File)
	doc, err := load(h.File)
	if err != nil {
		return // install has reported it
	}
	reviews, err := install.Reviews(source, doc)
	if err != nil {
		against("unreadable", "%s: %v", h.File, err)
		return
	}
	wrong := map[string][]string{} // events, by what is wrong with their hooks
	for _, r := range reviews {
		state, known := user.Hooks.State[r.Key]
		name := ""
		switch {
		case known && state.Hash == r.Hash:
			if state.Enabled != nil && !*state.Enabled {
				name = "disabled"
			}
		case known && state.Hash != "":
			name = "changed"
		case l.codexElsewhere(user, source, r):
			name = "moved"
		default:
			name = "unreviewed"
		}
		if name != "" {
			wrong[name] = append(wrong[name], r.Event)
		}
	}
	for _, c := range []struct{ name, what string }{
		{"disabled", "are switched off in Codex (/hooks)"},
		{"changed", "are not those that were reviewed: Codex skips them without a word"},
		{"moved", "stood at another position when they were reviewed: Codex skips them without a word"},
		{"unreviewed", "were never reviewed: Codex skips them without a word"},
	} {
		if events := wrong[c.name]; len(events) > 0 {
			against(c.name, "hooks in %s (%s) %s", source, strings.Join(events, ", "), c.what)
		}
	}
}

// codexSource is the name by which Codex knows a hooks file.
func codexSource(scope, file string) string {
	if real, err := filepath.EvalSymlinks(file); scope == install.User && err == nil {
		return real
	}
	return file
}

// codexElsewhere reports whether a hook was reviewed at another position of the
// same file.
func (l *look) codexElsewhere(user codexConfig, source string, r install.Review) bool {
	for key, state := range user.Hooks.State {
		if strings.HasPrefix(key, source+":"+r.Event+":") && state.Hash == r.Hash {
			return true
		}
	}
	return false
}

// codexTyping looks whether text can be typed into a terminal past the hook.
func (l *look) codexTyping(user, project codexConfig, trusted bool) {
	tty, set := user.Features["unified_exec_tty"].(bool)
	if v, own := project.Features["unified_exec_tty"].(bool); own && trusted {
		tty, set = v, true
	}
	if l.has("codex", install.Project) && !trusted {
		return // its own file may say so, and will be read when it is trusted
	}
	if !set || tty {
		scope := install.User
		if l.has("codex", install.Project) {
			scope = install.Project
		}
		l.find(Open, "typing", "codex", scope, installing("codex", scope), "unified_exec_tty is not false: text typed into a running terminal (write_stdin) asks no hook")
	}
}

func (l *look) codexEnvironment() {
	temp := l.env["TMPDIR"]
	if temp == "" {
		temp = "/tmp"
	}
	home := l.codexHome()
	if strings.HasPrefix(home+"/", strings.TrimRight(filepath.Clean(temp), "/")+"/") {
		l.find(Note, "environment", "codex", "", `export CODEX_HOME="$HOME/.codex"`, "CODEX_HOME %s lies in the temporary folder, where Codex makes no sandbox and applies no patches", home)
	}
}

// managed says that a machine's settings are there, which beat all others.
func (l *look) managed(harness string, paths ...string) {
	for _, path := range paths {
		doc, err := load(path)
		switch {
		case doc == nil && err == nil:
		case onlyManaged(doc):
			l.find(Broken, "managed", harness, "", "the administrator puts satelle's hooks into the machine's settings", "%s lets %s run no hooks but the machine's", path, title(harness))
		default:
			l.find(Note, "managed", harness, "", "nothing: they beat all other settings", "managed settings are present: %s", path)
		}
	}
}

// onlyManaged reports whether a file sets the switch by which only managed
// hooks run. Where it can't be read, it counts as set.
func onlyManaged(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		key, value, ok := bytes.Cut(line, []byte("="))
		name := string(bytes.TrimSpace(key))
		if ok && (strings.HasSuffix(name, "allow_managed_hooks_only") || strings.HasSuffix(name, "allowManagedHooksOnly")) {
			return !bytes.HasPrefix(bytes.TrimSpace(value), []byte("false"))
		}
	}
	return false
}
