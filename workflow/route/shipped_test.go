package route

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shippedSource is the route that a project begins with.
func shippedSource() Source {
	files := Shipped()
	return Source{Done: files["workflows/done.md"], Step: files["workflows/step.md"]}
}

// outline shows a lane in one line a step: its name, who performs it, what
// judges entry to it.
func outline(l Lane) string {
	var b strings.Builder
	for _, s := range l.Steps {
		fmt.Fprintf(&b, "%s", s.Name)
		if s.Agent != "" {
			fmt.Fprintf(&b, " by %s", s.Agent)
		}
		for _, g := range s.Gates {
			fmt.Fprintf(&b, " [%s]", g.Skill)
			if !g.Mandatory {
				b.WriteString("?")
			}
		}
		for _, name := range s.Reviewers {
			fmt.Fprintf(&b, " <%s>", name)
		}
		b.WriteString("\n")
	}
	if l.Park != nil {
		fmt.Fprintf(&b, "park %s", l.Park.State)
		if l.Park.Skill != "" {
			fmt.Fprintf(&b, " <%s>", l.Park.Skill)
		}
		b.WriteString("\n")
	}
	if l.Cancel != "" {
		fmt.Fprintf(&b, "cancel %s\n", l.Cancel)
	}
	return b.String()
}

func TestShipped(t *testing.T) {
	files := slices.Sorted(maps.Keys(Shipped()))
	if want := []string{"principles/satelle-route-standard.md", "workflows/done.md", "workflows/step.md"}; !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	route, err := Parse(shippedSource())
	if err != nil {
		t.Fatal(err)
	}
	const exits = "park blocked\ncancel cancelled\n"
	want := map[string]string{
		"*":         "backlog\nin_progress by executor [structure]\ndone [done-check]\n" + exits,
		"docs":      "backlog\nin_progress by executor [structure]\ndone [prose-only]\n" + exits,
		"epic":      "backlog\ndone [children]\n" + exits,
		"substrate": "backlog\nin_progress by executor [structure] [human]\ndone [human]\n" + exits,
	}
	if got := route.Categories(); !slices.Equal(got, []string{"*", "docs", "epic", "substrate"}) {
		t.Errorf("categories %q", got)
	}
	for category, want := range want {
		lane, err := route.Lane(category, []string{"surface:ui"})
		if err != nil {
			t.Fatal(err)
		}
		if got := outline(lane); got != want {
			t.Errorf("lane %s:\n%s\nwant:\n%s", category, got, want)
		}
		for name, skill := range lane.Skills {
			if skill.Kind != KindBuiltin || skill.Name != name || skill.Digest == "" {
				t.Errorf("lane %s names %+v: the shipped route needs no file and no model", category, skill)
			}
		}
	}
	other, err := route.Lane("chore", nil)
	if err != nil || other.Category != AnyCategory {
		t.Errorf("a category without a lane: %q, %v", other.Category, err)
	}
}
