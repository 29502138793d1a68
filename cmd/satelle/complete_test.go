package main

import (
	"strings"
	"testing"
)

// TestHelpNamesEachKind keeps satelle help ledger in step with what is offered
// behind --kind.
func TestHelpNamesEachKind(t *testing.T) {
	t.Parallel()
	b, err := topics.ReadFile("topics/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range recordKinds {
		if !strings.Contains(string(b), kind) {
			t.Errorf("satelle help ledger does not name %s", kind)
		}
	}
}
