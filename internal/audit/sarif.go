package audit

import (
	"cmp"
	"encoding/json"
	"io"
)

// WriteSARIF writes the report as SARIF 2.1.0, for code scanning. A finding is
// placed at a path that its commit changes, since SARIF knows no commits.
func (r *Report) WriteSARIF(w io.Writer, version string) error {
	driver := sarifDriver{Name: "satelle audit", Version: version, Rules: make([]sarifRule, len(Rules))}
	index := map[string]int{}
	for i, rule := range Rules {
		index[rule.ID] = i
		driver.Rules[i] = sarifRule{
			ID: rule.ID, Short: sarifText{rule.What}, Default: sarifLevel{rule.Level},
			Help: sarifText{cmp.Or(rule.Mend, rule.What)},
		}
	}
	results := make([]sarifResult, len(r.Findings))
	for i, f := range r.Findings {
		text := f.Message
		if f.Commit != "" {
			text = "commit " + short(f.Commit) + " (" + f.Subject + "): " + text
		}
		results[i] = sarifResult{
			Rule: f.Rule, Index: index[f.Rule], Level: f.Level, Message: sarifText{text},
			Locations: []sarifLocation{{sarifPhysical{
				Artifact: sarifArtifact{uri(cmp.Or(f.Path, ".satelle/satelle.toml"))},
				Region:   sarifRegion{1},
			}}},
			Fingerprints: map[string]string{"satelleFinding/v1": f.Rule + " " + cmp.Or(f.Commit, f.Origin) + " " + f.Path},
			Properties:   f,
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{Tool: sarifTool{driver}, Results: results, Properties: r}},
	})
}

// uri writes a path as a relative URI reference.
func uri(path string) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~', c == '/':
			out = append(out, c)
		default:
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	Results    []sarifResult `json:"results"`
	Properties *Report       `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string     `json:"id"`
	Short   sarifText  `json:"shortDescription"`
	Help    sarifText  `json:"help"`
	Default sarifLevel `json:"defaultConfiguration"`
}

type sarifLevel struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	Rule         string            `json:"ruleId"`
	Index        int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   Finding           `json:"properties"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}
