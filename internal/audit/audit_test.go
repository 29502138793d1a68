package audit

import (
	"slices"
	"strings"
	"testing"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// scene is what a case of TestAudit arranges: a clone in which sty_a has made
// commit a on base, and is done. It may change all of it.
type scene struct {
	t    testing.TB
	ann  *clone
	in   Input
	repo repository
}

func newScene(t testing.TB) *scene {
	s := &scene{t: t, ann: newClone(t, "ann")}
	s.ann.start("sty_a", "*", "src")
	a := commit("a", "base")
	s.ann.prepare(&a, "sty_a", agent, workflow.Prepared{})
	s.in = Input{Base: "base", Head: "ca", Commits: []Commit{a}, Trusted: s.ann.keys(), Offered: Keys{}}
	return s
}

// finish ends the story and publishes the log, unless the case has published.
func (s *scene) run() Report {
	s.t.Helper()
	if s.in.Logs == nil {
		s.ann.done("sty_a")
		s.in.Logs = []*Log{s.ann.published()}
	}
	s.repo.commits = s.in.Commits
	rep, err := Run(s.t.Context(), s.in, &s.repo)
	if err != nil {
		s.t.Fatal(err)
	}
	return rep
}

func (s *scene) a() *Commit { return &s.in.Commits[0] }

// next adds a commit that follows on the one before.
func (s *scene) next(name string) *Commit {
	s.in.Commits = append(s.in.Commits, commit(name, s.in.Commits[len(s.in.Commits)-1].Hash))
	return &s.in.Commits[len(s.in.Commits)-1]
}

func replace(c *Commit, old, with string) {
	c.Message = strings.Replace(c.Message, old, with, 1)
}

func TestAudit(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(s *scene)
		want string // findings, separated by commas
		code int
	}{
		{"clean", func(*scene) {}, "", 0},
		{"a second commit", func(s *scene) { s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{}) }, "", 0},

		// Bound in other ways.
		{"trailers dropped", func(s *scene) { s.a().Message = "Change\n" }, "note no-trailer ca", 0},
		{"message amended without hooks", func(s *scene) { replace(s.a(), "Change", "Changed") }, "", 0},
		{"rebased without hooks", func(s *scene) { s.a().Tree, s.a().Parents = "tnew", []string{"elsewhere"} }, "note moved ca", 0},
		{"squashed by a forge", func(s *scene) {
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
			a, b := s.in.Commits[0], s.in.Commits[1]
			s.in.Commits = []Commit{{
				Hash: "cs", Tree: b.Tree, Parents: []string{"base"}, Paths: []string{"src/a", "src/b"},
				Message: "Squash (#1)\n\n* A\n\n" + trailersOf(a) + "\n* B\n\n" + trailersOf(b) + "\n\nCo-authored-by: Bo <bo@example.org>\n",
			}}
		}, "note moved cs", 0},
		{"squashed by a forge on a base that moved", func(s *scene) {
			b := s.next("b")
			s.ann.prepare(b, "sty_a", agent, workflow.Prepared{Whole: "[src/a src/b]"})
			s.in.Commits = []Commit{{Hash: "cs", Tree: "tother", Parents: []string{"moved"}, Paths: []string{"src/a", "src/b"}, Message: "Squash\n\n" + trailersOf(*b)}}
		}, "note moved cs", 0},
		{"squashed by a forge, which had merged the base into the request", func(s *scene) {
			a := s.in.Commits[0]
			m := Commit{Hash: "cm", Tree: "tm", Parents: []string{"ca", "base2"}, Message: "Update branch\n"}
			s.repo.heads = map[string][]Commit{"cs": {a, m}}
			s.in.Commits = []Commit{{Hash: "cs", Tree: "tm", Parents: []string{"base2"}, Paths: []string{"src/a", "src/z"}, Message: "Squash (#1)\n"}}
		}, "note moved cs", 0},
		{"squashed, and the request is not vouched for", func(s *scene) {
			a := s.in.Commits[0]
			b := commit("b", "ca")
			s.repo.heads = map[string][]Commit{"cs": {a, b}}
			s.in.Commits = []Commit{{Hash: "cs", Tree: "tb", Parents: []string{"base2"}, Paths: []string{"src/a", "src/z"}, Message: "Squash (#1)\n"}}
		}, "error ungoverned cs", 3},
		{"squashed, back to what was", func(s *scene) {
			s.repo.heads = map[string][]Commit{"cs": {s.in.Commits[0]}}
			s.repo.seen = []string{"ta"}
			s.in.Commits = []Commit{{Hash: "cs", Tree: "ta", Parents: []string{"base2"}, Paths: []string{"src/z"}, Message: "Squash (#1)\n"}}
		}, "error ungoverned cs", 3},
		{"a clean merge", func(s *scene) {
			m := s.next("m")
			m.Parents, m.Paths = append(m.Parents, "base2"), nil
		}, "", 0},
		{"a merge with a hand in it, recorded", func(s *scene) {
			m := s.next("m")
			m.Parents, m.Paths = append(m.Parents, "base2"), nil
			s.repo.merges = map[string][]string{"cm": {"src/a"}}
			s.ann.prepare(m, "sty_a", agent, workflow.Prepared{Patch: "none"})
		}, "", 0},
		{"a merge with a hand in it", func(s *scene) {
			m := s.next("m")
			m.Parents, m.Paths = append(m.Parents, "base2"), nil
			s.repo.merges = map[string][]string{"cm": {"src/a"}}
		}, "error ungoverned-merge cm", 3},
		{"a merge of three", func(s *scene) {
			m := s.next("m")
			m.Parents, m.Paths = append(m.Parents, "base2", "base3"), nil
		}, "error ungoverned-merge cm", 3},
		{"amended under hooks", func(s *scene) {
			old := s.in.Commits[0]
			n := commit("n", "base")
			n.Paths = []string{"src/a", "src/n"}
			s.ann.prepare(&n, "sty_a", agent, workflow.Prepared{
				Tree: n.Tree, Parents: []string{old.Hash}, Patch: "[src/n]",
				Amend: &workflow.Replaced{Parents: []string{"base"}, Patch: patchOf(&n), Replays: pointOf(s, old)},
			})
			s.ann.add(workflow.KindRewritten, "sty_a", agent, workflow.Rewritten{How: "amend", Pairs: [][2]string{{old.Hash, n.Hash}}, WorkTree: "."})
			s.in.Commits = []Commit{n}
		}, "", 0},
		{"amended, and what was replaced is of no record", func(s *scene) {
			n := commit("n", "base")
			s.ann.prepare(&n, "sty_a", agent, workflow.Prepared{
				Tree: n.Tree, Parents: []string{"wild"}, Patch: "[src/x]", Amend: &workflow.Replaced{Parents: []string{"base"}, Patch: patchOf(&n)},
			})
			s.ann.add(workflow.KindRewritten, "sty_a", agent, workflow.Rewritten{How: "amend", Pairs: [][2]string{{"wild", n.Hash}}, WorkTree: "."})
			s.in.Commits = []Commit{n}
		}, "error ungoverned cn", 3},
		{"as if amended, but no record says so", func(s *scene) {
			n := commit("n", "base")
			s.ann.prepare(&n, "sty_a", agent, workflow.Prepared{
				Tree: "tx", Parents: []string{"wild"}, Patch: "[src/x]", Amend: &workflow.Replaced{Parents: []string{"base"}, Patch: patchOf(&n)},
			})
			s.in.Commits = []Commit{n}
		}, "error forged-tree cn", 3},
		{"made anew out of another, by record", func(s *scene) {
			n := commit("n", "base")
			n.Message = s.a().Message
			s.ann.add(workflow.KindRewritten, "sty_a", agent, workflow.Rewritten{How: "rebase", Pairs: [][2]string{{"ca", "cn"}}, WorkTree: "."})
			s.in.Commits = []Commit{n}
		}, "note rewritten cn", 0},
		{"replayed after the story has ended", func(s *scene) {
			old := s.in.Commits[0]
			s.ann.done("sty_a")
			n := commit("n", "elsewhere")
			n.Paths = old.Paths
			s.ann.prepare(&n, "sty_a", agent, workflow.Prepared{Replays: pointOf(s, old)})
			s.in.Commits = []Commit{n}
			s.in.Logs = []*Log{s.ann.published()}
		}, "", 0},
		{"a person's own, replayed by a session", func(s *scene) {
			b := commit("b", "ca")
			s.ann.prepare(&b, "", person, workflow.Prepared{})
			s.next("b")
			s.in.Commits[1].Parents = []string{"elsewhere"}
			s.ann.prepare(&s.in.Commits[1], "", agent, workflow.Prepared{Replays: pointOf(s, b)})
		}, "note person cb", 0},
		{"another change under the name of a person's own", func(s *scene) {
			b := commit("b", "ca")
			s.ann.prepare(&b, "", person, workflow.Prepared{})
			s.ann.prepare(s.next("c"), "", agent, workflow.Prepared{Replays: pointOf(s, b)})
		}, "error no-seat cc", 3},
		{"another change under the name of a replay", func(s *scene) {
			old := s.in.Commits[0]
			s.ann.done("sty_a")
			n := commit("n", "elsewhere")
			s.ann.prepare(&n, "sty_a", agent, workflow.Prepared{Replays: pointOf(s, old)})
			s.in.Commits = []Commit{n}
			s.in.Logs = []*Log{s.ann.published()}
		}, "error no-seat cn", 3},
		{"undone by a forge", func(s *scene) {
			s.in.Commits[0].Hash = strings.Repeat("a", 40)
			s.in.Kept = []Commit{{Hash: "base", Tree: "tbase"}}
			b := s.next("b")
			b.Message = "Revert \"Change a\"\n\nThis reverts commit " + s.a().Hash + ".\n"
			s.repo.patches = map[string]string{"ta tbase": patchOf(b)}
		}, "warning revert cb", 0},
		{"not what it says it undoes", func(s *scene) {
			s.in.Commits[0].Hash = strings.Repeat("a", 40)
			s.in.Kept = []Commit{{Hash: "base", Tree: "tbase"}}
			b := s.next("b")
			b.Message = "Revert\n\nThis reverts commit " + s.a().Hash + ".\n"
			s.repo.patches = map[string]string{"ta tbase": "another"}
		}, "error ungoverned cb", 3},

		// Forgeries.
		{"without hooks", func(s *scene) { s.next("b") }, "error ungoverned cb", 3},
		{"an empty commit", func(s *scene) { s.next("b").Paths = nil }, "note empty cb", 0},
		{"trailers copied", func(s *scene) { s.next("b").Message = s.a().Message }, "error forged-tree cb", 3},
		{"trailers copied to an empty commit", func(s *scene) {
			b := s.next("b")
			b.Message, b.Tree, b.Paths = s.a().Message, s.a().Tree, nil
		}, "error forged-tree cb", 3},
		{"trailers copied to go back to what was", func(s *scene) {
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
			c := s.next("c")
			c.Message, c.Tree = s.a().Message, s.a().Tree
		}, "error forged-tree cc", 3},
		{"trailers of the trusted side, to go back to what was", func(s *scene) {
			s.in.Commits[0].Parents, s.in.Commits[0].Paths = []string{"now"}, []string{"src/other"}
			s.repo.seen = []string{"ta"}
		}, "error forged-tree ca", 3},
		{"another size", func(s *scene) {
			_, size, root, _ := ReadLedger(valueOf(*s.a()))
			replace(s.a(), WriteLedger(s.ann.origin(), size, root), WriteLedger(s.ann.origin(), size-1, root))
		}, "error forged-root ca", 3},
		{"another root", func(s *scene) {
			_, size, root, _ := ReadLedger(valueOf(*s.a()))
			root[0] ^= 1
			replace(s.a(), valueOf(*s.a()), WriteLedger(s.ann.origin(), size, root))
		}, "error forged-root ca", 3},
		{"another origin", func(s *scene) { replace(s.a(), "satelle/p/ann", "satelle/p/bob") }, "error unknown-origin ca", 3},
		{"another story", func(s *scene) { replace(s.a(), "sty_a", "sty_b") }, "error forged-story ca", 3},
		{"a head that is of no commit", func(s *scene) {
			s.ann.done("sty_a")
			s.a().Message = "Change\n\n" + s.ann.trailers("sty_a")
			s.in.Logs = []*Log{s.ann.published()}
		}, "error forged-record ca", 3},
		{"a story without a ledger", func(s *scene) { s.a().Message = "Change\n\nSatelle-Story: sty_a\n" }, "error forged-trailer ca", 3},
		{"a ledger that is none", func(s *scene) { s.a().Message = "Change\n\nSatelle-Story: sty_a\nSatelle-Ledger: x\n" }, "error forged-trailer ca", 3},
		{"trailers that are spoken of", func(s *scene) {
			replace(s.a(), "\n\n", "\n\nSatelle-Story: sty_x\nSatelle-Ledger: satelle/p/x 1 "+strings.Repeat("A", 43)+"=\n\nSo it goes.\n\n")
		}, "", 0},
		{"a session without a story", func(s *scene) { s.ann.prepare(s.next("b"), "", agent, workflow.Prepared{}) }, "error no-seat cb", 3},
		{"a person without a story", func(s *scene) { s.ann.prepare(s.next("b"), "", person, workflow.Prepared{}) }, "note person cb", 0},
		{"a person, governance", func(s *scene) {
			b := s.next("b")
			b.Paths = []string{".satelle/satelle.toml"}
			s.ann.prepare(b, "", person, workflow.Prepared{})
		}, "warning person cb", 0},
		{"after the story has ended", func(s *scene) {
			s.ann.done("sty_a")
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
			s.in.Logs = []*Log{s.ann.published()}
		}, "error no-seat cb", 3},
		{"a record that names another story than sat", func(s *scene) {
			s.ann.done("sty_a")
			s.ann.start("sty_b", "*")
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
			s.ann.done("sty_b")
			s.in.Logs = []*Log{s.ann.published()}
		}, "error no-seat cb", 3},
		{"while halted", func(s *scene) {
			s.ann.add(workflow.KindHalted, "", person, m{"why": "stop"})
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
		}, "error no-seat cb", 3},
		{"outside of the scopes", func(s *scene) {
			b := s.next("b")
			b.Paths = []string{"docs/x"}
			s.ann.prepare(b, "sty_a", agent, workflow.Prepared{})
		}, "error out-of-scope cb", 3},
		{"governance", func(s *scene) {
			s.ann.done("sty_a")
			s.ann.start("sty_b", "*")
			b := s.next("b")
			b.Paths = []string{".satelle/workflows/done.md"}
			s.ann.prepare(b, "sty_b", agent, workflow.Prepared{})
			s.ann.done("sty_b")
			s.in.Logs = []*Log{s.ann.published()}
		}, "error substrate cb", 3},
		{"governance under a story for it", func(s *scene) {
			s.ann.done("sty_a")
			s.ann.start("sty_b", "substrate")
			b := s.next("b")
			b.Paths = []string{".satelle/workflows/done.md"}
			s.ann.prepare(b, "sty_b", agent, workflow.Prepared{})
			s.ann.done("sty_b")
			s.in.Logs = []*Log{s.ann.published()}
		}, "", 0},

		// Logs and keys.
		{"stale", func(s *scene) {
			s.in.Logs = []*Log{s.ann.published()}
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
		}, "error stale cb,warning story-open ca", 3},
		{"stale, but an earlier record is of it", func(s *scene) {
			s.in.Logs = []*Log{s.ann.published()}
			s.ann.prepare(s.a(), "sty_a", agent, workflow.Prepared{})
		}, "warning stale ca,warning story-open ca", 0},
		{"not published", func(s *scene) { s.in.Logs = []*Log{} }, "error log-missing ca", 3},
		{"record deleted", func(s *scene) { s.mangle(func(lines []string) []string { return slices.Delete(lines, 3, 4) }) }, "error log-broken", 6},
		{"record changed", func(s *scene) {
			s.mangle(func(lines []string) []string {
				lines[2] = strings.Replace(lines[2], "T sty_a", "U sty_a", 1)
				return lines
			})
		}, "error log-broken", 6},
		{"truncated", func(s *scene) { s.mangle(func(lines []string) []string { return lines[:len(lines)-1] }) }, "error log-broken", 6},
		{"another key", func(s *scene) { s.in.Trusted = ReadKeys([]byte("satelle/p/ann+00000000+AAAA\n")) }, "error log-key", 6},
		{"another log under the name", func(s *scene) {
			eve := newClone(s.t, "ann")
			eve.start("sty_a", "*")
			eve.prepare(s.a(), "sty_a", agent, workflow.Prepared{})
			eve.done("sty_a")
			s.in.Logs = []*Log{eve.published()}
		}, "error log-key", 6},
		{"a key that the commits bring", func(s *scene) { s.in.Trusted, s.in.Offered = Keys{}, s.ann.keys() }, "warning new-log-key", 0},
		{"a rotated key", func(s *scene) {
			s.ann.rotate()
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
		}, "", 0},
		{"a log from before its rotation", func(s *scene) {
			s.in.Logs = []*Log{s.ann.published()}
			s.ann.rotate()
			s.in.Trusted = ReadKeys([]byte(s.in.Trusted[s.ann.origin()][0]), []byte(s.ann.log.VKey()))
		}, "error log-key", 6},
		{"a log that nobody knows", func(s *scene) {
			s.ann.done("sty_a")
			s.in.Logs = []*Log{s.ann.published(), {Origin: "satelle/p/eve"}}
		}, "note log-unknown", 0},
		{"truncated, as the trusted side shows", func(s *scene) {
			s.in.Logs = []*Log{s.ann.published()}
			kept := commit("k")
			s.ann.prepare(&kept, "sty_a", agent, workflow.Prepared{})
			s.in.Kept = []Commit{kept}
		}, "error log-truncated", 6},
		{"rewritten, as the trusted side shows", func(s *scene) {
			kept := commit("k")
			s.ann.prepare(&kept, "sty_a", agent, workflow.Prepared{})
			_, size, root, _ := ReadLedger(valueOf(kept))
			root[3] ^= 1
			replace(&kept, valueOf(kept), WriteLedger(s.ann.origin(), size, root))
			s.in.Kept = []Commit{kept}
		}, "error log-rewritten", 6},
		{"a forged trailer of the trusted side, which a later one contradicts", func(s *scene) {
			kept := commit("k")
			s.ann.prepare(&kept, "sty_a", agent, workflow.Prepared{})
			_, size, root, _ := ReadLedger(valueOf(kept))
			root[3] ^= 1
			forged := kept
			replace(&forged, valueOf(kept), WriteLedger(s.ann.origin(), size-1, root))
			s.in.Kept = []Commit{forged, kept}
		}, "", 0},
		{"the same log twice, one ahead", func(s *scene) {
			behind := s.ann.published()
			s.ann.done("sty_a")
			s.in.Logs = []*Log{behind, s.ann.published()}
		}, "", 0},

		// What a person should look at.
		{"not done", func(s *scene) { s.in.Logs = []*Log{s.ann.published()} }, "warning story-open ca", 0},
		{"cancelled", func(s *scene) {
			s.ann.move("sty_a", "in_progress", "cancelled", "cancel")
			s.in.Logs = []*Log{s.ann.published()}
		}, "warning story-cancelled ca", 0},
		{"adopted", func(s *scene) {
			s.ann.add(workflow.KindAdopted, "sty_a", agent, workflow.Adopted{Tree: "t", Base: "base", WorkTree: "."})
			s.ann.prepare(s.next("b"), "sty_a", agent, workflow.Prepared{})
		}, "warning adopted cb", 0},
		{"a bot", func(s *scene) {
			s.in.Exempt = []string{"dependabot[bot] <*@users.noreply.example.org>"}
			s.next("b").Author = "dependabot[bot] <1+dependabot[bot]@users.noreply.example.org>"
		}, "note exempt cb", 0},
		{"a bot, governance", func(s *scene) {
			s.in.Exempt = []string{"bot <*>"}
			b := s.next("b")
			b.Author, b.Paths = "bot <b@example.org>", []string{".Satelle/x"}
		}, "note exempt cb,error substrate cb", 3},
		{"a bot with trailers of somebody", func(s *scene) {
			s.in.Exempt = []string{"bot <*>"}
			b := s.next("b")
			b.Author, b.Message = "bot <b@example.org>", s.a().Message
		}, "error forged-tree cb", 3},
		{"two clones", func(s *scene) {
			bob := newClone(s.t, "bob")
			bob.start("sty_b", "*")
			bob.prepare(s.next("b"), "sty_b", agent, workflow.Prepared{})
			bob.done("sty_b")
			s.ann.done("sty_a")
			s.in.Trusted[bob.origin()] = bob.keys()[bob.origin()]
			s.in.Logs = []*Log{s.ann.published(), bob.published()}
		}, "", 0},
		{"a story of another log", func(s *scene) {
			bob := newClone(s.t, "bob")
			bob.start("sty_b", "*")
			b := commit("b", "x")
			bob.prepare(&b, "sty_b", agent, workflow.Prepared{})
			bob.done("sty_b")
			s.ann.done("sty_a")
			s.in.Trusted[bob.origin()] = bob.keys()[bob.origin()]
			s.in.Logs = []*Log{s.ann.published(), bob.published()}
			s.a().Message = b.Message
		}, "error forged-tree ca", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			tt.do(s)
			rep := s.run()
			if got := strings.Join(brief(rep), ","); got != tt.want {
				t.Errorf("found\n%s, want\n%s", got, tt.want)
				for _, f := range rep.Findings {
					t.Log(f.Rule, f.Message)
				}
			}
			if code := fault.Code(rep.Err()); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}

// mangle publishes the log after a change to its lines.
func (s *scene) mangle(change func([]string) []string) {
	s.ann.done("sty_a")
	lines := strings.SplitAfter(string(s.ann.export()), "\n")
	lines = change(lines[:len(lines)-1])
	s.in.Logs = []*Log{ReadLog("mangled", strings.NewReader(strings.Join(lines, "")))}
}

func (c *clone) rotate() {
	c.t.Helper()
	var err error
	if c.now, _, err = c.log.RotateKey(c.t.Context(), c.now.Size, person); err != nil {
		c.t.Fatal(err)
	}
}

func valueOf(c Commit) string {
	_, v, _ := strings.Cut(c.Message, TrailerLedger+": ")
	v, _, _ = strings.Cut(v, "\n")
	return v
}

func trailersOf(c Commit) string {
	_, v, _ := strings.Cut(c.Message, "\n\n")
	return strings.TrimSpace(v)
}

func pointOf(s *scene, c Commit) []workflow.LogPoint {
	origin, size, _, ok := ReadLedger(valueOf(c))
	if !ok {
		s.t.Fatalf("no point in %q", c.Message)
	}
	return []workflow.LogPoint{{Origin: origin, Size: size}}
}

// TestNewerLog refuses to believe a log that means more than this program
// knows.
func TestNewerLog(t *testing.T) {
	s := newScene(t)
	s.ann.add("seat.teleported", "sty_a", agent, m{})
	rep := s.run()
	if got := brief(rep); len(got) != 2 || got[0] != "error log-newer" || fault.Code(rep.Err()) != 3 {
		t.Errorf("%v %v", got, rep.Err())
	}
}

// TestOpaqueRecords: those on which no rule rests are kept and passed over.
func TestOpaqueRecords(t *testing.T) {
	s := newScene(t)
	var err error
	s.ann.now, _, err = s.ann.log.Append(t.Context(), s.ann.now.Size, []ledger.Draft{{
		Kind: "note.taken", Actor: person, Schema: 7, Body: m{},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := brief(s.run()); len(got) != 0 {
		t.Error(got)
	}
}

// A log of which nobody has a key vouches for nothing, so it does not count as
// one that holds.
func TestUnknownLogsDoNotHold(t *testing.T) {
	s := newScene(t)
	s.ann.done("sty_a")
	s.in.Logs = []*Log{s.ann.published(), {Origin: "satelle/p/eve"}}
	rep := s.run()
	if len(rep.Logs) != 2 || !rep.Logs[0].Holds || rep.Logs[1].Holds {
		t.Errorf("%+v", rep.Logs)
	}
}
