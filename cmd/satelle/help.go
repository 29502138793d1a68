package main

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"satelle/internal/fault"
)

//go:embed topics/*.md
var topics embed.FS

// topicNames lists the topics of satelle help.
func topicNames() []string {
	entries, err := topics.ReadDir("topics")
	if err != nil {
		panic(err) // they are part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".md")
	}
	return names
}

func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC|hooks RULE]",
		Short: "Help on a command or a topic",
		Long:  long("Prints the help of a command, or one of the topics: "+strings.Join(topicNames(), ", ")+".", 4),
		Example: `  satelle help hooks
  satelle help hooks redirect
  satelle help story set`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if b, err := topics.ReadFile(path.Join("topics", path.Base(args[0])+".md")); err == nil {
					_, err := cmd.OutOrStdout().Write(b)
					if err == nil && args[0] == "hooks" {
						err = printRules(cmd.OutOrStdout())
					}
					return err
				}
			}
			if len(args) == 2 && args[0] == "hooks" {
				return printRule(cmd.OutOrStdout(), args[1])
			}
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fault.Try(fault.New(fault.NotFound, "there is no command or topic %q; topics are %s",
					strings.Join(args, " "), strings.Join(topicNames(), ", ")), "satelle help")
			}
			if err := found.Help(); err != nil || len(args) > 0 {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nTopics: %s (satelle help TOPIC)\n", strings.Join(topicNames(), ", "))
			return err
		},
	}
}
