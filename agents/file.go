package agents

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"satelle/internal/fault"
	"satelle/internal/nearest"
	"satelle/internal/tomledit"
)

// MaxSize bounds an agents.toml.
const MaxSize = 1 << 20

// table is a table as it stands in the file. Pointers tell a key that is absent
// from one that is empty.
type table struct {
	Interface        *string           `toml:"interface"`
	Command          *string           `toml:"command"`
	Harness          *string           `toml:"harness"` // the older name of command
	Role             *string           `toml:"role"`
	Tools            *string           `toml:"tools"`
	Model            *string           `toml:"model"`
	Effort           *string           `toml:"effort"`
	Secondary        *string           `toml:"secondary"`
	Principles       *string           `toml:"principles"`
	InjectPrinciples *bool             `toml:"inject_principles"` // false is the older form of principles = "none"
	Env              map[string]string `toml:"env"`
	Timeout          *string           `toml:"timeout"`
	Settings         *string           `toml:"settings"`
	Worktree         *bool             `toml:"worktree"`
	MaxTokens        *int64            `toml:"max_tokens"`
}

// keys are those of a binding that an error proposes.
var keys = []string{
	"interface", "command", "role", "tools", "model", "effort", "secondary", "principles",
	"inject_principles", "env", "timeout", "settings", "worktree", "max_tokens",
}

// Load reads, parses and validates the file at path, without a catalogue.
func Load(path string) (File, error) {
	fd, err := os.Open(path)
	if err != nil {
		return File{}, fault.Wrap(err, nil, "reading the bindings")
	}
	defer fd.Close()
	doc, err := io.ReadAll(io.LimitReader(fd, MaxSize+1))
	if err != nil {
		return File{}, fault.Wrap(err, nil, "reading the bindings")
	}
	f, err := Parse(path, doc)
	if err != nil {
		return File{}, err
	}
	return f, f.Validate()
}

// Parse reads an agents.toml; path only names it in errors. What it returns
// holds values of the right types for known keys; Validate tells whether the
// bindings could run.
func Parse(path string, doc []byte) (File, error) { return Catalogue{}.Parse(path, doc) }

// Parse reads an agents.toml and lets the catalogue fill what it leaves open.
func (c Catalogue) Parse(path string, doc []byte) (File, error) {
	f := File{Path: path}
	l := layer{path: path, doc: doc, tables: map[string]table{}}
	if err := l.decode(&l.tables); err != nil {
		return File{}, err
	}
	silent := map[string]bool{} // they set no secondary, not even none
	add := func(l layer, name string, t table) error {
		b, err := l.binding(name, t)
		if err != nil {
			return err
		}
		silent[name] = t.Secondary == nil
		for key := range t.Env {
			if _, ours := l.tables[name].Env[key]; !ours || len(l.under) > 0 {
				b.Private = append(b.Private, key)
			}
		}
		if l.tables[name].Harness != nil {
			f.Warnings = append(f.Warnings, l.fail(l.line(name, "harness"), "[%s] harness is the older name of command", name).Error())
		}
		f.Bindings = append(f.Bindings, b)
		return nil
	}
	for _, name := range l.names() {
		if err := add(l, name, filled(l.tables[name], c.tables[name])); err != nil {
			return File{}, err
		}
	}
	for _, name := range c.names() {
		if _, ours := l.tables[name]; ours {
			continue
		}
		if err := add(c.layer, name, c.tables[name]); err != nil {
			return File{}, err
		}
	}
	if key := l.foreignDefault(); key != "" {
		return File{}, l.fail(l.line(Defaults, key), "unknown key %q in [defaults]: it may set secondary", key)
	}
	f.Warnings = append(f.Warnings, l.literalSecrets()...)
	f.cli = cmp.Or(c.CLI, claude)
	for i, b := range f.Bindings {
		if b.Name == Reviewer && b.Command == "" {
			f.Bindings[i] = f.withTemplate(b)
		}
	}
	if d := filled(l.tables[Defaults], c.tables[Defaults]); d.Secondary != nil {
		f.failOver(*d.Secondary, silent)
	}
	return f, nil
}

// withTemplate is a reviewer without a command, with that of the CLI that this
// machine's person has chosen.
func (f File) withTemplate(b Binding) Binding {
	cli := cmp.Or(f.cli, claude)
	b.Command = templates[cli]
	if env := maps.Clone(templateEnv[cli]); env != nil {
		maps.Copy(env, b.Env)
		b.Env = env
	}
	return b
}

// failOver gives the secondary to those of the bindings whose role it has: a
// reviewer is not stood in for by who may write.
func (f *File) failOver(secondary string, to map[string]bool) {
	standIn, found := f.Binding(secondary)
	for i, b := range f.Bindings {
		if to[b.Name] && b.Name != secondary && b.Command != InLoop && (!found || standIn.Role == b.Role) {
			f.Bindings[i].Secondary = secondary
		}
	}
}

// layer is one file that holds tables of bindings.
type layer struct {
	path   string
	doc    []byte
	under  []string // the tables' parent
	tables map[string]table
}

func (l layer) line(path ...string) int {
	return max(1, tomledit.Line(l.doc, append(slices.Clone(l.under), path...)...))
}

func (l layer) fail(line int, format string, args ...any) error {
	return File{Path: l.path}.fail(line, format, args...)
}

