package engine

import (
	"slices"
	"testing"
)

func TestAgentEnv(t *testing.T) {
	got := agentEnv(
		[]string{"PATH=/bin", "SATELLE_HOME=/h", "SATELLE_AGENT_TRACE_RAW=1", "SATELLE_TOKEN=t", "AGENT_MODEL=m", "AGENT_MODELS=n", "KEY=mine"},
		[]string{"KEY=its", "AGENT_MODEL=own"})
	want := []string{"PATH=/bin", "SATELLE_HOME=/h", "AGENT_MODELS=n", "KEY=mine", "KEY=its", "AGENT_MODEL=own"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
