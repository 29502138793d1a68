package install

import (
	"path/filepath"

	"satelle/hooks/dialect"
	"satelle/internal/fault"
	"satelle/internal/tomledit"
)

// Install puts satelle's hooks, and what they need on this machine, in place.
// On an error before the first write nothing was changed; one while writing
// leaves whole files only, and installing again completes them.
func Install(o Options) (Report, error) {
	j, err := o.resolve()
	if err != nil {
		return Report{}, err
	}
	p := &plan{}
	// What the hooks call comes first: a hook never names what is not there.
	if err := j.engine(p); err != nil {
		return Report{}, err
	}
	for _, h := range j.harnesses {
		if err := j.install(p, h); err != nil {
			return Report{}, err
		}
	}
	return p.carryOut(j.DryRun)
}

func (j *job) install(p *plan, h harness) error {
	if err := j.launcher(p, h); err != nil {
		return err
	}
	f, err := j.settings(p, h.settings(j))
	if err != nil {
		return err
	}
	err = f.edit(func(doc []byte) ([]byte, error) { return h.install(doc, dialect.Command(j.Uninstalled)) })
	if err != nil {
		return err
	}
	if h.extra != nil {
		if err := h.extra(j, p); err != nil {
			return err
		}
	}
	if h.off != nil {
		off, err := h.off(j)
		if err != nil {
			return err
		}
		if off != "" {
			p.note(off + " turns every hook of " + h.name + " off")
		}
	}
	if j.Trust && h.trust != nil {
		return h.trust(j, p)
	}
	trusted, err := h.trusted(j, f.after)
	if err == nil && !trusted {
		p.note(h.untrusted)
	}
	return err
}

// Remove takes satelle's hooks and launchers out again. The engine stays: the
// hooks of other repositories call it.
func Remove(o Options) (Report, error) {
	j, err := o.resolve()
	if err != nil {
		return Report{}, err
	}
	p := &plan{}
	for _, h := range j.harnesses {
		f, err := j.settings(p, h.settings(j))
		if err != nil {
			return Report{}, err
		}
		if err := f.edit(h.remove); err != nil {
			return Report{}, err
		}
		for _, undo := range []func(*job, *plan) error{h.unextra, h.untrust, func(j *job, p *plan) error { return j.unlaunch(p, h) }} {
			if undo == nil {
				continue
			}
			if err := undo(j, p); err != nil {
				return Report{}, err
			}
		}
	}
	return p.carryOut(j.DryRun)
}

// settings plans a file of a harness: one in the repository must stay in it.
func (j *job) settings(p *plan, path string) (*file, error) {
	if j.Scope == User {
		return j.personal(p, path)
	}
	return p.settings(path, j.root, j.root, 0o644)
}

// personal plans a file in the person's home, or in the folder that the person
// made for Codex. That one stays when it is emptied: Codex does not start
// without it.
func (j *job) personal(p *plan, path string) (*file, error) {
	keep := j.Home
	if j.Options.CodexHome != "" && filepath.Dir(path) == j.Options.CodexHome {
		keep = j.Options.CodexHome
	}
	return p.settings(path, "", keep, 0o600)
}

// setTOML and unsetTOML are the edits of tomledit; a document that does not
// allow them is refused.
func setTOML(doc []byte, value string, path ...string) ([]byte, error) {
	doc, err := tomledit.Set(doc, value, path...)
	return doc, refuse(err)
}

func unsetTOML(doc []byte, path ...string) ([]byte, error) {
	doc, err := tomledit.Unset(doc, path...)
	return doc, refuse(err)
}

func refuse(err error) error { return fault.Wrap(err, fault.Refused, "editing") }
