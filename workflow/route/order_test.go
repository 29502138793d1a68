package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// order is the names of a lane's steps.
func order(l Lane) string {
	var names []string
	for _, s := range l.Steps {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// TestOrder: obligations in the order of the list, each after what it requires,
// the closing one last.
func TestOrder(t *testing.T) {
	tests := []struct{ owed, steps, want string }{
		{"raised coded closed", "backlog=raised< code=coded<raised done=closed<coded", "backlog code done"},
		{"closed", "done=closed<coded code=coded<raised backlog=raised<", "backlog code done"},
		{"raised b a closed", "backlog=raised< a=a<raised b=b<raised done=closed<raised", "backlog b a done"},
		{"raised a b closed", "b=b<raised a=a<raised done=closed<raised backlog=raised<", "backlog a b done"},
		{"raised a closed", "backlog=raised< a=a<c c=c<raised done=closed<a", "backlog c a done"},
		{"raised closed later", "backlog=raised< later=later<closed done=closed<raised", "backlog done later"},
		{"raised a b closed", "backlog=raised< ab=a,b<raised done=closed<raised", "backlog ab done"},
		{"raised x closed", "backlog=raised< x=x<b,a a=a<raised b=b<raised done=closed<", "backlog b a x done"},
	}
	for _, tt := range tests {
		r := mustParse(t, graph(tt.owed, tt.steps))
		if got := order(mustLane(t, r, "x")); got != tt.want {
			t.Errorf("%s over %s: %s, want %s", tt.owed, tt.steps, got, tt.want)
		}
	}
}

// graph writes a route from words: what is owed, and steps as
// name=provides<requires.
func graph(owed, steps string) Source {
	var done, step strings.Builder
	done.WriteString(front + "## *\n")
	for _, word := range strings.Fields(owed) {
		fmt.Fprintf(&done, "- %s\n", word)
	}
	step.WriteString(front)
	for _, s := range strings.Fields(steps) {
		name, rest, _ := strings.Cut(s, "=")
		provides, requires, _ := strings.Cut(rest, "<")
		fmt.Fprintf(&step, "## %s\nprovides: %s\n", name, provides)
		if requires != "" {
			fmt.Fprintf(&step, "requires: %s\n", requires)
		}
	}
	return Source{Done: []byte(done.String()), Step: []byte(step.String())}
}

// TestOrderLaw: over any acyclic graph, in whatever order it is written, each
// step comes after all that it requires, once, and the lane has exactly the
// steps that are owed, directly or not. Adding a circle is always found.
func TestOrderLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "steps")
		requires := make([][]string, n)
		var steps []string
		for i := range n {
			for j := range i {
				if rapid.Float64Range(0, 1).Draw(t, "edge") < 0.3 {
					requires[i] = append(requires[i], fmt.Sprint("o", j))
				}
			}
			requires[i] = rapid.Permutation(requires[i]).Draw(t, "requires")
			steps = append(steps, fmt.Sprintf("s%d=o%d<%s", i, i, strings.Join(requires[i], ",")))
		}
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("o", i))
		}
		owed := rapid.Permutation(all).Draw(t, "owed")
		src := graph(strings.Join(owed, " "), strings.Join(rapid.Permutation(steps).Draw(t, "written"), " "))
		r, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		lane, err := r.Lane("x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(lane.Steps) != n {
			t.Fatalf("%d steps of %d: %s", len(lane.Steps), n, order(lane))
		}
		var provided []string
		for _, s := range lane.Steps {
			for _, word := range s.Requires {
				if !slices.Contains(provided, word) {
					t.Fatalf("%s comes before its %s: %s", s.Name, word, order(lane))
				}
			}
			provided = append(provided, s.Provides...)
		}
		if again, err := Decode(Encode(lane)); err != nil || order(again) != order(lane) {
			t.Fatalf("pinned: %s, %v", order(again), err)
		}

		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := rapid.IntRange(from, n-1).Draw(t, "to")
		closing := fmt.Sprintf("extra=e<o%d s%d=o%d<%s", to, from, from, strings.Join(append(slices.Clone(requires[from]), "e"), ","))
		var rest []string
		for i, s := range steps {
			if i != from {
				rest = append(rest, s)
			}
		}
		if reaches(requires, to, from) {
			_, err = Parse(graph(strings.Join(owed, " "), strings.Join(rest, " ")+" "+closing))
			if err == nil || !strings.Contains(err.Error(), "in a circle: ") {
				t.Fatalf("a circle was not found: %v", err)
			}
		}
	})
}

// reaches reports whether step i requires step j, directly or not, or is it.
func reaches(requires [][]string, i, j int) bool {
	if i == j {
		return true
	}
	for _, word := range requires[i] {
		var k int
		fmt.Sscanf(word, "o%d", &k)
		if reaches(requires, k, j) {
			return true
		}
	}
	return false
}
