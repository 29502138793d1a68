package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"satelle/internal/fault"
	"satelle/internal/gitrepo"
	"satelle/workflow"
	"satelle/workflow/route"
)

const (
	maxSkill  = 1 << 20
	maxSkills = 500
)

// substrate is the repository's `.satelle/`: configuration and route.
type substrate struct {
	home   string // $SATELLE_HOME
	dir    string
	trees  []string // the clone's work trees, the main one first
	config Config
}

func loadSubstrate(home string, repo *gitrepo.Repo) (substrate, error) {
	s := substrate{home: home, dir: filepath.Join(repo.Top(), ".satelle"), trees: repo.Trees()}
	var err error
	s.config, err = loadConfig(filepath.Join(s.dir, "satelle.toml"))
	return s, err
}

// source reads the files of the route.
func (s substrate) source() (route.Source, error) {
	src := route.Source{Skills: map[string][]byte{}}
	var err error
	if src.Done, err = readBounded(filepath.Join(s.dir, "workflows", "done.md"), maxSkill); err != nil {
		return src, fault.Wrap(err, fault.Refused, "reading the route")
	}
	if src.Step, err = readBounded(filepath.Join(s.dir, "workflows", "step.md"), maxSkill); err != nil {
		return src, fault.Wrap(err, fault.Refused, "reading the route")
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, "skills"))
	if err != nil && !os.IsNotExist(err) {
		return src, fault.Wrap(err, fault.Refused, "reading the skills")
	}
	if len(entries) > maxSkills {
		return src, fault.New(fault.Refused, ".satelle/skills holds %d files; at most %d are read", len(entries), maxSkills)
	}
	for _, e := range entries {
		name, isSkill := strings.CutSuffix(e.Name(), ".md")
		if !isSkill {
			continue
		}
		if src.Skills[name], err = readBounded(filepath.Join(s.dir, "skills", e.Name()), maxSkill); err != nil {
			return src, fault.Wrap(err, fault.Refused, "reading the skills")
		}
	}
	return src, nil
}

// route parses the route; its problems refuse, since a route that cannot be
// read governs by refusing.
func (s substrate) route() (*route.Route, error) {
	src, err := s.source()
	if err != nil {
		return nil, err
	}
	r, err := route.Parse(src)
	if err != nil {
		return nil, fault.Try(fault.Wrap(err, fault.Refused, "the route has to be mended first"), "satelle workflow validate")
	}
	return r, nil
}

// lane resolves the lane of a category as it stands today, with the
// repository's own check filled in.
func (s substrate) lane(category string, tags []string) (route.Lane, error) {
	r, err := s.route()
	if err != nil {
		return route.Lane{}, err
	}
	lane, err := r.Lane(category, tags)
	if err != nil {
		return lane, fault.Wrap(err, fault.Refused, "finding the lane of category %q", category)
	}
	return s.withChecks(lane), nil
}

// withChecks fills in what satelle.toml says of checks.
func (s substrate) withChecks(lane route.Lane) route.Lane {
	if sk, named := lane.Skills[route.DoneCheck]; named && s.config.Checks.Done != "" {
		sk.Kind = route.KindCheck
		sk.Check = s.config.Checks.Done
		sk.Timeout = s.config.CheckTimeout()
		sk.Digest = checkDigest(sk.Check)
		lane.Skills[route.DoneCheck] = sk
	}
	for name, sk := range lane.Skills {
		if sk.Kind == route.KindCheck || sk.Kind == route.KindRubric {
			sk.Watch = s.config.Checks.Watch
			lane.Skills[name] = sk
		}
	}
	return lane
}

func checkDigest(text string) string {
	sum := sha256.Sum256([]byte("done-check\n" + text))
	return hex.EncodeToString(sum[:])
}

// executables lists what the repository would run: the done check and the
// checks of skills.
func (s substrate) executables() ([]workflow.Executable, error) {
	var out []workflow.Executable
	if text := s.config.Checks.Done; text != "" {
		out = append(out, workflow.Executable{Name: "[checks] done", Digest: checkDigest(text), Text: text})
	}
	r, err := s.route()
	if err != nil {
		return nil, err
	}
	for _, sk := range r.Skills() {
		if sk.Kind == route.KindCheck {
			out = append(out, workflow.Executable{Name: "check " + sk.Name, Digest: sk.Digest, Text: sk.Check})
		}
	}
	file, vars, err := s.bindings()
	if err != nil {
		return nil, err
	}
	for _, b := range file.Bindings {
		if x, runs := executable(file, b, vars); runs {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b workflow.Executable) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
