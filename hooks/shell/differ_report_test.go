//go:build differ && linux

package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// failure reduces a text that is judged wrongly.
func (d *differ) failure(b **box, n int, shell, text, fault string, changes []string) error {
	runs := 0
	var failed error
	fails := func(text string) bool {
		eff := (*b).judge(text)
		if runs++; runs > minimiseRuns || failed != nil {
			return false
		}
		if fault == (*b).fault(eff, nil) {
			return true
		}
		if eff.Changes && !eff.Known {
			return false
		}
		changes, _, err := d.run(b, shell, text)
		failed = err
		return fault == (*b).fault(eff, changes)
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
	report := fmt.Sprintf("%s: seed %d, number %d, %s\n  command   %q\n  minimised %q\n  changes   %s", strings.ToUpper(fault), d.seed, n, filepath.Base(shell), text, small, strings.Join(changes[:min(6, len(changes))], ", "))
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
	t.Logf("judged to read: %d (%.1f %% of those run); changing just what was named %d, otherwise refused and changing %d, refused and not changing %d; successful %.1f %%; stopped %d; bash %d, dash %d, zsh %d; sandboxes broken %d; known %d",
		n["run reads"], percent(n["run reads"], n["run"]), n["targets held"], n["changed, refused"], n["unchanged, refused"], percent(n["successes"], n["run"]), n["late"], n["bash"], n["dash"], n["zsh"], n["broken sandboxes"], n["skipped"])
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
	if n["run"] == 0 || d.start == "command" && percent(n["run reads"], n["run"]) < 30 {
		t.Error("too few commands are judged to read for this to show anything")
	}
	for _, f := range d.failures {
		t.Error(f)
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
