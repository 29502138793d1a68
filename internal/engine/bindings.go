package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow"
	"satelle/workflow/route"
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
// key. Git ignores the latter, so that a linked work tree lacks it: there those of
// the main one lie in between. They are read anew each time, since no record holds
// them.
func (s substrate) vars() (agents.Vars, error) {
	v := agents.Vars{Values: map[string]string{}}
	maps.Copy(v.Values, s.config.Vars)
	secret := map[string]bool{}
	dirs := []string{s.dir}
	if len(s.trees) > 0 {
		dirs = slices.Compact([]string{filepath.Join(s.trees[0], ".satelle"), s.dir})
	}
	for _, dir := range dirs {
		local, err := localVars(dir)
		if err != nil {
			return agents.Vars{}, err
		}
		maps.Copy(v.Values, local)
		for name := range local {
			secret[name] = true
		}
	}
	v.Secret = slices.Sorted(maps.Keys(secret))
	return v, nil
}

// localVars are [vars] of a satelle.local.toml, none where there is no such file.
func localVars(dir string) (map[string]string, error) {
	path := filepath.Join(dir, localFile)
	b, err := readBounded(path, maxConfig)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var local struct {
		Vars map[string]string `toml:"vars"`
	}
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := d.Decode(&local); err != nil {
		return nil, fault.New(fault.Refused, "%s: %s", path, tomlReason(err))
	}
	return local.Vars, nil
}

// bindings are the agents, and the variables that theirs may name.
func (s substrate) bindings() (file agents.File, vars agents.Vars, err error) {
	if file, err = s.agents(); err == nil {
		vars, err = s.vars()
	}
	return file, vars, err
}

// executable is what a binding of the repository executes, if there is anything
// to trust in it.
func executable(file agents.File, b agents.Binding, vars agents.Vars) (x workflow.Executable, runs bool) {
	text := file.Executes(b, vars)
	if text == "" {
		return x, false
	}
	sum := sha256.Sum256([]byte("binding\n" + text))
	return workflow.Executable{Name: "agent " + b.Name, Digest: hex.EncodeToString(sum[:]), Text: text}, true
}

// trusted refuses a binding whose command nobody has trusted on this machine: a
// pull brings it, and it runs whatever it says.
func (e *Engine) trusted(ctx context.Context, file agents.File, b agents.Binding, vars agents.Vars) error {
	x, runs := executable(file, b, vars)
	if !runs {
		return nil
	}
	return e.View(ctx, func(st workflow.State, _ Lookup) error {
		if st.Trusted(x.Digest) {
			return nil
		}
		return fault.Try(fault.New(fault.Refused, "the command of [%s] is not trusted on this machine", b.Name), "satelle trust")
	})
}

// boundHere is what bound tells, where who may run is a question of trust, too.
func (e *Engine) boundHere(ctx context.Context) (map[string]workflow.Bound, error) {
	file, vars, err := e.sub.bindings()
	if err != nil {
		return nil, err
	}
	bound := e.sub.bound(file, vars)
	for _, b := range file.Bindings {
		if x := bound[b.Name]; !x.InLoop && !x.Reviewer && x.Refusal == nil {
			x.Refusal = e.trusted(ctx, file, b, vars)
			bound[b.Name] = x
		}
	}
	return bound, nil
}

// bound tells the rules of each agent that agents.toml binds.
func (s substrate) bound(file agents.File, vars agents.Vars) map[string]workflow.Bound {
	out := map[string]workflow.Bound{}
	for _, b := range file.Bindings {
		bound := workflow.Bound{
			InLoop: b.Command == agents.InLoop, Reviewer: b.Role == agents.RoleReviewer, Secondary: b.Secondary, Timeout: b.Timeout,
			Files: s.filesOf(b), Own: b.Own(),
		}
		if !bound.InLoop && !bound.Reviewer {
			bound.Refusal = s.refusal(file, b, vars)
		}
		out[b.Name] = bound
	}
	return out
}

// Validated is what a route that holds tells besides.
type Validated struct {
	Categories []string `json:"categories"`
	// Warnings are told by file and line; they refuse nothing.
	Warnings []string `json:"warnings"`
}

// Validate checks the route, its skills, the bindings, and who of them the route
// allots to what. Problems of the route's files are [route.Problems].
func (e *Engine) Validate() (Validated, error) {
	v := Validated{Warnings: []string{}}
	var err error
	if v.Categories, err = e.Categories(); err != nil {
		return v, err
	}
	file, err := e.sub.agents()
	if err != nil {
		return v, err
	}
	wrong, notes, err := e.sub.allot(file)
	if err == nil && len(wrong) > 0 {
		err = wrong
	}
	v.Warnings = append(v.Warnings, notes...)
	return v, err
}

