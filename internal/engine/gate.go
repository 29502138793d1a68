package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"satelle/internal/fault"
	"satelle/ledger/seatread"
	"satelle/workflow"
)

// gateConfig is the table `[gate]` of satelle.toml. It holds from when a person
// has trusted it: it says what the hook lets pass.
type gateConfig struct {
	// Outside is what may change outside of every governed tree.
	Outside string `toml:"outside"`
	// Readers are commands that count as reading.
	Readers []string `toml:"readers"`
	// ReaderTools are tools that count as reading.
	ReaderTools []string `toml:"reader_tools"`
	// Mode is one mode for every kind of rule, or a table of them.
	Mode any `toml:"mode"`
}

// Gate is the configuration's gate as the hook reads it.
func (c Config) gate() (seatread.Gate, error) {
	g := seatread.Gate{Outside: c.Gate.Outside, Tools: c.Gate.ReaderTools}
	if g.Outside == seatread.OutsideTemp {
		g.Outside = "" // the default, said aloud
	}
	for _, command := range c.Gate.Readers {
		g.Readers = append(g.Readers, strings.Fields(command))
	}
	modes := map[string]string{}
	switch mode := c.Gate.Mode.(type) {
	case nil:
	case string:
		if !slices.Contains([]string{seatread.ModeEnforce, seatread.ModeWarn, seatread.ModeAudit}, mode) {
			return g, fault.New(fault.Refused, "`gate.mode` must be enforce, warn or audit, or a table of these, not %q", mode)
		}
		for _, kind := range workflow.SoftRules {
			modes[kind] = mode
		}
	case map[string]any:
		for kind, m := range mode {
			text, ok := m.(string)
			if !ok {
				return g, fault.New(fault.Refused, "`gate.mode.%s` must be enforce, warn or audit", kind)
			}
			modes[kind] = text
		}
	default:
		return g, fault.New(fault.Refused, "`gate.mode` must be enforce, warn or audit, or a table of these")
	}
	for kind, mode := range modes {
		if mode != seatread.ModeEnforce {
			if g.Mode == nil {
				g.Mode = map[string]string{}
			}
			g.Mode[kind] = mode
		}
	}
	return g, workflow.CheckGate(g)
}

// gateDigest identifies a gate, for the statement that a person signs.
func gateDigest(g seatread.Gate) string {
	b, _ := json.Marshal(g) // strings only
	sum := sha256.Sum256(append([]byte("gate\n"), b...))
	return hex.EncodeToString(sum[:])
}

// gateText shows a gate to the person who is to trust it.
func gateText(g seatread.Gate) string {
	var b strings.Builder
	if g.Outside != "" {
		b.WriteString("outside = " + g.Outside + "\n")
	}
	for _, words := range g.Readers {
		b.WriteString("reads: " + strings.Join(words, " ") + "\n")
	}
	for _, tool := range g.Tools {
		b.WriteString("reads: the tool " + tool + "\n")
	}
	for _, kind := range workflow.SoftRules {
		if mode := g.Mode[kind]; mode != "" {
			b.WriteString("mode of " + kind + " = " + mode + "\n")
		}
	}
	if b.Len() == 0 {
		return "the defaults: everything is enforced"
	}
	return b.String()
}

// proposeReaders reads the repository's manifests for the commands that test
// and build it, so that an agent can run them before it takes a story. They
// run what lies in the tree, which nobody may have changed without one.
func proposeReaders(top string) []string {
	var out []string
	has := func(file, pattern string) bool {
		b, err := readBounded(filepath.Join(top, file), maxConfig)
		return err == nil && regexp.MustCompile(pattern).Match(b)
	}
	for _, target := range []string{"test", "check", "lint", "build"} {
		if has("Makefile", `(?m)^`+target+`:`) {
			out = append(out, "make "+target)
		}
	}
	if has("go.mod", "") {
		out = append(out, "go test **", "go test -run * **", "go test -race **", "go test -v **", "go vet **", "go build ./...")
	}
	if has("Cargo.toml", "") {
		out = append(out, "cargo test **", "cargo check", "cargo build", "cargo clippy")
	}
	for _, script := range []string{"test", "lint", "build"} {
		if has("package.json", `"`+script+`"\s*:`) {
			run := "npm run "
			for _, m := range [...]struct{ lock, run string }{{"pnpm-lock.yaml", "pnpm run "}, {"yarn.lock", "yarn run "}, {"bun.lock", "bun run "}} {
				if _, err := os.Stat(filepath.Join(top, m.lock)); err == nil {
					run = m.run
					break
				}
			}
			out = append(out, run+script)
			if script == "test" && run == "npm run " {
				out = append(out, "npm test")
			}
		}
	}
	for _, m := range []struct {
		file, pattern string
		commands      []string
	}{
		{"pyproject.toml", "pytest", []string{"pytest **", "python -m pytest **"}},
		{"tox.ini", "", []string{"tox"}},
		{"pom.xml", "", []string{"mvn -q test", "mvn test"}},
		{"build.gradle", "", []string{"./gradlew test", "./gradlew build"}},
		{"build.gradle.kts", "", []string{"./gradlew test", "./gradlew build"}},
		{"mix.exs", "", []string{"mix test **"}},
		{"Gemfile", "rspec", []string{"bundle exec rspec **"}},
	} {
		if has(m.file, m.pattern) {
			out = append(out, m.commands...)
		}
	}
	return slices.Compact(out)
}
