package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"satelle/agents"
)

//go:embed bindings.toml
var bindingsFile []byte

// The cells of the bench, by the bindings that they run.
const (
	Office     = "planner"
	Challenger = "planner-grok-acp"
)

// bindings reads those of the cells, as agents.toml is read.
func bindings() (agents.File, error) {
	f, err := agents.Parse("bindings.toml", bindingsFile)
	if err != nil {
		return f, err
	}
	return f, f.Validate()
}

// selected are the cells that a list names, "" for all.
func selected(list string) ([]string, error) {
	known := []string{Office, Challenger}
	if list == "" {
		return known, nil
	}
	names := strings.Split(list, ",")
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("no cell %q: there are %s", n, strings.Join(known, " and "))
		}
	}
	return names, nil
}
