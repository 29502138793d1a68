package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"satelle/hooks/dialect"
	"satelle/internal/fault"
)

// State is how things stand with one harness in one scope. The hooks work if
// Installed, Trusted and Engine are true and Off and Problem empty.
type State struct {
	Harness     string `json:"harness"`
	Scope       string `json:"scope"`
	File        string `json:"file"`
	Installed   bool   `json:"installed"`             // every event has a hook of satelle's
	Current     bool   `json:"current"`               // they are as this satelle writes them
	Uninstalled string `json:"uninstalled,omitempty"` // what they answer without satelle: Deny or Allow
	Trusted     bool   `json:"trusted"`               // the harness will run them
	Engine      bool   `json:"engine"`                // what they call can be executed
	EngineFresh bool   `json:"engine_current"`        // and is that of the running program
	Launcher    bool   `json:"launcher"`              // $SATELLE_HOME/agents/bin holds satelle's launcher
	Off         string `json:"off,omitempty"`         // the switch by which the harness runs no hooks at all
	Problem     string `json:"problem,omitempty"`     // why its settings can't be read
}

// Status tells how things stand with each harness of the options, in their
// scope. Settings that can't be read are a Problem of their harness, no error.
func Status(o Options) ([]State, error) {
	j, err := o.resolve()
	if err != nil {
		return nil, err
	}
	engine, fresh := j.engineState()
	var out []State
	for _, h := range j.harnesses {
		s := State{Harness: h.name, Scope: j.Scope, File: h.settings(j), Engine: engine, EngineFresh: fresh}
		if err := j.status(h, &s); err != nil {
			s.Problem = err.Error()
		}
		out = append(out, s)
	}
	return out, nil
}

func (j *job) status(h harness, s *State) error {
	f, err := j.ownLauncher(&plan{}, h)
	if err != nil {
		return err
	}
	s.Launcher = f != nil && bytes.Equal(f.before, h.launcherText())

	settings, err := j.settings(&plan{}, s.File)
	if err != nil {
		return err
	}
	doc := settings.before
	err = settings.edit(func([]byte) ([]byte, error) {
		have, err := h.read(doc)
		if err != nil {
			return nil, err
		}
		s.Installed = have.complete
		s.Current = have.current
		for _, answer := range []string{Deny, Allow} {
			if have.command == dialect.Command(answer) {
				s.Uninstalled = answer
			}
		}
		return nil, h.checkStrict(doc)
	})
	if err != nil {
		return err
	}
	if s.Installed {
		if s.Trusted, err = h.trusted(j, doc); err != nil {
			return err
		}
	}
	if h.off != nil {
		s.Off, err = h.off(j)
	}
	return err
}

// engineState reports whether engine and wrapper can be executed, and whether
// they are those of the running program.
func (j *job) engineState() (present, fresh bool) {
	for _, name := range []string{engineName, wrapperName} {
		info, err := os.Stat(j.bin(name))
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			return false, false
		}
	}
	have, err := os.ReadFile(j.bin(engineName))
	shell, shellErr := os.ReadFile(j.bin(wrapperName))
	source, sourceErr := j.engineSource()
	if err = errors.Join(err, shellErr, sourceErr); err != nil {
		return true, false
	}
	want, err := os.ReadFile(source)
	return true, err == nil && bytes.Equal(have, want) && bytes.Equal(shell, wrapper)
}

// engineSource is the hook's engine beside the running program.
func (j *job) engineSource() (string, error) {
	program, err := filepath.EvalSymlinks(j.Program)
	if err != nil {
		return "", fault.Wrap(err, nil, "finding the running program")
	}
	source := filepath.Join(filepath.Dir(program), engineName)
	info, err := os.Stat(source)
	if err != nil || !info.Mode().IsRegular() {
		return "", fault.Try(fault.New(fault.NotFound, "%s is not beside %s", engineName, program), "make build")
	}
	return source, nil
}
