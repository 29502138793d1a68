package engine

import (
	"slices"
	"strings"

	"satelle/agents"
	"satelle/internal/place"
)

// agentEnv is the environment of an agent: the caller's, without what is the
// caller's own with satelle, and with the binding's variables, which win. Whoever
// asks a gate does not steer its reviewers by it. (Decision Q27.)
func agentEnv(env []string, role string, own []string) []string {
	if role == agents.RoleReviewer {
		env = unsteered(env)
	}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "AGENT_MODEL" || strings.HasPrefix(name, "SATELLE_") && name != place.HomeEnv
	})
	return append(out, own...)
}