// allot holds the route against the bindings.
func (s substrate) allot(file agents.File) (wrong route.Problems, notes []string, err error) {
	r, err := s.route()
	if err != nil {
		return nil, nil, err
	}
	holders := map[string]route.Holder{}
	for _, b := range file.Bindings {
		holders[b.Name] = route.Holder{InLoop: b.Command == agents.InLoop, Reviewer: b.Role == agents.RoleReviewer}
	}
	wrong, doubtful := r.Allot(holders)
	for _, p := range doubtful {
		notes = append(notes, p.String())
	}
	return wrong, notes, nil
}

// Bindings lists the bindings of agents.toml in the order of the file, then
// those of the machine's catalogue alone.
func (e *Engine) Bindings() ([]agents.Binding, error) {
	file, err := e.sub.agents()
	return file.Bindings, err
}

// CheckBindings is Bindings that also tells what is not right with them: as an
// error whatever would be refused when a story comes to it, as warnings what
// this machine lacks or is better written otherwise.
func (e *Engine) CheckBindings() (bindings []agents.Binding, warnings []string, err error) {
	file, err := e.sub.agents()
	if err != nil {
		return nil, nil, err
	}
	warnings = append([]string{}, file.Warn()...)
	vars, err := e.sub.vars()
	if err != nil {
		return nil, nil, err
	}
	for _, b := range file.Bindings {
		if b.Command == agents.InLoop || strings.TrimSpace(b.Command) == "" {
			continue // there is nothing to start, or Dispatchable says so
		}
		if _, err := file.Resolve(b.Name, vars); err != nil {
			warnings = append(warnings, err.Error())
			continue
		}
		if err := e.sub.startable(b); err != nil {
			warnings = append(warnings, err.Error())
		}
	}
	// A route that does not hold is workflow validate's to tell.
	if wrong, notes, err := e.sub.allot(file); err == nil {
		for _, p := range wrong {
			warnings = append(warnings, p.String())
		}
		warnings = append(warnings, notes...)
	}
	return file.Bindings, warnings, file.Dispatchable()
}

// nowhere stands for a text in a command: no file can have that name.
const nowhere = "\x00"

// filesOf are the files and folders of the work tree that a binding's command
// names, and what they link to.
func (s substrate) filesOf(b agents.Binding) (names []string) {
	if b.Command == agents.InLoop {
		return nil
	}
	var words []string
	for _, word := range b.Argv(agents.Values{System: nowhere, Payload: nowhere}) {
		words = append(words, word, word[strings.IndexByte(word, '=')+1:])
		if b.Own() { // it may be a line of a shell
			words = append(words, strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=", r) })...)
		}
	}
	top := filepath.Dir(s.dir)
	add := func(path string) {
		if name, err := filepath.Rel(top, path); err == nil && name != "." && filepath.IsLocal(name) {
			names = append(names, filepath.ToSlash(name))
		}
	}
	for _, word := range words {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(top, path)
		}
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() && !b.Own() && !strings.Contains(word, "/") {
			continue // such as the mode in `--agent plan`
		}
		add(path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			add(real)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// UseCLI writes the machine's choice of a headless CLI, and returns the file. A
// launcher for its ACP server that is there becomes a binding of the catalogue,
// unless one of its name is there: a path of this machine belongs in no
// repository. (Decision Q47.)
func UseCLI(home, cli string) (path string, err error) {
	if err := agents.KnownCLI(cli); err != nil {
		return "", err
	}
	s := substrate{home: home}
	if _, err := s.catalogue(); err != nil {
		return "", err
	}
	path = filepath.Join(home, catalogueFile)
	doc, err := readBounded(path, maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", err
	}
	launcher := filepath.Join(home, "agents", "bin", "satelle-"+cli)
	if _, err := os.Stat(launcher); err != nil {
		launcher = ""
	}
	if doc, err = agents.Choose(doc, cli, launcher); err != nil {
		return "", err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", fault.Wrap(err, nil, "making %s", home)
	}
	return path, fault.Wrap(writeAtomic(path, doc, 0o600), nil, "writing %s", path)
}

// refusal tells why a binding can't perform a step here, if so.
func (s substrate) refusal(file agents.File, b agents.Binding, vars agents.Vars) error {
	if _, err := file.Resolve(b.Name, vars); err != nil {
		return err
	}
	if err := b.Dispatchable(); err != nil {
		return fault.Try(err, "satelle agent validate")
	}
	return s.startable(b)
}
