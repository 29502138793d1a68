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
//	DIFFER_RULE=quoted    only what this rule of the grammar makes
//	DIFFER_SHELL=bash     with this shell (bash, zsh, dash)
//	DIFFER_SKIP=regexp    texts in which a failure is known
package shell

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
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
	if d.start = orElse(os.Getenv("DIFFER_RULE"), "command"); d.rules[d.start] == nil {
		t.Fatalf("no rule %q", d.start)
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
		} else if !eff.Known && of.IntN(100) >= shareDenied {
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
		if !eff.Changes {
			d.add("run reads")
		}
		switch fault := b.fault(eff, changes); {
		case fault != "" && d.skip != nil && d.skip.MatchString(text):
			d.add("skipped")
		case fault != "":
			if err := d.failure(&b, n, shell, text, fault, changes); err != nil {
				return err
			}
		case eff.Known && len(changes) > 0:
			d.add("targets held")
		case eff.Changes && len(changes) > 0:
			d.add("changed, refused")
		case eff.Changes:
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
