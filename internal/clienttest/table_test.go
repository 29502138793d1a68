//go:build clients

package clienttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"satelle/hooks/liveness"
)

// page is what `go test -tags clients -run Enforcement ./internal/clienttest
// -update` writes.
const page = "../../docs/enforcement.md"

var update = flag.Bool("update", false, "write "+page+" from what is seen")

// What a cell of the table says besides what became of the calls.
const (
	isOpen   = "**open**"
	notTried = "–"
)

// A sheet is one table of the page.
type sheet struct {
	title         string
	corner        string
	rows, columns []string

	mu    sync.Mutex
	cells map[[2]string]string
	open  map[string][]string // the known openings by row
}

func newSheet(title, corner string) *sheet {
	return &sheet{title: title, corner: corner, cells: map[[2]string]string{}, open: map[string][]string{}}
}

// put notes what became of a way in a state, and fails the test where it is
// not what has to be. opening names the known opening that lets it run.
func (s *sheet) put(t *testing.T, h *harness, row, column, outcome string, runs bool, opening string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	want := wasDenied
	if runs || opening != "" {
		want = hasRun
	}
	if outcome != want {
		t.Errorf("%s, %s: %s, and it should be: %s", row, column, outcome, want)
	}
	if opening != "" && outcome == hasRun {
		outcome = isOpen
		if !slices.ContainsFunc(liveness.Openings, func(o liveness.Opening) bool { return o.Harness == h.name && o.What == opening }) {
			t.Errorf("%s, %s: doctor does not know of %q", row, column, opening)
		}
		if !slices.Contains(s.open[row], opening) {
			s.open[row] = append(s.open[row], opening)
		}
	}
	s.cells[[2]string{row, column}] = outcome
}

func (s *sheet) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n| %s | %s |\n|%s\n", s.title, s.corner, strings.Join(s.columns, " | "), strings.Repeat(" --- |", len(s.columns)+1))
	for _, row := range s.rows {
		fmt.Fprintf(b, "| %s |", row)
		for _, column := range s.columns {
			cell := s.cells[[2]string{row, column}]
			if cell == "" {
				cell = notTried
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		fmt.Fprintln(b)
	}
}

// A chapter is what the page says of one harness.
type chapter struct {
	of     *harness
	sheets []*sheet
}

const opening = `# What holds with each harness

Written by the tests with the real clients, and compared with what they see in each run of ` + "`make clients`" + `; to write it anew:
` + "`go test -tags clients -run Enforcement ./internal/clienttest -update`" + `.

Each cell is what became of real calls of the real client, which a scripted model made, without asking anybody: *denied*, it
did not happen and the model was told why; *runs*, it happened; **open**, it happened though nothing allows it, by the design
of the harness; –, not tried, since the state before it decides. Each repository has a blank in its path. Where something is
broken, a story holds the seat, and nothing can tell so any more. *reading* is a plain look at files and folders.

A program in the place of satelle-hook can answer whatever it likes, so what it prints is nobody's to close: the hook keeps the
agent's tools out of $SATELLE_HOME, and ` + "`satelle doctor`" + ` tries each hook. It also lists what is open here. What got through
is met at the git boundary and in CI.
`

// written is the page as far as it was seen.
func written(chapters []chapter) string {
	var b strings.Builder
	b.WriteString(opening)
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s %s\n", c.of.title, version(c.of.pin))
		for _, s := range c.sheets {
			s.write(&b)
		}
		c.reasons(&b)
	}
	return b.String()
}

// reasons lists what is open with a harness, and where that was seen.
func (c chapter) reasons(b *strings.Builder) {
	b.WriteString("\nOpen by its own design, what narrows it, and where that was seen:\n\n")
	for _, o := range liveness.Openings {
		if o.Harness != c.of.name {
			continue
		}
		var seen []string
		for _, s := range c.sheets {
			for _, row := range s.rows {
				if slices.Contains(s.open[row], o.What) {
					seen = append(seen, row)
				}
			}
		}
		if seen == nil && c.of == codeMode {
			continue // its own chapter has it
		}
		if seen == nil {
			seen = []string{"not in these tables"}
		}
		fmt.Fprintf(b, "- %s: %s. Narrowed by: %s. (%s)\n", o.What, o.Outcome, o.Narrows, strings.Join(seen, "; "))
	}
}

// version is that of a client's package, as pinned.
func version(name string) string {
	var pins struct{ Dependencies, OptionalDependencies map[string]string }
	doc, err := os.ReadFile("package.json")
	if err != nil {
		return err.Error()
	}
	if err := json.Unmarshal(doc, &pins); err != nil {
		return err.Error()
	}
	return pins.Dependencies[name] + pins.OptionalDependencies[name]
}

// settle writes the page or compares it. Where only a part of the sessions ran
// there is nothing to compare.
func settle(t *testing.T, chapters []chapter) {
	t.Helper()
	for _, c := range chapters {
		for _, s := range c.sheets {
			for _, row := range s.rows {
				if !slices.ContainsFunc(s.columns, func(column string) bool { return s.cells[[2]string{row, column}] != "" }) {
					t.Logf("%s, %s was not tried: the page is not compared", c.of.title, row)
					return
				}
			}
		}
	}
	got := written(chapters)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Error(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Error(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what was seen; write it anew with -update:\n%s", page, difference(string(want), got))
	}
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	var b strings.Builder
	old, now := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			fmt.Fprintln(&b, "-", line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			fmt.Fprintln(&b, "+", line)
		}
	}
	return b.String()
}
