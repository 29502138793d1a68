//go:build differ && linux

// The differential test runs commands made from a grammar in a sandbox, with
// real shells, and compares what they change with what Judge says. Whatever
// changes a file must have been called a change.
//
//	DIFFER_TIME=60s       how long it generates
//	DIFFER_COUNT=100000   or how many commands it runs
//	DIFFER_SEED=1         where the generator begins; a failure prints it
//	DIFFER_FROM=0         the first command's number
//	DIFFER_WORKERS=2      sandboxes side by side
//	DIFFER_COMMAND=…      runs this one text, and no other
//	DIFFER_SHELL=bash     with this shell (bash, zsh, dash)
//	DIFFER_SKIP=regexp    texts in which a failure is known
package shell

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	limitAsk     = 40 * time.Second // for an answer of the sandbox
	maxFailures  = 40               // then it ends
	shareDenied  = 8                // of a hundred refused commands that run nevertheless, to see if they had to be
	minimiseRuns = 300
)

// caches are folders of HOME in which programs that only read may keep what
// they have seen.
var caches = []string{"u/.npm/", "u/.cache/", "u/.kube/", "u/.terraform.d/", "u/.gnupg/", "u/.config/gcloud/", "u/.config/procps/", "u/go/"}

type differ struct {
	lab
	fixture string
	seed    uint64
	count   int
	until   time.Time
	skip    *regexp.Regexp

	mu       sync.Mutex
	next     int
	tally    map[string]int
	refused  map[string]int // parts for which harmless commands were refused
	failures []string
	seen     map[string]bool
}

func TestDiffer(t *testing.T) {
	d := &differ{tally: map[string]int{}, refused: map[string]int{}, seen: map[string]bool{}}
	fixture, err := os.ReadFile("testdata/differ/fixture.sh")
	if err != nil {
		t.Fatal(err)
	}
	d.fixture = string(fixture)
	b, err := openBox(d.fixture)
	if err != nil {
		t.Fatal(err)
	}
	if text := os.Getenv("DIFFER_COMMAND"); text != "" {
		defer b.close()
		d.one(t, b, text)
		return
	}
	if d.flags, err = askFlags(b); err != nil {
		t.Fatal(err)
	}
	b.close()
	for name := range d.flags {
		d.known = append(d.known, name)
	}
	sort.Strings(d.known)
	if d.rules, err = readGrammar("testdata/differ/grammar.txt", "testdata/differ/programs.txt", "testdata/differ/snippets.txt", "testdata/differ/quotes.txt"); err != nil {
		t.Fatal(err)
	}
	for _, seed := range cases(t)["reads"] {
		d.addSeed(seed)
	}
	for _, r := range Rules() {
		d.addSeed(r.Reads)
	}
	if d.snippets, err = readSnippets("snippet/testdata"); err != nil {
		t.Fatal(err)
	}
	d.seed = uint64(setting(t, "DIFFER_SEED", int(rand.Uint32())))
	d.next = setting(t, "DIFFER_FROM", 0)
	d.count = setting(t, "DIFFER_COUNT", 0)
	if skip := os.Getenv("DIFFER_SKIP"); skip != "" {
		d.skip = regexp.MustCompile(skip)
	}
	limit, err := time.ParseDuration(orElse(os.Getenv("DIFFER_TIME"), "60s"))
	if err != nil {
		t.Fatal(err)
	}
	if d.count == 0 {
		d.until = time.Now().Add(limit)
	}
	start := time.Now()
	t.Logf("seed %d, %d programs tell of their options", d.seed, len(d.known))
	var workers sync.WaitGroup
	for range setting(t, "DIFFER_WORKERS", runtime.NumCPU()) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			if err := d.work(); err != nil {
				t.Error(err)
			}
		}()
	}
	workers.Wait()
	d.report(t, time.Since(start))
}

// slow are programs that take their time to start, for nothing that other ones
// don't show.
const slow = "npm npx pip pip3 kubectl terraform docker podman aws apt"

func (d *differ) addSeed(text string) {
	if program, _, _ := strings.Cut(text, " "); text != "" && !allowed(slow, program) {
		d.seeds = append(d.seeds, text)
	}
}

