package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"satelle/internal/ancestry"
	"satelle/internal/place"
	"satelle/workflow"
)

// asWorker runs a command below a process that is registered as a worker of a
// role, for a story: `as-worker ROLE STORY COMMAND…`.
func asWorker() int {
	home, err := place.HomeDir()
	if err == nil {
		_, err = ancestry.RegisterWorker(home, os.Getpid(), ancestry.Worker{ID: "id-of-" + os.Args[1], Role: os.Args[1], Binding: "someone", Story: os.Args[2]})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd := exec.Command(os.Args[3], os.Args[4:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

// verbs are those that can be called, and their commands.
func verbs() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() {
			all[verbOf(c)] = c
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := newRootCmd(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	walk(root)
	return all
}

// TestEveryVerbSaysWhoseItIs: a new verb has to say whether agents that satelle
// has started may use it, and nothing says so of a verb that is gone.
func TestEveryVerbSaysWhoseItIs(t *testing.T) {
	known, have := workflow.WorkerVerbs(), verbs()
	for verb := range have {
		if !slices.Contains(known, verb) {
			t.Errorf("`satelle %s` is not among the verbs of package workflow", verb)
		}
	}
	for _, verb := range known {
		if have[verb] == nil {
			t.Errorf("there is no `satelle %s`", verb)
		}
	}
}

// arguments are those with which a verb that changes something would work in the
// hands of somebody else; @A is a story.
var arguments = map[string]string{
	"story create": "--title x --ac x --parent @A", "story comment": "@A --kind comment --body x", "story attach": "@A --name x --file a.txt",
	"story start": "--title x --ac x", "story set": "@A --next", "story edit": "@A --title x", "story join": "@A", "story adopt": "@A", "story restamp": "@A",
	"ledger otel": "", "ledger redact": "0000 --reason x", "ledger rotate-key": "",
	"agent run": "someone --story @A", "agent use": "claude", "agents install": "all", "agents remove": "all",
	"init": "", "migrate": "", "judge": "@A 1", "appeal": "why",
	"approve": "@A", "trust": "--yes", "halt": "why", "resume": "",
}

// TestWorkersAndVerbs goes through all verbs that are not for everybody, as each
// that satelle can have started: what is refused is refused with 3, a reason and
// a command that leads on, and nothing has come of it.
func TestWorkersAndVerbs(t *testing.T) {
	t.Parallel()
	s := newScratch(t, map[string]string{"a.txt": "a"})
	made := s.must("satelle", "story", "create", "--title", "A", "--ac", "a")
	id := made[strings.Index(made, "sty_"):][:12]
	records := func() string { // but for what tells of the refusals
		var kept []string
		for line := range strings.Lines(s.must("satelle", "ledger", "list", "--limit", "1000", "--json")) {
			if !strings.Contains(line, `"kind":"observed.`) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	before := records()
	refused := 0
	for verb := range verbs() {
		access := workflow.VerbAccess(verb)
		if access == workflow.Everybody {
			continue
		}
		args, ok := arguments[verb]
		if !ok {
			t.Errorf("no arguments for `satelle %s`", verb)
			continue
		}
		argv := append([]string{"satelle"}, strings.Fields(verb+" "+strings.ReplaceAll(args, "@A", id))...)
		for _, role := range []string{ancestry.RoleAgent, ancestry.RoleReviewer, ancestry.RoleJudge} {
			if role == ancestry.RoleAgent && access == workflow.Performers {
				continue
			}
			story := id
			if role == ancestry.RoleJudge {
				story = "" // which of its agents it was can't be told
			}
			cmd := s.command(append([]string{"as-worker", role, story}, argv...)...)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(out), verb) || !strings.Contains(string(out), "\ntry: satelle story ") {
				t.Errorf("%s, %s: exit code %d: %s", role, verb, code, out)
			}
			refused++
		}
	}
	if got := records(); got != before {
		t.Errorf("something has come of it:\n%s", got)
	}
	if n := strings.Count(s.must("satelle", "ledger", "list", "--kind", "observed.denied", "--limit", "1000"), "\n"); n != refused {
		t.Errorf("%d refusals are on record, %d there were", n, refused)
	}
	for verb, args := range arguments {
		if workflow.VerbAccess(verb) == workflow.Performers {
			s.must(append([]string{"as-worker", ancestry.RoleAgent, id, "satelle"}, strings.Fields(verb+" "+strings.ReplaceAll(args, "@A", id))...)...)
		}
	}
	for _, verb := range []string{"status", "doctor --help", "story get " + id, "story list", "ledger verify", "workflow show", "agent list", "agents status", "help hooks"} {
		for _, role := range []string{ancestry.RoleAgent, ancestry.RoleReviewer} {
			s.must(append([]string{"as-worker", role, id, "satelle"}, strings.Fields(verb)...)...)
		}
	}
}
