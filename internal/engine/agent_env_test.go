package engine

import (
	"slices"
	"testing"

	"satelle/agents"
)

func TestAgentEnv(t *testing.T) {
	env := []string{
		"PATH=/bin", "SATELLE_HOME=/h", "SATELLE_AGENT_TRACE_RAW=1", "SATELLE_TOKEN=t", "AGENT_MODEL=m", "AGENT_MODELS=n", "KEY=mine",
		"NODE_OPTIONS=--require x", "LD_PRELOAD=x", "GIT_DIR=x",
	}
	own := []string{"KEY=its", "AGENT_MODEL=own", "NODE_OPTIONS=its"}
	for role, want := range map[string][]string{
		agents.RoleAgent: {
			"PATH=/bin", "SATELLE_HOME=/h", "AGENT_MODELS=n", "KEY=mine", "NODE_OPTIONS=--require x", "LD_PRELOAD=x", "GIT_DIR=x",
			"KEY=its", "AGENT_MODEL=own", "NODE_OPTIONS=its",
		},
		agents.RoleReviewer: {"PATH=/bin", "SATELLE_HOME=/h", "AGENT_MODELS=n", "KEY=mine", "KEY=its", "AGENT_MODEL=own", "NODE_OPTIONS=its"},
	} {
		if got := agentEnv(env, role, own); !slices.Equal(got, want) {
			t.Errorf("%s: %q", role, got)
		}
	}
}
