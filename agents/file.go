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
	Tools            string            `toml:"tools"`
	Model            string            `toml:"model"`
	Effort           string            `toml:"effort"`
	Secondary        *string           `toml:"secondary"`
	Principles       *string           `toml:"principles"`
	InjectPrinciples *bool             `toml:"inject_principles"` // false is the older form of principles = "none"
	Env              map[string]string `toml:"env"`
	Timeout          *string           `toml:"timeout"`
	Settings         string            `toml:"settings"`
	Worktree         bool              `toml:"worktree"`
	MaxTokens        *int64            `toml:"max_tokens"`
}

// keys are those of a binding that an error proposes.
var keys = []string{
	"interface", "command", "role", "tools", "model", "effort", "secondary", "principles",
	"inject_principles", "env", "timeout", "settings", "worktree", "max_tokens",
}

// Load reads, parses and validates the file at path.
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
func Parse(path string, doc []byte) (File, error) {
	f := File{Path: path}
	if len(doc) > MaxSize {
		return File{}, f.fail(1, "the file has more than %d bytes", MaxSize)
	}
	tables := map[string]table{}
	if err := f.decode(doc, &tables); err != nil {
		return File{}, err
	}
	secondary := ""
	if t, found := tables[Defaults]; found {
		if key := foreignDefault(doc); key != "" {
			return File{}, f.fail(tomledit.Line(doc, Defaults, key), "unknown key %q in [defaults]: it may set secondary", key)
		}
		if t.Secondary != nil {
			secondary = *t.Secondary
		}
		delete(tables, Defaults)
	}
	for _, name := range inOrder(doc, tables) {
		t := tables[name]
		b, err := f.binding(doc, name, t)
		if err != nil {
			return File{}, err
		}
		if t.Secondary == nil && b.Name != secondary && b.Command != InLoop {
			b.Secondary = secondary
		}
		f.Bindings = append(f.Bindings, b)
	}
	return f, nil
}

// inOrder are the names of the tables as they follow one another in the file.
func inOrder(doc []byte, tables map[string]table) []string {
	lines := map[string]int{}
	for name := range tables {
		lines[name] = tomledit.Line(doc, name)
	}
	return slices.SortedFunc(maps.Keys(tables), func(a, b string) int {
		return cmp.Or(lines[a]-lines[b], strings.Compare(a, b))
	})
}

// decode fills tables and turns the errors of the decoder into ours.
func (f File) decode(doc []byte, tables *map[string]table) error {
	d := toml.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	err := d.Decode(tables)
	var unknown *toml.StrictMissingError
	var at *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := unknown.Errors[0]
		row, _ := first.Position()
		path := first.Key()
		key := path[len(path)-1]
		if len(path) > 2 {
			key = path[1]
		}
		near, _ := nearest.Word(key, keys)
		return f.fail(row, "unknown key %q in [%s]: did you mean %q?", key, path[0], near)
	case errors.As(err, &at):
		row, _ := at.Position()
		return f.fail(row, "%s", strings.TrimPrefix(at.Error(), "toml: "))
	case err != nil:
		return f.fail(1, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return nil
}

// foreignDefault returns a key of [defaults] that has no meaning there.
func foreignDefault(doc []byte) string {
	var all map[string]map[string]any
	// The document was decoded before.
	_ = toml.Unmarshal(doc, &all)
	for _, key := range append(slices.Clone(keys), "harness") {
		if _, found := all[Defaults][key]; found && key != "secondary" {
			return key
		}
	}
	return ""
}

// binding turns a table into a binding, with the defaults filled in.
func (f *File) binding(doc []byte, name string, t table) (Binding, error) {
	b := Binding{
		Name: name, Tools: t.Tools, Model: t.Model, Effort: t.Effort, Env: t.Env,
		Settings: t.Settings, Worktree: t.Worktree, Line: max(1, tomledit.Line(doc, name)),
	}
	bad := func(key, format string, args ...any) (Binding, error) {
		return Binding{}, f.fail(max(1, tomledit.Line(doc, name, key)), "[%s] "+format, append([]any{name}, args...)...)
	}
	if !isName(name) {
		return Binding{}, f.fail(b.Line, "%q is no name of a binding: use lower-case letters, digits and hyphens", name)
	}

	switch {
	case t.Command != nil:
		b.Command = *t.Command
	case t.Harness != nil:
		b.Command = *t.Harness
	case name == Reviewer:
		b.Command = DefaultClaudeCommand
	case name == Executor:
		b.Command = InLoop
	}
	b.Command = strings.TrimSpace(b.Command)
	if t.Harness != nil {
		f.Warnings = append(f.Warnings, f.fail(tomledit.Line(doc, name, "harness"), "[%s] harness is the older name of command", name).Error())
	}

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
	if t.Secondary != nil {
		b.Secondary = *t.Secondary
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
	return b, nil
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
