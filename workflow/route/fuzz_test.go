package route

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzParse: whatever the files hold, there is a route whose every lane can be
// pinned and read back, or problems that say where and what mends them.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fullDone), []byte(fullStep))
	f.Add(Shipped()["workflows/done.md"], Shipped()["workflows/step.md"])
	f.Add([]byte(goodDone), []byte(goodStep+"## gate a:b\non: done\n"))
	f.Add([]byte("---\n---\n##"), []byte(strings.Repeat("(", 100)))
	f.Fuzz(func(t *testing.T, done, step []byte) {
		src := fullSource()
		src.Done, src.Step = done, step
		r, err := Parse(src)
		if err != nil {
			checkProblems(t, err)
			return
		}
		for _, category := range append(r.Categories(), "no-such-category") {
			for _, tags := range [][]string{nil, {"surface:ui"}, {"risk:high", "surface:ui"}} {
				lane, err := r.Lane(category, tags)
				if err != nil {
					if slices.Contains(r.Categories(), category) {
						t.Fatalf("a route without problems has no lane %s for %q: %v", category, tags, err)
					}
					continue
				}
				if _, err := Decode(Encode(lane)); err != nil {
					t.Fatalf("lane %s cannot be read back: %v", category, err)
				}
			}
		}
	})
}

// FuzzSkill: a skill is whole, or its problems say where; a check is never
// taken for a rubric because somebody wrapped it.
func FuzzSkill(f *testing.F) {
	for _, s := range fullSource().Skills {
		f.Add(s)
	}
	f.Add([]byte("---\nname: s\noutput_name: x\nattempt_max_total: 3\n---\n````check\n```\n````\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r report
		s := parseSkill(&r, SkillPath("s"), "s", data)
		if err := r.err(); err != nil {
			checkProblems(t, err)
			return
		}
		if s.Digest == "" || s.Digest != digest(s) || s.Body == "" {
			t.Fatalf("%+v", s)
		}
		if s.Kind == KindCheck && (strings.TrimSpace(s.Check) == "" || !strings.Contains(s.Body, "check")) {
			t.Fatalf("check %q of %q", s.Check, s.Body)
		}
	})
}

// FuzzDecode: what is decoded is exactly what was encoded.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(pinnedV1))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lane, err := Decode(data)
		if err != nil {
			return
		}
		if !bytes.Equal(Encode(lane), data) {
			t.Fatal("two encodings of one lane")
		}
		if flaws := lane.flaws(); len(flaws) > 0 {
			t.Fatalf("%+v", flaws)
		}
	})
}

func checkProblems(t *testing.T, err error) {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	files := map[string]int{}
	for _, p := range ps {
		files[p.File]++
		if p.File == "" || p.Line < 1 || p.What == "" || p.Mend == "" || strings.ContainsAny(p.String(), "\n\x00\x1b") {
			t.Fatalf("%+v", p)
		}
	}
	if most := slices.Max(slices.Collect(maps.Values(files))); most > maxProblems {
		t.Fatalf("%d problems of one file", most)
	}
}
