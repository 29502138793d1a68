package agents

import (
	"maps"
	"slices"
	"strings"

	"satelle/internal/fault"
	"satelle/internal/tomledit"
)

// Catalogue is what a machine knows of agents, in config.toml of
// $SATELLE_HOME: which CLI its person has chosen, and bindings whose detail
// belongs in no repository.
//
//	[agent]
//	cli = "codex"
//
//	[bindings.planner]
//	model = "opus"
type Catalogue struct {
	// CLI is the command that judges where a repository's [reviewer] has none: a
	// key of the templates, "" for the default.
	CLI string
	layer
}

// ParseCatalogue reads a config.toml as strictly as an agents.toml.
func ParseCatalogue(path string, doc []byte) (Catalogue, error) {
	c := Catalogue{layer: layer{path: path, doc: doc, under: []string{"bindings"}}}
	var file struct {
		Agent struct {
			CLI string `toml:"cli"`
		} `toml:"agent"`
		Bindings map[string]table `toml:"bindings"`
	}
	if err := c.decode(&file); err != nil {
		return Catalogue{}, err
	}
	c.tables = file.Bindings
	if c.CLI = file.Agent.CLI; c.CLI != "" && templates[c.CLI] == "" {
		return Catalogue{}, c.fail(c.cliLine(), "[agent] cli %q: use one of %s", c.CLI, strings.Join(CLIs(), ", "))
	}
	for _, name := range c.names() {
		if _, err := c.binding(name, c.tables[name]); err != nil {
			return Catalogue{}, err
		}
	}
	return c, nil
}

func (c Catalogue) cliLine() int {
	return layer{doc: c.doc}.line("agent", "cli")
}

// CLIs are the headless CLIs that satelle has a template for.
func CLIs() []string { return slices.Sorted(maps.Keys(templates)) }

// KnownCLI refuses a CLI without a template.
func KnownCLI(cli string) error {
	if templates[cli] != "" {
		return nil
	}
	return fault.Try(fault.New(fault.Usage, "there is no CLI %q: use one of %s", cli, strings.Join(CLIs(), ", ")), "satelle agent use claude")
}

// Choose returns a config.toml that chooses a CLI, every other byte as it was.
// With the path of a launcher for the CLI's ACP server it also holds a binding
// `<cli>-acp` by which a route can name it, where there is none yet.
func Choose(doc []byte, cli, launcher string) ([]byte, error) {
	out, err := tomledit.Set(doc, tomledit.Quote(cli), "agent", "cli")
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "choosing the CLI")
	}
	name := cli + "-acp"
	if launcher == "" || cli == claude || tomledit.Line(doc, "bindings", name) > 0 {
		return out, nil
	}
	quote := `"`
	if strings.Contains(launcher, quote) {
		quote = "'"
	}
	for _, kv := range [][2]string{
		{"interface", InterfaceACP}, {"command", "sh " + quote + launcher + quote}, {"tools", "read_file,grep,list_dir"},
	} {
		if out, err = tomledit.Set(out, tomledit.Quote(kv[1]), "bindings", name, kv[0]); err != nil {
			return nil, fault.Wrap(err, fault.Refused, "writing the binding %s", name)
		}
	}
	_, err = ParseCatalogue("config.toml", out)
	return out, err
}

// filled is a repository's table with what it leaves open taken from the
// machine's. What an agent may use and which role it has stays the
// repository's word. (Decision Q48.)
func filled(repo, machine table) table {
	// How an agent is started is one thing, whatever keys say it.
	if repo.Command == nil && repo.Harness == nil && repo.Interface == nil {
		repo.Command, repo.Harness, repo.Interface = machine.Command, machine.Harness, machine.Interface
	}
	if repo.Principles == nil && repo.InjectPrinciples == nil {
		repo.Principles, repo.InjectPrinciples = machine.Principles, machine.InjectPrinciples
	}
	fill(&repo.Model, machine.Model)
	fill(&repo.Effort, machine.Effort)
	fill(&repo.Secondary, machine.Secondary)
	fill(&repo.Timeout, machine.Timeout)
	fill(&repo.Settings, machine.Settings)
	fill(&repo.Worktree, machine.Worktree)
	fill(&repo.MaxTokens, machine.MaxTokens)
	if len(machine.Env) > 0 {
		env := maps.Clone(machine.Env)
		maps.Copy(env, repo.Env)
		repo.Env = env
	}
	return repo
}

func fill[T any](repo **T, machine *T) {
	if *repo == nil {
		*repo = machine
	}
}
