//go:build bench

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestBenchCommit measures a commit under satelle's hooks against one without.
func TestBenchCommit(t *testing.T) {
	w := newWorld(t)
	commits := 0
	commit := func() time.Duration {
		commits++
		if err := os.WriteFile(filepath.Join(w.repo, "f"), fmt.Appendln(nil, commits), 0o600); err != nil {
			t.Fatal(err)
		}
		w.must("git", "add", "f")
		begin := time.Now()
		w.must("git", "commit", "-q", "-m", "x")
		return time.Since(begin)
	}
	const rounds = 21
	plain, hooked := make([]time.Duration, rounds), make([]time.Duration, rounds)
	for i := range rounds {
		w.must("satelle", "agents", "remove", "git")
		plain[i] = commit()
		w.must("satelle", "agents", "install", "git")
		hooked[i] = commit()
	}
	slices.Sort(plain)
	slices.Sort(hooked)
	a, b := plain[rounds/2], hooked[rounds/2]
	fmt.Printf("a commit: median %s without hooks, %s with them, ratio %.1f\n", a, b, float64(b)/float64(a))
}
