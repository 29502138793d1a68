package main

import (
	"time"

	"satelle/workflow"
)

// SchemaVersion is that of the form of a [Record]; it grows with every change
// that a reader would notice.
const SchemaVersion = 1

// Outcomes of a run.
const (
	Good           = "good"           // every criterion is met
	Poor           = "poor"           // an answer came, and a criterion is not met
	Infrastructure = "infrastructure" // no answer came
)

// Modes of a bench.
const (
	Hermetic = "hermetic" // with scripted peers
	Live     = "live"     // with real agents
)

// Record is what is kept of one run: a file of its own, in which EVIDENCE.md
// names every field.
type Record struct {
	Schema  int    `json:"schema"`
	Bench   string `json:"bench"` // which bench the run belongs to: the folder's name
	Mode    string `json:"mode"`
	Cell    string `json:"cell"`
	Fixture string `json:"fixture"`
	Number  int    `json:"number"` // from 1, within cell and fixture
	// Probe marks the run that is cut short on purpose, to see how well the
	// transport tells why. It counts for diagnostics alone.
	Probe     bool      `json:"probe"`
	Started   time.Time `json:"started"`
	Interface string    `json:"interface"`
	Program   string    `json:"program"`
	Model     string    `json:"model"`
	Effort    string    `json:"effort"`
	ElapsedMS int64     `json:"elapsed_ms"`

	Outcome string `json:"outcome"`
	// Class and Message are those of the failure, "" where an answer came.
	Class    string      `json:"class"`
	Message  string      `json:"message"`
	Criteria []Criterion `json:"criteria"`

	UsageAvailable  bool           `json:"usage_available"`
	UsageProvenance string         `json:"usage_provenance"`
	Usage           workflow.Usage `json:"usage"`

	// Events counts what the transport told while the agent ran, by kind.
	Events map[string]int `json:"events"`
	// Diagnostics is how much a failure tells, from 0 to 3; absent without one.
	Diagnostics *int `json:"diagnostics,omitempty"`

	// Raw and Artifact are the names of the sidecars.
	Raw      string `json:"raw"`
	Artifact string `json:"artifact"`
}

// Groups of criteria.
const (
	GroupArtifact = "artifact"
	GroupPolicy   = "policy"
)

// Criterion is one thing that a run had to show.
type Criterion struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Met    bool   `json:"met"`
	Reason string `json:"reason"` // why it is met or not
}

// all reports whether every criterion of a group is met. A run without an
// answer meets none.
func (r Record) all(group string) bool {
	some := false
	for _, c := range r.Criteria {
		if c.Group == group {
			some = true
			if !c.Met {
				return false
			}
		}
	}
	return some
}

// sample is the record as the rule sees it.
func (r Record) sample() Sample {
	s := Sample{
		Correct: r.all(GroupArtifact), Faithful: r.all(GroupPolicy),
		Failed: r.Outcome == Infrastructure, WallMS: r.ElapsedMS,
	}
	if n, ok := r.Usage.Tokens(); ok {
		s.Tokens = &n
	}
	return s
}
