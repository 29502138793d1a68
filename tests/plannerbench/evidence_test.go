package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"satelle/agents"
)

// fields are the names of a form's fields, those of its parts with theirs before
// them.
func fields(t reflect.Type, prefix string) (all []string) {
	for f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, prefix+name)
		inner := f.Type
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() != "time" {
			all = append(all, fields(inner, prefix+name+".")...)
		}
	}
	return all
}

func fieldsOf(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func TestEvidenceNamesEveryField(t *testing.T) {
	b, err := os.ReadFile("EVIDENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "### The record")
	record, report, _ := strings.Cut(text, "### The report")
	for _, form := range []struct {
		of   any
		text string
	}{{Record{}, record}, {Report{}, report}} {
		named := fields(reflect.TypeOf(form.of), "")
		if len(named) < 6 {
			t.Errorf("%T has the fields %q", form.of, named)
		}
		for _, name := range named {
			if !strings.Contains(form.text, "`"+name+"`") {
				t.Errorf("EVIDENCE.md does not tell what %s of a %T is", name, form.of)
			}
		}
	}
}

// Who wants the challenger for a while copies its table.
func TestChallengerServesAsPlanner(t *testing.T) {
	file, err := bindings()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Office, Challenger} {
		if _, found := file.Binding(name); !found {
			t.Errorf("bindings.toml has no [%s]", name)
		}
	}
	_, table, _ := strings.Cut(string(bindingsFile), "["+Challenger+"]")
	copied, err := agents.Parse("agents.toml", []byte("[executor]\ncommand = \"in-loop\"\n\n[reviewer]\n\n[planner]"+table))
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Validate(); err != nil {
		t.Error(err)
	}
	if b, _ := copied.Binding("planner"); b.Interface != agents.InterfaceACP || !strings.HasPrefix(b.Command, "grok ") {
		t.Errorf("%+v", b)
	}
	evidence, err := os.ReadFile("EVIDENCE.md")
	if err != nil || !strings.Contains(string(evidence), "copies the table `["+Challenger+"]` of `bindings.toml`") {
		t.Errorf("EVIDENCE.md does not say how: %v", err)
	}
}
