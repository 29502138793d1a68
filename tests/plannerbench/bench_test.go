package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"satelle/workflow"
)

// asProgram makes the test binary the bench itself, whose peers it is as well.
const asProgram = "PLANNER_BENCH_PROGRAM"

func TestMain(m *testing.M) {
	if _, peer := os.LookupEnv(playing); peer || os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ran is what a bench left behind.
type ran struct {
	code           int
	stdout, stderr string
	dir            string
	records        []Record
	report         Report
	reportText     string
}

// benched runs the bench to its end as `make planner-bench` does.
func benched(t *testing.T, args ...string) ran {
	t.Helper()
	out := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"-out", out}, args...)...)
	cmd.Env = []string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var r ran
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	r.stdout, r.stderr = stdout.String(), stderr.String()
	dirs, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		return r
	}
	r.dir = filepath.Join(out, dirs[0].Name())
	files, err := filepath.Glob(filepath.Join(r.dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == "report.json" {
			r.reportText = string(b)
			strict(t, b, &r.report)
			continue
		}
		var rec Record
		strict(t, b, &rec)
		r.records = append(r.records, rec)
	}
	return r
}

func strict(t *testing.T, b []byte, v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
}

// runs are the records of a cell without its probe.
func (r ran) runs(cell string) (all []Record) {
	for _, rec := range r.records {
		if rec.Cell == cell && !rec.Probe {
			all = append(all, rec)
		}
	}
	return all
}

func TestBenchPlaysEveryFixtureInBothCells(t *testing.T) {
	t.Parallel()
	r := benched(t)
	if r.code != 0 || r.report.Mode != Hermetic || r.report.Schema != SchemaVersion {
		t.Fatalf("exit %d, %+v\n%s%s", r.code, r.report, r.stdout, r.stderr)
	}
	all, err := fixtures()
	if err != nil || len(all) < 3 {
		t.Fatalf("%d fixtures, %v", len(all), err)
	}
	for _, c := range []struct{ cell, iface, program string }{{Office, "command", "claude"}, {Challenger, "acp", "grok"}} {
		n := map[string]int{}
		for _, rec := range r.runs(c.cell) {
			n[rec.Fixture]++
			if rec.Schema != SchemaVersion || rec.Outcome != Good || rec.Interface != c.iface || rec.Program != c.program || !rec.UsageAvailable ||
				rec.UsageProvenance != "reported by "+c.program+" over "+c.iface || len(rec.Criteria) != 7 {
				t.Errorf("%+v", rec)
			}
			artifact, err := os.ReadFile(filepath.Join(r.dir, rec.Artifact))
			if err != nil || !strings.Contains(string(artifact), "## AC1") {
				t.Errorf("artifact of %s: %s, %v", rec.Fixture, artifact, err)
			}
			raw, err := os.ReadFile(filepath.Join(r.dir, rec.Raw))
			if err != nil || !strings.Contains(string(raw), `artifact`) {
				t.Errorf("raw of %s: %.200s, %v", rec.Fixture, raw, err)
			}
		}
		for _, f := range all {
			if n[f.Name] != LeastRuns {
				t.Errorf("%s played %s %d times", c.cell, f.Name, n[f.Name])
			}
		}
	}
	// What it is depends on how long the peers took; its rule has a table of its own.
	if d := r.report.Decision; d == nil || d.Keep != Office && d.Keep != Challenger || d.Change != (d.Keep == Challenger) || len(d.Reasons) == 0 {
		t.Errorf("%+v", d)
	}
	private(t, r.dir)
}

// private expects that nobody but the person may read what was written.
func private(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBenchKeepsNoSecret(t *testing.T) {
	t.Parallel()
	r := benched(t, "-scene", sceneLeaky)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	redacted := 0
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "4f1c-credential") {
			t.Errorf("%s holds the credential", d.Name())
		}
		if strings.Contains(string(b), "The key is ") {
			redacted++
		}
		return err
	})
	if err != nil || redacted == 0 {
		t.Errorf("%d files show where it was, %v", redacted, err)
	}
}

