package engine

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow"
)

const (
	// agentsFile is where the bindings stand, from the work tree's root.
	agentsFile = ".satelle/workflows/agents.toml"
	// localFile holds what belongs on this machine alone. Git ignores it.
	localFile = "satelle.local.toml"
	// catalogueFile is in $SATELLE_HOME.
	catalogueFile = "config.toml"
)

// agents reads agents.toml, with what the machine's catalogue adds; a missing
// file binds nobody.
func (s substrate) agents() (agents.File, error) {
	c, err := s.catalogue()
	if err != nil {
		return agents.File{}, err
	}
	b, err := readBounded(filepath.Join(s.dir, "workflows", "agents.toml"), maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return agents.File{}, err
	}
	file, err := c.Parse(agentsFile, b)
	if err == nil {
		err = file.Validate()
	}
	return file, fault.Wrap(err, fault.Refused, "reading the bindings")
}

// catalogue reads the machine's config.toml; a missing one adds nothing.
func (s substrate) catalogue() (agents.Catalogue, error) {
	path := filepath.Join(s.home, catalogueFile)
	b, err := readBounded(path, maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return agents.Catalogue{}, err
	}
	c, err := agents.ParseCatalogue(path, b)
	return c, fault.Wrap(err, fault.Refused, "reading the machine's configuration")
}

// vars are [vars] of satelle.toml under those of satelle.local.toml, key by
// key. They are read anew each time, since no record holds them.
func (s substrate) vars() (agents.Vars, error) {
	v := agents.Vars{Values: map[string]string{}}
	maps.Copy(v.Values, s.config.Vars)
	path := filepath.Join(s.dir, localFile)
	b, err := readBounded(path, maxConfig)
	if fault.Is(err, fault.NotFound) {
		return v, nil
	}
	if err != nil {
		return agents.Vars{}, err
	}
	var local struct {
		Vars map[string]string `toml:"vars"`
	}
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := d.Decode(&local); err != nil {
		return agents.Vars{}, fault.New(fault.Refused, "%s: %s", path, tomlReason(err))
	}
	maps.Copy(v.Values, local.Vars)
	v.Secret = slices.Sorted(maps.Keys(local.Vars))
	return v, nil
}

// bound tells the rules of each agent that agents.toml binds.
func (s substrate) bound() (map[string]workflow.Bound, error) {
	file, err := s.agents()
	if err != nil {
		return nil, err
	}
	vars, err := s.vars()
	if err != nil {
		return nil, err
	}
	out := map[string]workflow.Bound{}
	for _, b := range file.Bindings {
		bound := workflow.Bound{
			InLoop: b.Command == agents.InLoop, Reviewer: b.Role == agents.RoleReviewer, Secondary: b.Secondary, Timeout: b.Timeout,
		}
		if !bound.InLoop && !bound.Reviewer {
			bound.Refusal = s.refusal(file, b, vars)
		}
		out[b.Name] = bound
	}
	return out, nil
}

// refusal tells why a binding can't perform a step here, if so.
func (s substrate) refusal(file agents.File, b agents.Binding, vars agents.Vars) error {
	if err := b.Dispatchable(); err != nil {
		return fault.Try(err, "satelle agent validate")
	}
	if _, err := file.Resolve(b.Name, vars); err != nil {
		return err
	}
	return s.startable(b)
}
