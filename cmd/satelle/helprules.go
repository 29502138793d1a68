package main

import (
	"fmt"
	"io"
	"strings"

	"satelle/hooks/shell"
	"satelle/internal/fault"
	"satelle/internal/nearest"
)

// ruleColumn is where the reasons begin in the list of rules.
const ruleColumn = 20

// printRules lists the rules by which shell commands are judged.
func printRules(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\nThe rules of the shell\n----------------------\n")
	b.WriteString("A shell command is parsed and judged by the table below; what no rule lets read\n" +
		"changes files. A denial names the rule that decided, and\n\n" +
		"  satelle help hooks RULE\n\nshows its programs, with a command that reads and one that does not.\n\n")
	for _, r := range shell.Rules() {
		name := fmt.Sprintf("  %-*s", ruleColumn-3, r.Name)
		for _, line := range wrapped(r.Why, 80-ruleColumn) {
			fmt.Fprintf(&b, "%-*s%s\n", ruleColumn, name, line)
			name = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printRule shows one rule.
func printRule(w io.Writer, name string) error {
	var names []string
	for _, r := range shell.Rules() {
		if r.Name != name {
			names = append(names, r.Name)
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n%s\n", r.Name, strings.Repeat("=", len(r.Name)))
		for _, line := range wrapped(r.Why+".", 80) {
			fmt.Fprintln(&b, line)
		}
		b.WriteString("\n")
		label := "programs"
		for _, line := range wrapped(r.Programs, 80-10) {
			fmt.Fprintf(&b, "%-10s%s\n", label, line)
			label = ""
		}
		fmt.Fprintf(&b, "%-10s%s\n%-10s%s\n", "reads", r.Reads, "changes", r.Changes)
		_, err := io.WriteString(w, b.String())
		return err
	}
	hint := "satelle help hooks"
	if near, edits := nearest.Word(name, names); edits < 3 {
		hint += " " + near
	}
	return fault.Try(fault.New(fault.NotFound, "there is no rule %q", name), hint)
}

// wrapped breaks a text at blanks, into lines of at most width bytes where it
// has blanks enough.
func wrapped(text string, width int) []string {
	var lines []string
	for _, field := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(field) <= width {
			lines[n-1] += " " + field
		} else {
			lines = append(lines, field)
		}
	}
	return lines
}
