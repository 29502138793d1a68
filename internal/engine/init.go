package engine

import (
	"bytes"
	"context"
	"crypto/rand"
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
	"satelle/internal/place"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// InitReport says what [Init] did; a second run finds nothing to do.
type InitReport struct {
	Top     string   `json:"top"`
	Origin  string   `json:"origin"`
	Created []string `json:"created"`
	// DoneCheck is the command that the gate to done asks, and From the
	// manifest that it was read off, or "".
	DoneCheck string `json:"done_check"`
	From      string `json:"from"`
	// Reviewer is the CLI of the [reviewer] binding; Missing says that this
	// machine does not have it.
	Reviewer string `json:"reviewer"`
	Missing  bool   `json:"reviewer_missing"`
	// Story is the bootstrap story that covers the files, if one was made.
	Story string `json:"story,omitempty"`
	// Untrusted counts executables that a person has to trust first.
	Untrusted int `json:"untrusted"`
}

// Init sets satelle up in the repository of dir: the governance files that
// are missing, the ledger and its key, trust in what it wrote itself, and a
// story that covers the new files.
func Init(ctx context.Context, dir string) (InitReport, error) {
	var rep InitReport
	e, err := open(ctx, dir)
	if err != nil {
		return rep, err
	}
	rep.Top = e.repo.Top()
	if err := e.makeHome(); err != nil {
		return rep, err
	}
	if e.host, err = makeHost(e.Home); err != nil {
		return rep, err
	}
	made, err := e.scaffold(ctx, &rep)
	if err != nil {
		return rep, err
	}
	if e.sub, err = loadSubstrate(e.repo.Top()); err != nil {
		return rep, err
	}
	if err := e.makeLedger(ctx, &rep); err != nil {
		return rep, err
	}
	// Only a log that is new has nobody's trust to go by. In one that is there, a
	// check that is proposed anew is trusted as every other: by a person.
	if slices.Contains(rep.Created, configFile) && slices.Contains(rep.Created, createdLedger) {
		if err := e.trustOwn(ctx); err != nil {
			return rep, err
		}
	}
	if len(made) > 0 {
		if rep.Story, err = e.bootstrap(ctx, made); err != nil {
			return rep, err
		}
	}
	untrusted, err := e.Untrusted(ctx)
	rep.Untrusted = len(untrusted)
	rep.DoneCheck = e.sub.config.Checks.Done
	return rep, err
}

const (
	configFile    = ".satelle/satelle.toml"
	createdLedger = "ledger" // in [InitReport.Created]
)

func (e *Engine) makeHome() error {
	for _, d := range []string{e.Home, filepath.Join(e.Home, "keys"), filepath.Join(e.Home, "bin"), filepath.Join(e.Home, "sessions"), e.Place.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fault.Wrap(err, nil, "making %s", d)
		}
	}
	for _, d := range []string{"leases", "spool", "stories", "logs"} {
		if err := os.MkdirAll(filepath.Join(e.Place.Dir, d), 0o700); err != nil {
			return fault.Wrap(err, nil, "making %s", d)
		}
	}
	return nil
}

// scaffold writes the governance files that are missing and returns them by
// their paths; a file that is there is never overwritten, but for bare
// presets in agents.toml, which are expanded.
func (e *Engine) scaffold(ctx context.Context, rep *InitReport) (map[string][]byte, error) {
	files := map[string][]byte{".satelle/.gitignore": []byte("satelle.local.toml\n")}
	for name, b := range route.Shipped() {
		files[path.Join(".satelle", name)] = b
	}
	have := func(cli string) bool { _, err := exec.LookPath(cli); return err == nil }
	files[agentsFile] = agents.Preset(have)
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
	if err := e.expandPresets(made); err != nil {
		return nil, err
	}
	return made, e.reviewer(rep, have)
}

// expandPresets replaces bare presets (`command = "claude"`) in agents.toml
// by the full templates, so that what runs can be read in the file.
func (e *Engine) expandPresets(made map[string][]byte) error {
	full := filepath.Join(e.repo.Top(), agentsFile)
	old, err := readBounded(full, maxConfig)
	if err != nil {
		return err
	}
	expanded, changed, err := agents.Expand(old)
	if err != nil || !changed {
		return fault.Wrap(err, fault.Refused, "reading agents.toml")
	}
	made[agentsFile] = expanded
	return fault.Wrap(writeAtomic(full, expanded, 0o644), nil, "expanding the presets of agents.toml")
}

