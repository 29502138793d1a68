package main

import (
	"github.com/spf13/cobra"

	"satelle/hooks/shell"
	"satelle/workflow"
)

// Words that the shell may offer where a command or a flag takes one of a few.

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// offer names the values that a flag takes.
func offer(cmd *cobra.Command, flag string, words ...string) {
	offerBy(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

func offerBy(cmd *cobra.Command, flag string, by completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // the flag is not defined, or was offered for already
	}
}

// completeStories offers the stories that have not ended.
func (a *app) completeStories(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	e, err := a.engine(cmd.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	stories, err := e.Stories(cmd.Context(), func(s workflow.Story) bool { return !s.Terminal() })
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, s := range stories {
		ids = append(ids, s.ID+"\t"+inLine(s.Title))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeWays offers the states that the story named before can move to.
func (a *app) completeWays(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	e, err := a.engine(cmd.Context())
	if err != nil || len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	r, err := e.Route(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var states []string
	for _, way := range r.Ways {
		states = append(states, way.To+"\t"+way.Kind)
	}
	return states, cobra.ShellCompDirectiveNoFileComp
}

// completeHelp offers what there is help on: topics and commands, and behind
// hooks the rules.
func completeHelp(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 && args[0] == "hooks" {
		var rules []string
		for _, r := range shell.Rules() {
			rules = append(rules, r.Name)
		}
		return rules, cobra.ShellCompDirectiveNoFileComp
	}
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	if len(args) == 0 {
		words = topicNames()
	}
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			words = append(words, c.Name()+"\t"+c.Short)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// recordKinds are the kinds of records that this version writes.
var recordKinds = []string{
	"ledger.genesis", "key.rotated", "ledger.continued", "blob.redacted",
	workflow.KindLanePinned, workflow.KindCreated, workflow.KindEdited, workflow.KindRestamped, workflow.KindCommented,
	workflow.KindAdopted, workflow.KindAttached, workflow.KindRequested, workflow.KindVerdict, workflow.KindCommitted,
	workflow.KindRefused, workflow.KindAbandoned, workflow.KindSeatSuspended, workflow.KindSeatJoined, workflow.KindApproval,
	workflow.KindTrusted, workflow.KindApproversPinned, workflow.KindGateTrusted, workflow.KindHalted, workflow.KindResumed,
	workflow.KindPrepared, workflow.KindRewritten, workflow.KindDispatched, workflow.KindAsked, workflow.KindAttempt,
	workflow.KindDenied, workflow.KindWarned, workflow.KindChanges, workflow.KindDone, workflow.KindGap, workflow.KindAppeal,
}
