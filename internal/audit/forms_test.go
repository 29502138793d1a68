package audit

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// mixed is a report with something of everything.
func mixed(t *testing.T) Report {
	s := newScene(t)
	b := s.next("b")
	b.Message, b.Paths = "Wild <b> & \x01 \"q\"\n\x00", []string{"a b/ü#?.txt"}
	s.ann.prepare(s.next("c"), "", person, preparedNothing)
	s.in.Logs = []*Log{s.ann.published(), {Origin: "satelle/p/eve"}}
	return s.run()
}

// TestSARIF holds what is written against what SARIF 2.1.0 requires, and what
// code scanning does.
func TestSARIF(t *testing.T) {
	rep := mixed(t)
	var b bytes.Buffer
	if err := rep.WriteSARIF(&b, "1.0"); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID                   string
						ShortDescription     struct{ Text string }
						Help                 struct{ Text string }
						DefaultConfiguration struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID              string
				RuleIndex           *int
				Level               string
				Message             struct{ Text string }
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	rules := run.Tool.Driver.Rules
	for i, r := range rules {
		if r.ID == "" || r.ShortDescription.Text == "" || r.Help.Text == "" || !slices.Contains([]string{Error, Warning, Note}, r.DefaultConfiguration.Level) ||
			slices.ContainsFunc(Rules[:i], func(other Rule) bool { return other.ID == r.ID }) {
			t.Errorf("rule %+v", r)
		}
	}
	if run.Tool.Driver.Name == "" || len(run.Results) != len(rep.Findings) || len(run.Results) < 4 {
		t.Fatalf("%d results of %d findings", len(run.Results), len(rep.Findings))
	}
	prints := map[string]bool{}
	for _, r := range run.Results {
		if r.RuleIndex == nil || rules[*r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || len(r.Locations) != 1 ||
			!slices.Contains([]string{Error, Warning, Note}, r.Level) {
			t.Fatalf("%+v", r)
		}
		at := r.Locations[0].PhysicalLocation
		if u, err := url.Parse(at.ArtifactLocation.URI); err != nil || u.IsAbs() || u.Path == "" || u.Fragment != "" || u.RawQuery != "" || at.Region.StartLine != 1 {
			t.Errorf("the place %+v", at)
		}
		for _, p := range r.PartialFingerprints {
			if prints[p] {
				t.Errorf("two results have the fingerprint %s", p)
			}
			prints[p] = true
		}
	}
}

// TestJUnit writes a case for each commit and log, which fails with its errors.
func TestJUnit(t *testing.T) {
	rep := mixed(t)
	var b bytes.Buffer
	if err := rep.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var all junitSuites
	if err := xml.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	if len(all.Suites) != 2 || all.Tests != 5 || all.Failures != 1 {
		t.Fatalf("%+v", all)
	}
	commits := all.Suites[1]
	if commits.Tests != 3 || commits.Cases[1].Failure == nil || commits.Cases[1].Failure.Type != "ungoverned" || commits.Cases[0].Failure != nil {
		t.Errorf("%+v", commits)
	}
	if !strings.Contains(commits.Cases[2].Output, "note: person") {
		t.Errorf("%+v", commits.Cases[2])
	}
}
