package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"satelle/internal/fault"
	"satelle/internal/jsonedit"
	"satelle/internal/tomledit"
)

// Codex runs a hook only if its project is trusted and the hook was reviewed:
// $CODEX_HOME/config.toml holds a hash of each reviewed hook under the place
// where it stands. A hook of the person's own needs no trusted project.

var codexEvents = []event{{"PreToolUse", true}, {"PostToolUse", false}, {"SessionStart", false}}

// codexConfig plans the configuration in Codex's own folder.
func (j *job) codexConfig(p *plan) (*file, error) {
	return j.personal(p, filepath.Join(j.codexHome, "config.toml"))
}

// codexNoTTY closes the one way in which Codex runs commands without asking the
// hook: text typed into a terminal session that was allowed once.
func codexNoTTY(j *job, p *plan) error {
	if j.root != j.primary {
		p.note("Codex reads the hooks of the primary checkout, " + j.primary + ": install them there too")
	}
	return j.codexFeature(p, func(doc []byte) ([]byte, error) {
		return setTOML(doc, "false", "features", "unified_exec_tty")
	})
}

func codexTTY(j *job, p *plan) error {
	return j.codexFeature(p, func(doc []byte) ([]byte, error) {
		return unsetTOML(doc, "features", "unified_exec_tty")
	})
}

func (j *job) codexFeature(p *plan, fn func([]byte) ([]byte, error)) error {
	f, err := j.settings(p, filepath.Join(filepath.Dir(codexSettings(j)), "config.toml"))
	if err != nil {
		return err
	}
	return f.edit(fn)
}

func codexSettings(j *job) string {
	if j.Scope == User {
		return filepath.Join(j.codexHome, "hooks.json")
	}
	return filepath.Join(j.root, ".codex", "hooks.json")
}

// codexSource is the file by whose name Codex knows the hooks. In a linked work
// tree Codex reads the one of the primary checkout, and "" is returned.
func (j *job) codexSource() (string, error) {
	if j.Scope == User {
		return follow(codexSettings(j), "")
	}
	if j.root != j.primary {
		return "", nil
	}
	return codexSettings(j), nil
}

func codexTrust(j *job, p *plan) error {
	source, err := j.codexSource()
	if err != nil || source == "" {
		return err
	}
	hooks, err := j.settings(p, codexSettings(j))
	if err != nil {
		return err
	}
	want, err := codexHashes(source, hooks.after)
	if err != nil {
		return err
	}
	f, err := j.codexConfig(p)
	if err != nil {
		return err
	}
	return f.edit(func(doc []byte) ([]byte, error) {
		doc, err := codexForget(doc, source, want)
		if err != nil {
			return nil, err
		}
		if j.Scope == Project {
			if doc, err = setTOML(doc, `"trusted"`, "projects", j.root, "trust_level"); err != nil {
				return nil, err
			}
		}
		for _, r := range want {
			if doc, err = setTOML(doc, tomledit.Quote(r.Hash), "hooks", "state", r.Key, "trusted_hash"); err != nil {
				return nil, err
			}
		}
		return doc, nil
	})
}

func codexUntrust(j *job, p *plan) error {
	source, err := j.codexSource()
	if err != nil || source == "" {
		return err
	}
	f, err := j.codexConfig(p)
	if err != nil {
		return err
	}
	return f.edit(func(doc []byte) ([]byte, error) {
		doc, err := codexForget(doc, source, nil)
		if err != nil || j.Scope == User {
			return doc, err
		}
		return unsetTOML(doc, "projects", j.root, "trust_level")
	})
}

// codexForget takes out the reviews that satelle recorded for hooks of that
// file, but for those that are still wanted.
func codexForget(doc []byte, source string, want []Review) ([]byte, error) {
	var config struct {
		Hooks struct {
			State map[string]any `toml:"state"`
		} `toml:"hooks"`
	}
	// What is not of this form is refused, with its line, where it is edited.
	_ = toml.Unmarshal(doc, &config)
	kept := map[string]bool{}
	for _, r := range want {
		kept[r.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(config.Hooks.State)) {
		if !strings.HasPrefix(key, source+":") || kept[key] {
			continue
		}
		var err error
		if doc, err = unsetTOML(doc, "hooks", "state", key, "trusted_hash"); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

func codexTrusted(j *job, settings []byte) (bool, error) {
	source, err := j.codexSource()
	if err != nil || source == "" {
		return false, err
	}
	want, err := codexHashes(source, settings)
	if err != nil {
		return false, err
	}
	f, err := j.codexConfig(&plan{})
	if err != nil {
		return false, err
	}
	if j.Scope == Project {
		level, _, err := tomledit.Get(f.before, "projects", j.root, "trust_level")
		if err != nil || strings.Trim(level, `"'`) != "trusted" {
			return false, err
		}
	}
	for _, r := range want {
		hash, _, err := tomledit.Get(f.before, "hooks", "state", r.Key, "trusted_hash")
		if err != nil || strings.Trim(hash, `"'`) != r.Hash {
			return false, err
		}
	}
	return len(want) > 0, nil
}

// codexOff looks for the switch that turns every hook of Codex off.
func codexOff(j *job) (string, error) {
	dirs := []string{j.codexHome}
	if j.Scope == Project {
		dirs = append(dirs, filepath.Join(j.root, ".codex"))
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, "config.toml")
		doc, _, err := read(path, 0)
		if err != nil {
			return "", err
		}
		if value, _, err := tomledit.Get(doc, "features", "hooks"); err != nil {
			return "", fault.Wrap(err, fault.Refused, "%s", path)
		} else if value == "false" {
			return path + ": [features] hooks", nil
		}
	}
	return "", nil
}

// codexHashes are the reviews of satelle's hooks in a hooks file.
func codexHashes(source string, doc []byte) ([]Review, error) {
	var out []Review
	for _, e := range codexEvents {
		err := jsonedit.Walk(doc, handlerPath(e), func(at []int, value []byte) {
			if command, ours := ourCommand(value); ours {
				event := snake(e.name)
				out = append(out, Review{
					Event: event,
					Key:   fmt.Sprintf("%s:%s:%d:%d", source, event, at[0], at[1]),
					Hash:  codexHash(event, command),
				})
			}
		})
		if err != nil {
			return nil, refuse(err)
		}
	}
	return out, nil
}

// codexHash is Codex's hash of a hook of satelle's form: SHA-256 of compact
// JSON with sorted keys, its defaults filled in.
func codexHash(event, command string) string {
	text := encode(struct {
		Event string `json:"event_name"`
		Hooks []any  `json:"hooks"`
	}{event, []any{struct {
		Async   bool   `json:"async"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Type    string `json:"type"`
	}{false, command, timeout, "command"}}})
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// snake spells an event's name as Codex does in its keys.
func snake(event string) string {
	var b strings.Builder
	for i, c := range event {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
