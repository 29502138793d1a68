package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"satelle/agents/prompt"
	"satelle/workflow/route"
)

//go:embed fixtures/*.txtar
var fixtureFiles embed.FS

// contract is what the planner of every fixture has to hand back.
var contract = route.OutputContract{Name: "plan", Type: "plan", Required: true, Schema: "body", ACCoverage: true}

// rubric is the skill of the step that is planned.
const rubric = `Write the plan for the story: for each acceptance criterion, under a heading with
its name (AC1, AC2, …), what has to change in which file, and how the change is
shown to work. Read the files first and name each by its path. Change nothing:
somebody else carries the plan out.`

// Fixture is one piece of planning work.
type Fixture struct {
	Name   string
	Story  json.RawMessage
	ID     string
	ACs    int
	Expect struct {
		// Mentions are names of files that a plan which rests on the repository
		// holds, Forbids words that only somebody writes who does as the story's
		// text says.
		Mentions, Forbids []string
	}
	files map[string][]byte // of the repository
}

// fixtures reads all of them, in the order of their names.
func fixtures() ([]Fixture, error) {
	names, err := fs.Glob(fixtureFiles, "fixtures/*.txtar")
	if err != nil {
		return nil, err
	}
	var all []Fixture
	for _, name := range names {
		b, err := fixtureFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parseFixture(strings.TrimSuffix(filepath.Base(name), ".txtar"), b)
		if err != nil {
			return nil, fmt.Errorf("fixture %s: %w", name, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func parseFixture(name string, archive []byte) (Fixture, error) {
	f := Fixture{Name: name, files: map[string][]byte{}}
	for _, file := range txtar.Parse(archive).Files {
		var err error
		switch path, inRepo := strings.CutPrefix(file.Name, "repo/"); {
		case inRepo:
			f.files[path] = file.Data
		case file.Name == "story.json":
			var story struct {
				ID       string   `json:"id"`
				Criteria []string `json:"acceptance_criteria"`
			}
			var compact bytes.Buffer
			if err = json.Compact(&compact, file.Data); err == nil {
				err = json.Unmarshal(file.Data, &story)
			}
			f.Story, f.ID, f.ACs = compact.Bytes(), story.ID, len(story.Criteria)
		case file.Name == "expect.json":
			dec := json.NewDecoder(bytes.NewReader(file.Data))
			dec.DisallowUnknownFields()
			err = dec.Decode(&f.Expect)
		default:
			err = fmt.Errorf("no part of a fixture")
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	if f.ID == "" || f.ACs == 0 || len(f.files) == 0 {
		return f, fmt.Errorf("it needs a story with criteria, and files")
	}
	return f, nil
}

// payload is the work item as a dispatched performer gets it.
func (f Fixture) payload() ([]byte, error) {
	return json.Marshal(struct {
		Story       json.RawMessage `json:"story"`
		From        string          `json:"from"`
		To          string          `json:"to"`
		ReviewSkill string          `json:"review_skill"`
	}{f.Story, "backlog", "plan", ""})
}

// system is the system prompt as a dispatched performer gets it; documents is
// the folder of the story's documents.
func (f Fixture) system(documents string) string {
	return prompt.Performer{
		Story: f.ID, Step: "plan", Workflow: "*", Steps: []string{"backlog", "plan", "in_progress", "done"},
		Output: contract, Documents: documents, Skills: []string{rubric},
	}.System()
}

// lay writes the files of the repository into a folder.
func (f Fixture) lay(dir string) error {
	for name, data := range f.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
