package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"satelle/agents"
	"satelle/internal/fault"
	"satelle/workflow/route"
)

// scaffold writes the governance files that are missing and returns them by
// their paths; a file that is there is never overwritten, but for bare
// presets in agents.toml, which are expanded.
func (e *Engine) scaffold(ctx context.Context, rep *InitReport) (map[string][]byte, error) {
	files := map[string][]byte{".satelle/.gitignore": []byte("satelle.local.toml\n")}
	for name, b := range route.Shipped() {
		files[path.Join(".satelle", name)] = b
	}
	have := func(cli string) bool { _, err := exec.LookPath(cli); return err == nil }
	catalogue, err := substrate{home: e.Home}.catalogue()
	if err != nil {
		return nil, err
	}
	files[agentsFile] = agents.Preset(catalogue.CLI, have)
	check, from := proposeDone(e.repo.Top())
	files[configFile] = newConfig(strings.ToLower(ulid.Make().String()), check, proposeReaders(e.repo.Top()))
	made := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(e.repo.Top(), filepath.FromSlash(name))
		if _, err := os.Lstat(full); err == nil {
			continue
		} else if !os.IsNotExist(err) {
			return nil, fault.Wrap(err, nil, "looking at %s", name)
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return nil, fault.Wrap(err, nil, "making the folder of %s", name)
		}
		if err := writeAtomic(full, files[name], 0o644); err != nil {
			return nil, fault.Wrap(err, nil, "writing %s", name)
		}
		made[name] = files[name]
		rep.Created = append(rep.Created, name)
	}
	if _, ours := made[configFile]; ours {
		rep.From = from
	}
	if rep.Expanded, err = e.expandPresets(made); err != nil {
		return nil, err
	}
	return made, e.reviewer(rep, have)
}

// expandPresets replaces bare presets (`command = "claude"`) in agents.toml
// by the full templates, so that what runs can be read in the file, and reports
// whether there were any.
func (e *Engine) expandPresets(made map[string][]byte) (changed bool, err error) {
	full := filepath.Join(e.repo.Top(), agentsFile)
	old, err := readBounded(full, maxConfig)
	if err != nil {
		return false, err
	}
	expanded, changed, err := agents.Expand(old)
	if err != nil || !changed {
		return false, fault.Wrap(err, fault.Refused, "reading agents.toml")
	}
	made[agentsFile] = expanded
	return true, fault.Wrap(writeAtomic(full, expanded, 0o644), nil, "expanding the presets of agents.toml")
}

// reviewer reports which CLI reviews, and whether this machine has it.
func (e *Engine) reviewer(rep *InitReport, have func(string) bool) error {
	file, err := substrate{home: e.Home, dir: filepath.Join(e.repo.Top(), ".satelle")}.agents()
	if err != nil {
		return err
	}
	b, _ := file.Binding(agents.Reviewer)
	rep.Reviewer = b.Argv(agents.Values{})[0]
	rep.Missing = !have(rep.Reviewer)
	return nil
}

// proposeDone reads the repository's manifests for the command that tests it.
// Where there is none, git's own check for left-over conflict markers and
// blanks serves.
func proposeDone(top string) (command, from string) {
	for _, m := range []struct{ file, needle, command string }{
		{"Makefile", "\ntest:", "make test"},
		{"go.mod", "", "go test ./..."},
		{"Cargo.toml", "", "cargo test"},
		{"package.json", `"test"`, "npm test"},
		{"pyproject.toml", "pytest", "pytest"},
		{"tox.ini", "", "tox"},
		{"pom.xml", "", "mvn -q test"},
		{"build.gradle", "", "./gradlew test"},
		{"mix.exs", "", "mix test"},
		{"Gemfile", "rspec", "bundle exec rspec"},
	} {
		b, err := readBounded(filepath.Join(top, m.file), maxConfig)
		if err == nil && bytes.Contains(append([]byte("\n"), b...), []byte(m.needle)) {
			return m.command, m.file
		}
	}
	return "git diff --check", ""
}

func newConfig(project, done string, readers []string) []byte {
	b := fmt.Appendf(nil, `# satelle governs this repository
project = %q

[checks]
# What the gate to done asks; exit code 0 accepts.
done = %q
timeout = "10m"

[gate]
# Commands that an agent may run before it takes a story, in words: * stands
# for one, a last ** for any number, and neither for an option.
readers = [`, project, done)
	for _, r := range readers {
		b = fmt.Appendf(b, "\n  %q,", r)
	}
	if len(readers) > 0 {
		b = append(b, '\n')
	}
	return append(b, "]\n"...)
}