// reviewer reports which CLI reviews, and whether this machine has it.
func (e *Engine) reviewer(rep *InitReport, have func(string) bool) error {
	file, err := substrate{dir: filepath.Join(e.repo.Top(), ".satelle")}.agents()
	if err != nil {
		return err
	}
	b, _ := file.Binding(agents.Reviewer)
	rep.Reviewer, _, _ = strings.Cut(b.Command, " ")
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

// proposeReaders names the test command, which an agent may run before it
// takes a story; a person may add more.
func proposeReaders(top string) []string {
	if command, from := proposeDone(top); from != "" {
		return []string{command}
	}
	return nil
}

func newConfig(project, done string, readers []string) []byte {
	quoted := make([]string, len(readers))
	for i, r := range readers {
		quoted[i] = fmt.Sprintf("%q", r)
	}
	return fmt.Appendf(nil, `# satelle governs this repository
project = %q

[gate]
# Commands that the project vouches for as reading only.
readers = [%s]

[checks]
# What the gate to done asks; exit code 0 accepts.
done = %q
timeout = "10m"
`, project, strings.Join(quoted, ", "), done)
}

// makeLedger creates the log where there is none. A clone whose log is lost
// goes on in a new one that names the last checkpoint kept of the old.
func (e *Engine) makeLedger(ctx context.Context, rep *InitReport) error {
	clone, err := e.cloneID()
	if err != nil {
		return err
	}
	if _, err := os.Stat(e.cfg.Path); os.IsNotExist(err) {
		genesis := ledger.Genesis{Project: e.sub.config.Project, Clone: clone, Actor: e.self()}
		var log *ledger.Log
		if last, rerr := readBounded(e.lastCheckpoint(), maxConfig); rerr == nil {
			genesis.Continues = &ledger.Continuation{Checkpoint: string(last), Reason: "the ledger's file was lost"}
		}
		if log, err = ledger.Create(ctx, e.cfg, genesis); err != nil {
			return err
		}
		if err := log.Close(); err != nil {
			return err
		}
		rep.Created = append(rep.Created, createdLedger)
	} else if err != nil {
		return fault.Wrap(err, nil, "looking for the ledger")
	}
	e.Place, err = place.Find(e.Home, e.repo.Top())
	if err != nil {
		return fault.Wrap(err, nil, "finding what governs %s", e.repo.Top())
	}
	if err := e.recordHome(); err != nil {
		return err
	}
	var key string
	err = e.with(ctx, func(log *ledger.Log) error {
		rep.Origin, key = log.Origin(), log.VKey()
		head, err := log.Head()
		if err != nil {
			return err
		}
		return e.keepCheckpoint(head)
	})
	if err != nil {
		return err
	}
	name := filepath.Join(e.repo.Top(), ".satelle", "logs", clone+".pub")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fault.Wrap(err, nil, "making .satelle/logs")
	}
	rep.Created = append(rep.Created, ".satelle/logs/"+clone+".pub")
	return fault.Wrap(writeAtomic(name, []byte(key+"\n"), 0o644), nil, "publishing the log's public key")
}

// lastCheckpoint is where the latest known checkpoint of the log is kept,
// beside it, for the day on which the log is lost.
func (e *Engine) lastCheckpoint() string { return filepath.Join(e.Place.Dir, "checkpoint") }

func (e *Engine) keepCheckpoint(head ledger.Head) error {
	return fault.Wrap(writeAtomic(e.lastCheckpoint(), []byte(head.Note), 0o600), nil, "keeping the checkpoint")
}

// cloneID returns the clone's random id, which lies in the git common dir so
// that it is never committed and the same for every work tree.
func (e *Engine) cloneID() (string, error) {
	path := filepath.Join(e.repo.CommonDir(), "satelle-clone")
	b, err := readBounded(path, 64)
	if err == nil {
		id := strings.TrimSpace(string(b))
		if len(id) != 8 || strings.Trim(id, idAlphabet) != "" {
			return "", fault.New(fault.Refused, "%s holds no clone id", path)
		}
		return id, nil
	}
	if !fault.Is(err, fault.NotFound) {
		return "", err
	}
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	for i, b := range raw {
		raw[i] = idAlphabet[int(b)%len(idAlphabet)]
	}
	return string(raw), fault.Wrap(writeAtomic(path, append(raw, '\n'), 0o644), nil, "keeping the clone's id")
}

// trustOwn trusts what init wrote itself, and only that.
func (e *Engine) trustOwn(ctx context.Context) error {
	text := e.sub.config.Checks.Done
	if text == "" {
		return nil
	}
	own := workflow.Executable{Name: "[checks] done", Digest: checkDigest(text), Text: text}
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.TrustOwn(own, e.self()), nil
	})
	return err
}

// bootstrap records a story for the files that init wrote. Where a person ran
// init, that is the approval, and the story ends as done; an agent's leaves
// it open for a person.
func (e *Engine) bootstrap(ctx context.Context, made map[string][]byte) (string, error) {
	title, category := "Set up satelle", "substrate"
	criteria := []string{"The governance files are in the repository"}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&list, "- %s (%d bytes)\n", name, len(made[name]))
	}
	body := "`satelle init` wrote these files:\n\n" + list.String()
	s, err := e.Create(ctx, workflow.Fields{Title: &title, Category: &category, Body: &body, Criteria: &criteria})
	if err != nil {
		return "", err
	}
	if e.Actor(ctx).Kind != workflow.ActorPerson || s.Plan.Name != category {
		return s.ID, nil
	}
	id := s.ID
	for !s.Terminal() {
		_, err := e.Approve(ctx, id, true, "satelle init was run by a person")
		if err == nil {
			var moved Moved
			moved, err = e.Set(ctx, id, SetOptions{})
			s = moved.Story
		}
		if fault.Is(err, fault.Refused) {
			return id, nil // approvers sign, or another story sits here: a person moves this one later
		}
		if err != nil {
			return id, err
		}
	}
	return id, nil
}
