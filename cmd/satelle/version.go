package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build; a build of a checkout names its commit.
var version = "dev"

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    long("Prints the version, the commit it was built from and the platform."),
		Example: `  satelle version --json`,
		Args:    none(),
		RunE: a.run(func(context.Context, []string) error {
			commit := ""
			if bi, ok := debug.ReadBuildInfo(); ok {
				for _, s := range bi.Settings {
					if s.Key == "vcs.revision" {
						commit = s.Value
					}
				}
			}
			v := map[string]string{"version": version, "commit": commit, "platform": runtime.GOOS + "/" + runtime.GOARCH, "go": runtime.Version()}
			return a.object(v, func(w io.Writer) {
				fmt.Fprintf(w, "satelle %s %s (%s, %s)\n", version, commit, v["platform"], v["go"])
			})
		}),
	}
}
