package decide

import (
	"errors"

	"satelle/hooks/dialect"
)

// MayWrite refuses the agent that env.Worker names to change a file, by its
// absolute path, where its hook would refuse a tool that edits it, in the same
// words: for agents that have satelle write their files. dir is where it works.
func MayWrite(env Env, dir, path string) error {
	env.Register, env.Observe = nil, nil
	act := Act{Kind: Edits, Paths: []string{path}, What: path}
	c := dialect.Call{Event: dialect.PreTool, Tool: "fs/write_text_file", CWD: dir}
	w, err := newWorld(env, dir)
	var here Spot
	if err == nil {
		here, err = w.here(true)
	}
	f := w.gather(act, here, err)
	switch d := Decide(c, f); {
	case d.Deny:
		return errors.New(d.Reason)
	case !f.governed():
		return errors.New("satelle governs no work tree there")
	}
	return nil
}
