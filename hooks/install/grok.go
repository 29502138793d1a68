package install

import (
	"path/filepath"
	"strconv"
	"time"

	"satelle/internal/tomledit"
)

// Grok keeps the folders that a person trusts in a file of its own. Hooks in
// the person's home need no trust.

func (j *job) grokFolders(p *plan) (*file, error) {
	return j.personal(p, filepath.Join(j.Home, ".grok", "trusted_folders.toml"))
}

func grokTrust(j *job, p *plan) error {
	if j.Scope == User {
		return nil
	}
	f, err := j.grokFolders(p)
	if err != nil {
		return err
	}
	return f.edit(func(doc []byte) ([]byte, error) {
		if _, found, err := tomledit.Get(doc, "folders", j.root, "decided_at"); err != nil || !found {
			if err != nil {
				return nil, refuse(err)
			}
			if doc, err = setTOML(doc, strconv.FormatInt(time.Now().Unix(), 10), "folders", j.root, "decided_at"); err != nil {
				return nil, err
			}
		}
		return setTOML(doc, "true", "folders", j.root, "trusted")
	})
}

func grokUntrust(j *job, p *plan) error {
	if j.Scope == User {
		return nil
	}
	f, err := j.grokFolders(p)
	if err != nil {
		return err
	}
	return f.edit(func(doc []byte) ([]byte, error) {
		doc, err := unsetTOML(doc, "folders", j.root, "trusted")
		if err != nil {
			return nil, err
		}
		return unsetTOML(doc, "folders", j.root, "decided_at")
	})
}

func grokTrusted(j *job, _ []byte) (bool, error) {
	if j.Scope == User {
		return true, nil
	}
	f, err := j.grokFolders(&plan{})
	if err != nil {
		return false, err
	}
	value, _, err := tomledit.Get(f.before, "folders", j.root, "trusted")
	return value == "true", err
}
