package audit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WriteJUnit writes the report as JUnit XML: a case for each commit and each
// log, which fails if there is an error of it. Warnings and notes are the
// case's output.
func (r *Report) WriteJUnit(w io.Writer) error {
	byCommit := map[string][]Finding{}
	byLog := map[string][]Finding{}
	for _, f := range r.Findings {
		if f.Commit != "" {
			byCommit[f.Commit] = append(byCommit[f.Commit], f)
		} else {
			byLog[f.Origin] = append(byLog[f.Origin], f)
		}
	}
	logs := junitSuite{Name: "logs"}
	done := map[string]bool{}
	for _, l := range r.Logs {
		if !done[l.Origin] {
			logs.add("satelle.logs", fmt.Sprintf("%s (%d records)", l.Origin, l.Size), byLog[l.Origin])
		}
		done[l.Origin] = true
	}
	commits := junitSuite{Name: "commits"}
	for i := range r.All {
		c := &r.All[i]
		commits.add("satelle.commits", short(c.Hash)+" "+c.Subject(), byCommit[c.Hash])
	}
	all := junitSuites{Name: "satelle audit", Suites: []junitSuite{logs, commits}}
	for _, s := range all.Suites {
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (s *junitSuite) add(class, name string, findings []Finding) {
	c := junitCase{Class: class, Name: strings.ToValidUTF8(name, "\uFFFD")}
	var failures, output strings.Builder
	for _, f := range findings {
		if f.Level != Error {
			fmt.Fprintf(&output, "%s: %s: %s\n", f.Level, f.Rule, f.Message)
			continue
		}
		if c.Failure == nil {
			c.Failure = &junitFailure{Type: f.Rule, Message: f.Message}
			s.Failures++
		}
		fmt.Fprintf(&failures, "%s: %s\n%s\n", f.Rule, f.Message, f.Mend)
	}
	if c.Failure != nil {
		c.Failure.Text = failures.String()
	}
	c.Output = output.String()
	s.Tests++
	s.Cases = append(s.Cases, c)
}
