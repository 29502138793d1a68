package decide

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"satelle/hooks/shell"
	"satelle/internal/place"
)

// protect says what a file is, by its name and by the name that it has after
// links are resolved, that no story may change.
func (w *world) protect(abs, real string, tree bool) string {
	if within(real, w.realHome) && !w.inCopy(real) || tree && within(w.realHome, real) {
		return ownFolder
	}
	for _, name := range [...]string{w.outOfCopy(real), w.outOfCopy(filepath.Clean(abs))} {
		if what := protectedName(name, false); what != "" {
			return what
		}
	}
	return w.ownSetting(real, tree)
}

// aliases are the protected names, by their folder, that may be links, have a
// second name, or lie below a tree that changes.
var aliases = [...]struct {
	folder, what string
	entries      []string
}{
	{".git", gitFolder, []string{"config", "hooks"}},
	{".satelle", personal, []string{"approvers", "logs", "satelle.local.toml"}},
	{".satelle", substrate, []string{"satelle.toml", "workflows"}},
	{".claude", settings, []string{"settings.json", "settings.local.json", "hooks"}},
	{".codex", settings, []string{"hooks.json", "config.toml"}},
	{".grok", settings, []string{"hooks", "hooks/satelle.json"}},
	{".gemini", settings, nil},
	{".cursor", settings, nil},
	{".opencode", settings, nil},
	{".husky", gitHooks, nil},
}

// alias says which protected file a file is that goes by another name. It
// matters only where a seat would let the call pass.
func (w *world) alias(p place.Place, real string, tree bool) string {
	target, err := os.Lstat(real)
	linked := err == nil && target.Mode().IsRegular() && links(target) > 1
	for i, base := range [...]string{p.WorkTree, p.Root, w.user} {
		if base == "" || i == 1 && base == p.WorkTree {
			continue
		}
		for _, a := range aliases {
			folder := base + "/" + a.folder
			if _, err := os.Lstat(folder); err != nil {
				continue
			}
			if w.same(folder, real, target, linked, tree) {
				return a.what
			}
			for _, entry := range a.entries {
				if w.same(folder+"/"+entry, real, target, linked, tree) {
					return a.what
				}
			}
		}
	}
	return ""
}

// same reports whether a change of real changes what stands at name.
func (w *world) same(name, real string, target fs.FileInfo, linked, tree bool) bool {
	if tree && within(name, real) || linked && sameWithin(name, target) {
		return true
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	leads, err := place.Resolve(name)
	return err == nil && (within(real, leads) || tree && within(leads, real))
}

// maxSame bounds the files that are compared with one that has several names.
const maxSame = 2000

// sameWithin reports whether a file is one of those at or below name.
func sameWithin(name string, file fs.FileInfo) bool {
	found, seen := false, 0
	// What can't be read is passed over: the names were compared already.
	_ = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSame || found {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "objects" {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && os.SameFile(info, file) {
			found = true
		}
		return nil
	})
	return found
}

// secret says what a call would read that nobody may.
func (w *world) secret(act Act) string {
	for _, p := range act.Looks {
		for _, abs := range w.spellings(p) {
			if what := w.secretAt(abs, true); what != "" {
				return what
			}
			if act.Deep && w.above(abs) {
				return ownFolder
			}
			if strings.ContainsAny(p, "*?[") && len(abs) <= 4096 {
				if what := w.secretPattern(abs); what != "" {
					return what
				}
			}
		}
	}
	if secretName(w.dir, w.realHome) != "" {
		return ownKeys // whatever it reads, it reads there
	}
	if act.Kind != Command && act.Kind != Strange {
		return ""
	}
	for i, word := range act.Effect.Words {
		if i > maxLooks {
			break
		}
		if what := w.secretWord(word); what != "" {
			return what
		}
	}
	return ""
}

// above reports whether satelle's folder lies below a folder that is not where
// the session works anyway.
func (w *world) above(abs string) bool {
	real, err := place.Resolve(abs)
	return err == nil && within(w.realHome, real) && real != w.dir
}

func (w *world) secretWord(word shell.Word) string {
	// What only reads may be code that reads just that; a bare word is a path or
	// what is searched for.
	if (!word.Quiet || strings.ContainsAny(word.Text, "\"'(<")) && (strings.Contains(word.Text, w.realHome+"/keys") || strings.Contains(word.Text, ".satelle/keys")) {
		return ownKeys
	}
	for _, file := range operands(word.Text) {
		abs := absolute(word.Dir, file)
		if word.Dir == "" && filepath.Base(file) == "environ" && w.tokens() {
			return workersToken // in a folder that is not known
		}
		if !strings.HasPrefix(abs, "/") || len(abs) > 4096 || strings.ContainsAny(abs, "\n\x00") {
			continue
		}
		what := ""
		if word.Glob {
			what = w.secretPattern(abs)
		} else {
			what = w.secretAt(abs, strings.Contains(file, "/") || file == "." || word.Dir != w.dir)
		}
		if what != "" {
			return what
		}
	}
	return ""
}

// operands are the files that a word may name: the whole of it, an option's
// value, and what is to be read by an @.
func operands(text string) []string {
	all := []string{text}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		all = append(all, text[2:])
	}
	if _, value, ok := strings.Cut(text, "="); ok && value != "" {
		all = append(all, value)
	}
	for _, file := range all {
		if _, file, ok := strings.Cut(file, "@"); ok && file != "" {
			all = append(all, file)
		}
	}
	return all
}

// secretAt looks at one path; with all, a look at the whole of satelle's
// folder counts as one at what is secret in it.
func (w *world) secretAt(abs string, all bool) string {
	real, err := place.Resolve(abs)
	if err != nil {
		return ""
	}
	if all && real == w.realHome {
		return ownFolder
	}
	if what := secretName(real, w.realHome); what != "" {
		return what
	}
	if environment(real) && filepath.Clean(abs) != "/proc/self/environ" && bearsToken(real) {
		return workersToken
	}
	if info, err := os.Lstat(real); err == nil && info.Mode().IsRegular() && links(info) > 1 {
		if sameWithin(w.realHome+"/keys", info) {
			return ownKeys
		}
		if p, err := place.Find(w.home, w.dir); err == nil && p.Root != "" && sameWithin(p.Root+"/.satelle/satelle.local.toml", info) {
			return ownSettings
		}
	}
	return ""
}

// secretPattern tells whether a pattern of the shell may reach a secret.
func (w *world) secretPattern(abs string) string {
	parts := strings.Split(filepath.Clean(abs), "/")
	keys := strings.Split(w.realHome+"/keys", "/")
	hit := len(parts) >= len(keys)
	for i := 0; hit && i < len(keys); i++ {
		hit = match(parts[i], strings.ToLower(keys[i]), true)
	}
	if hit {
		return ownKeys
	}
	if environment(abs) && w.tokens() {
		return workersToken
	}
	for i := 1; i < len(parts); i++ {
		if match(parts[i-1], ".satelle", true) && match(parts[i], "satelle.local.toml", true) {
			return ownSettings
		}
	}
	return ""
}
