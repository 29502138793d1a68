package route

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"satelle/internal/fault"
)

// maxProblems bounds what is told about one file; beyond it, nobody reads on.
const maxProblems = 50

// Problem is one thing that is wrong with the route, where it is, and what
// mends it.
type Problem struct {
	File string `json:"file"` // such as .satelle/workflows/step.md
	Line int    `json:"line"` // from 1
	What string `json:"what"`
	Mend string `json:"mend"`
}

func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s; %s", p.File, p.Line, p.What, p.Mend)
}

// Problems are all problems of a route, by file and line. As an error they are
// of the class fault.Refused: a route that cannot be read lets nothing pass.
type Problems []Problem

// Error has one line for each problem: file:line: what; mend.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Is gives Problems their class.
func (ps Problems) Is(target error) bool { return target == fault.Refused }

// report collects problems while the files are read.
type report struct {
	problems Problems
	perFile  map[string]int
}

func (r *report) add(file string, line int, what, mend string) {
	if r.perFile == nil {
		r.perFile = map[string]int{}
	}
	r.perFile[file]++
	switch n := r.perFile[file]; {
	case n == maxProblems:
		what, mend = "there are more problems than are told here", "mend these first"
	case n > maxProblems:
		return
	}
	p := Problem{File: file, Line: line, What: what, Mend: mend}
	if !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// err returns what was collected, in order, or nil.
func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.sorted()
}

// sorted is what was collected, in order.
func (r *report) sorted() Problems {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return r.problems
}