func setting(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// shells are the shells of this machine, bash more often.
func shells() []string {
	all := []string{"/bin/bash", "/bin/bash", "/bin/bash", "/bin/bash", "/bin/bash", "/bin/bash"}
	for _, name := range [...]string{"dash", "zsh"} {
		if p, err := exec.LookPath(name); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func (d *differ) one(t *testing.T, b *box, text string) {
	shell, err := exec.LookPath(orElse(os.Getenv("DIFFER_SHELL"), "bash"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := b.ask(boxRequest{Argv: []string{shell, "-c", text}, Print: true}, limitAsk)
	eff := b.judge(text)
	t.Logf("exit %d, late %v\n%s\nchanges: %v (%s)\njudged to change: %v (%s)", reply.Exit, reply.Late, reply.Output, reply.Changes, err, eff.Changes, eff.Why)
	if len(reply.Changes) > 0 && !eff.Changes {
		t.Error("it changes files, and is judged to read")
	}
}

// judge judges a text. To panic over one is a failure of its own, for which
// the text passes as one that reads.
func (b *box) judge(text string) (eff Effect) {
	defer func() {
		if p := recover(); p != nil {
			eff = Effect{Why: fmt.Sprint("panic: ", p)}
		}
	}()
	return Judge(text, b.env())
}

// env is what Judge knows of the fixture.
func (b *box) env() Env {
	exported := map[string]bool{"_": true}
	for _, v := range boxEnv() {
		name, _, _ := strings.Cut(v, "=")
		exported[name] = true
	}
	return Env{
		Dir: boxRepo, Home: boxHome, Temp: "/tmp", Tree: boxRepo,
		Exported: func(name string) bool { return exported[name] },
		IsDir:    func(p string) bool { _, ok := b.real(p); return ok },
		Dashed:   func(dir string) bool { p, ok := b.real(dir); return !ok || b.dashed[p] },
		OwnGit: func(dir string) bool {
			real, ok := b.real(dir)
			own := real == boxRepo || strings.HasPrefix(real, boxRepo+"/") || real == boxHome+"/wt" || strings.HasPrefix(real, boxHome+"/wt/")
			return ok && own && !strings.HasPrefix(real+"/", boxRepo+"/vendor/lib/") && !strings.HasPrefix(real+"/", boxRepo+"/.git/")
		},
	}
}

// real follows a path through the links of the fixture, and tells whether a
// folder stands there.
func (b *box) real(p string) (string, bool) {
	if p == "/tmp" || p == "/" || p == "/home" {
		return p, true
	}
	at, steps := "/", 0
	rest := strings.Split(p, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		to, ok := b.dirs[next]
		switch {
		case next == "/home":
		case !ok:
			return "", false
		case to != "":
			if steps++; steps > 20 {
				return "", false
			}
			rest = append(strings.Split(to, "/"), rest...)
			if path.IsAbs(to) {
				at = "/"
			}
			continue
		}
		at = next
	}
	return at, true
}

func (d *differ) take() (int, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failures) >= maxFailures || d.count > 0 && d.tally["run"] >= d.count || d.count == 0 && time.Now().After(d.until) {
		return 0, false
	}
	d.next++
	return d.next - 1, true
}

func (d *differ) add(what string) {
	d.mu.Lock()
	d.tally[what]++
	d.mu.Unlock()
}

// work runs one command after the other in a sandbox of its own.
func (d *differ) work() error {
	b, err := openBox(d.fixture)
	if err != nil {
		return err
	}
	defer func() { b.close() }()
	available := shells()
	for {
		n, ok := d.take()
		if !ok {
			return nil
		}
		text := d.command(d.seed, n)
		of := rand.New(rand.NewPCG(d.seed+1, uint64(n)))
		shell := available[of.IntN(len(available))]
		eff := b.judge(text)
		d.add("made")
		if filepath.Base(shell) == "dash" && !portable(text) {
			shell = "/bin/bash" // to the former, (( a > b )) writes; only what sh -c carries is judged for it
		}
		if !eff.Changes {
			d.add("made reads")
		} else if of.IntN(100) >= shareDenied {
			continue
		}
		began := time.Now()
		changes, reply, err := d.run(&b, shell, text)
		if err != nil {
			return err
		}
		if took := time.Since(began); took > 300*time.Millisecond && os.Getenv("DIFFER_SLOW") != "" {
			fmt.Fprintf(os.Stderr, "SLOW %v %q\n", took, text)
		}
		d.add("run")
		d.add(filepath.Base(shell))
		if reply.Exit == 0 {
			d.add("successes")
		}
		if reply.Late {
			d.add("late")
		}
		if !eff.Changes && strings.HasPrefix(eff.Why, "panic") {
			changes = append(changes, eff.Why)
		}
		switch {
		case !eff.Changes && len(changes) > 0 && d.skip != nil && d.skip.MatchString(text):
			d.add("skipped")
		case !eff.Changes && len(changes) > 0:
			d.add("run reads")
			if err := d.failure(&b, n, shell, text, changes); err != nil {
				return err
			}
		case !eff.Changes:
			d.add("run reads")
		case len(changes) > 0:
			d.add("changed, refused")
		default:
			d.add("unchanged, refused")
			d.mu.Lock()
			d.refused[construct(eff.Why)]++
			d.mu.Unlock()
		}
	}
}

// construct is the kind of thing that a reason names.
func construct(why string) string {
	word, _, _ := strings.Cut(why, " ")
	if rest, ok := strings.CutPrefix(why, "git "); ok {
		sub, _, _ := strings.Cut(rest, " ")
		word = "git " + sub
	}
	if i := strings.IndexAny(word, "\n(=$'\"`[{"); i >= 0 {
		word = word[:i+1] + "…"
	}
	return word
}

// run runs a text, in a new sandbox if it broke the old one.
func (d *differ) run(b **box, shell, text string) ([]string, boxReply, error) {
	reply, err := (*b).ask(boxRequest{Argv: []string{shell, "-c", text}}, limitAsk)
	if err != nil {
		fmt.Fprintf(os.Stderr, "a sandbox ended: %v: %q\n", err, text)
		d.add("broken sandboxes")
		(*b).close()
		if *b, err = openBox(d.fixture); err != nil {
			return nil, reply, err
		}
	}
	var changes []string
	for _, c := range reply.Changes {
		if reply.Killed && strings.HasSuffix(c, ".lock") {
			continue // of a program that we ended before it was through
		}
		cached := false
		for _, dir := range caches {
			cached = cached || strings.Contains(c+"/", dir) || c == "created u/.config"
		}
		if !cached {
			changes = append(changes, c)
		}
	}
	return changes, reply, nil
}

// failure reduces a text that changes files but is judged to read.
func (d *differ) failure(b **box, n int, shell, text string, changes []string) error {
	runs := 0
	var failed error
	fails := func(text string) bool {
		eff := (*b).judge(text)
		if runs++; runs > minimiseRuns || failed != nil || eff.Changes {
			return false
		}
		if eff.Why != "" {
			return true
		}
		changes, _, err := d.run(b, shell, text)
		failed = err
		return len(changes) > 0
	}
	small := text
	if fails(text) {
		small = minimise(text, fails)
	}
	again, _, err := d.run(b, shell, small)
	if err != nil || failed != nil {
		return err
	}
	if len(again) > 0 { // else it does not change them each time
		changes = again
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[small] {
		return nil
	}
	d.seen[small] = true
	report := fmt.Sprintf("seed %d, number %d, %s\n  command   %q\n  minimised %q\n  changes   %s", d.seed, n, filepath.Base(shell), text, small, strings.Join(changes[:min(6, len(changes))], ", "))
	d.failures = append(d.failures, report)
	fmt.Fprintln(os.Stderr, report)
	return nil
}

// minimise drops parts of a text while it still fails: words, then characters.
func minimise(text string, fails func(string) bool) string {
	for _, cut := range [...]func(string) []string{tokens, letters} {
		if parts := cut(text); len(parts) < 400 {
			text = reduce(parts, fails)
		}
	}
	return text
}

func letters(text string) []string {
	var all []string
	for _, r := range text {
		all = append(all, string(r))
	}
	return all
}

func reduce(parts []string, fails func(string) bool) string {
	for size := max(1, len(parts)/2); ; size = size / 2 {
		for i := 0; i+size <= len(parts); {
			rest := append(append([]string(nil), parts[:i]...), parts[i+size:]...)
			if fails(strings.Join(rest, "")) {
				parts = rest
			} else {
				i += size
			}
		}
		if size <= 1 {
			return strings.Join(parts, "")
		}
	}
}

func (d *differ) report(t *testing.T, took time.Duration) {
	n := d.tally
	t.Logf("%d commands run in %s (%.0f a second); %d made, of which %.1f %% are judged to read",
		n["run"], took.Round(time.Second), float64(n["run"])/took.Seconds(), n["made"], percent(n["made reads"], n["made"]))
	t.Logf("judged to read: %d (%.1f %% of those run); refused and changing %d, refused and not changing %d; successful %.1f %%; stopped %d; bash %d, dash %d, zsh %d; sandboxes broken %d; known %d",
		n["run reads"], percent(n["run reads"], n["run"]), n["changed, refused"], n["unchanged, refused"], percent(n["successes"], n["run"]), n["late"], n["bash"], n["dash"], n["zsh"], n["broken sandboxes"], n["skipped"])
	var harmless []string
	for what := range d.refused {
		harmless = append(harmless, what)
	}
	sort.Slice(harmless, func(i, k int) bool { return d.refused[harmless[i]] > d.refused[harmless[k]] })
	var b strings.Builder
	for _, what := range harmless[:min(40, len(harmless))] {
		fmt.Fprintf(&b, " %s×%d", what, d.refused[what])
	}
	t.Logf("harmless here, but refused for:%s", b.String())
	if n["run"] == 0 || percent(n["run reads"], n["run"]) < 30 {
		t.Error("too few commands are judged to read for this to show anything")
	}
	for _, f := range d.failures {
		t.Errorf("IT CHANGES FILES, AND IS JUDGED TO READ\n%s", f)
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