// names are the names of the bindings as they follow one another in the file.
func (l layer) names() []string {
	lines := map[string]int{}
	for name := range l.tables {
		if name != Defaults {
			lines[name] = l.line(name)
		}
	}
	return slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(lines[a]-lines[b], strings.Compare(a, b))
	})
}

// decode fills v and turns the errors of the decoder into ours.
func (l layer) decode(v any) error {
	if len(l.doc) > MaxSize {
		return l.fail(1, "the file has more than %d bytes", MaxSize)
	}
	d := toml.NewDecoder(bytes.NewReader(l.doc))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var unknown *toml.StrictMissingError
	var at *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := unknown.Errors[0]
		row, _ := first.Position()
		path := first.Key()
		if len(path) <= len(l.under)+1 { // outside of a binding
			return l.fail(row, "unknown key %q", strings.Join(path, "."))
		}
		table, key := path[len(l.under)], path[len(l.under)+1]
		near, _ := nearest.Word(key, keys)
		return l.fail(row, "unknown key %q in [%s]: did you mean %q?", key, table, near)
	case errors.As(err, &at):
		row, _ := at.Position()
		return l.fail(row, "%s", strings.TrimPrefix(at.Error(), "toml: "))
	case err != nil:
		return l.fail(1, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return nil
}

// foreignDefault returns a key of [defaults] that has no meaning there.
func (l layer) foreignDefault() string {
	var all map[string]map[string]any
	// The document was decoded before.
	_ = toml.Unmarshal(l.doc, &all)
	for _, key := range append(slices.Clone(keys), "harness") {
		if _, found := all[Defaults][key]; found && key != "secondary" {
			return key
		}
	}
	return ""
}

// binding turns a table into a binding, with the defaults filled in.
func (l layer) binding(name string, t table) (Binding, error) {
	b := Binding{
		Name: name, Tools: value(t.Tools), Model: value(t.Model), Effort: value(t.Effort), Env: t.Env, Secondary: value(t.Secondary),
		Settings: value(t.Settings), Worktree: value(t.Worktree), Path: l.path, Line: l.line(name),
	}
	bad := func(key, format string, args ...any) (Binding, error) {
		return Binding{}, l.fail(l.line(name, key), "[%s] "+format, append([]any{name}, args...)...)
	}
	if !isName(name) {
		return Binding{}, l.fail(b.Line, "%q is no name of a binding: use lower-case letters, digits and hyphens", name)
	}

	switch {
	case t.Command != nil:
		b.Command = *t.Command
	case t.Harness != nil:
		b.Command = *t.Harness
	case name == Executor:
		b.Command = InLoop
	}
	b.Command = strings.TrimSpace(b.Command)

	var ok bool
	if b.Interface, ok = choose(t.Interface, InterfaceCommand, InterfaceACP); !ok {
		return bad("interface", "interface %q: use %s or %s", b.Interface, InterfaceCommand, InterfaceACP)
	}
	if b.Role, ok = choose(t.Role, RoleAgent, RoleReviewer); !ok {
		return bad("role", "role %q: use %s or %s", b.Role, RoleAgent, RoleReviewer)
	}
	if name == Reviewer {
		if t.Role != nil && b.Role != RoleReviewer {
			return bad("role", "has the role %s: its role is %s", b.Role, RoleReviewer)
		}
		b.Role = RoleReviewer
	}
	if b.Principles, ok = choose(t.Principles, PrinciplesSession, PrinciplesNone); !ok {
		return bad("principles", "principles %q: use %s or %s", b.Principles, PrinciplesSession, PrinciplesNone)
	}
	if t.InjectPrinciples != nil {
		if t.Principles != nil && *t.InjectPrinciples != (b.Principles == PrinciplesSession) {
			return bad("inject_principles", "inject_principles contradicts principles = %q", b.Principles)
		}
		if !*t.InjectPrinciples {
			b.Principles = PrinciplesNone
		}
	}
	b.Timeout = PerformerTimeout
	if b.Role == RoleReviewer {
		b.Timeout = ReviewerTimeout
	}
	if t.Timeout != nil {
		d, err := time.ParseDuration(*t.Timeout)
		if err != nil || d <= 0 {
			return bad("timeout", "timeout %q: write a duration above zero, like \"10m\"", *t.Timeout)
		}
		b.Timeout = d
	}
	if t.MaxTokens != nil {
		if *t.MaxTokens <= 0 {
			return bad("max_tokens", "max_tokens %d: write a number above zero", *t.MaxTokens)
		}
		b.MaxTokens = *t.MaxTokens
	}
	for _, key := range slices.Sorted(maps.Keys(t.Env)) {
		switch {
		case !isVariable(key):
			return bad("env", "env %q is no name of a variable", key)
		case strings.HasPrefix(key, "SATELLE_"):
			return bad("env", "env %s: satelle sets its own variables itself", key)
		case unclosed(t.Env[key]):
			return bad("env", "env %s holds a ${ that no } ends", key)
		}
	}
	return b, nil
}

// value is what a pointer of a table holds, the zero value for an absent key.
func value[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// choose returns the value, the first one allowed if there is none, and whether
// it is allowed.
func choose(value *string, allowed ...string) (string, bool) {
	if value == nil {
		return allowed[0], true
	}
	return *value, slices.Contains(allowed, *value)
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}

func isVariable(s string) bool {
	for i, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}