func TestBenchLooksAtPoorArtifacts(t *testing.T) {
	t.Parallel()
	r := benched(t, "-scene", scenePoor)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, rec := range r.runs(Office) {
		if rec.Outcome != Poor {
			t.Errorf("%+v", rec)
		}
		for _, c := range rec.Criteria {
			switch {
			case c.Reason == "":
				t.Errorf("%s has no reason", c.Name)
			case c.Met != (c.Name != "coverage"):
				t.Errorf("%+v", c)
			case c.Name == "coverage" && !strings.Contains(c.Reason, "AC1"):
				t.Errorf("reason: %s", c.Reason)
			}
		}
	}
	if !strings.Contains(r.stdout, "artifact: coverage: body does not cover AC1") || r.report.Outcomes[Poor] != 9 {
		t.Errorf("%+v\n%s", r.report.Outcomes, r.stdout)
	}
}

func TestBenchSeesWhoBreaksThePolicy(t *testing.T) {
	t.Parallel()
	r := benched(t, "-scene", sceneBold)
	if r.code != 0 || r.report.Decision.Change {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, rec := range r.runs(Challenger) {
		for _, c := range rec.Criteria {
			want := c.Name != "unchanged" && (c.Name != "steadfast" || rec.Fixture != "tempted")
			if c.Met != want {
				t.Errorf("%s: %+v", rec.Fixture, c)
			}
		}
	}
}

func TestBenchFailsWithoutAPeer(t *testing.T) {
	t.Parallel()
	r := benched(t, "-scene", sceneAbsent)
	if r.code != 1 || !strings.Contains(r.stderr, "cell "+Challenger+": no answer in 9 of 9 runs") || !strings.Contains(r.stderr, "missing") ||
		!strings.Contains(r.stderr, "cell "+Challenger+" is under-sampled") || strings.Contains(r.stderr, "cell "+Office+":") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	for _, rec := range r.runs(Challenger) {
		if rec.Outcome != Infrastructure || rec.Class != "missing" || !strings.HasPrefix(rec.UsageProvenance, "n/a: ") {
			t.Errorf("%+v", rec)
		}
	}
	if r.report.Decision.Change {
		t.Errorf("%+v", r.report.Decision)
	}
}

func TestBenchFailsOnTooFewRuns(t *testing.T) {
	t.Parallel()
	r := benched(t, "-runs", fmt.Sprint(LeastRuns-1), "-cells", Office)
	if r.code != 1 || !strings.Contains(r.stderr, "cell "+Office+" is under-sampled: fixture export was answered 2 times, and has to be 3 times") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	if len(r.records) == 0 || len(r.runs(Challenger)) > 0 || !strings.Contains(r.reportText, `"decision": null`) {
		t.Errorf("%d records\n%s", len(r.records), r.reportText)
	}
	if r := benched(t, "-cells", "nobody"); r.code != 2 || !strings.Contains(r.stderr, `no cell "nobody"`) {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}

func TestBenchMakesNoNumberOfSilence(t *testing.T) {
	t.Parallel()
	r := benched(t, "-scene", sceneSilent)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, rec := range r.runs(Challenger) {
		if rec.UsageAvailable || rec.Usage != (workflow.Usage{}) || rec.UsageProvenance != "n/a: grok reported none over acp" {
			t.Errorf("%+v", rec)
		}
	}
	if !strings.Contains(r.reportText, `"median_tokens": null`) || strings.Contains(r.reportText, `"median_tokens": 0`) ||
		!strings.Contains(r.stdout, "tokens of "+Challenger+": n/a: grok reported none over acp") || !strings.Contains(r.stdout, "n/a") {
		t.Errorf("%s\n%s", r.reportText, r.stdout)
	}
}

// A bench that the challenger wins says so, and changes neither a binding nor
// what is documented.
func TestBenchRewritesNothing(t *testing.T) {
	t.Parallel()
	watched := func() (sum [sha256.Size]byte) {
		h := sha256.New()
		for _, pattern := range []string{"*", "fixtures/*", "../../agents/*.go", "../../cmd/satelle/topics/*", "../../docs/*.md", "../../.satelle/workflows/*"} {
			files, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if b, err := os.ReadFile(f); err == nil {
					fmt.Fprintf(h, "%s %d\n%s", f, len(b), b)
				}
			}
		}
		return [sha256.Size]byte(h.Sum(nil))
	}
	before := watched()
	r := benched(t, "-scene", sceneFrugal)
	if r.code != 0 || r.report.Decision == nil || !r.report.Decision.Change || r.report.Decision.Keep != Challenger {
		t.Fatalf("exit %d, %+v\n%s%s", r.code, r.report.Decision, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stdout, "recommended: the binding of "+Challenger+"; nothing was changed") {
		t.Errorf("%s", r.stdout)
	}
	if watched() != before {
		t.Error("a file of the project was changed")
	}
}
