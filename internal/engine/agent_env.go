package engine

import (
	"slices"
	"strings"

	"satelle/internal/place"
)

// agentEnv is the environment of an agent: the caller's, without what is the
// caller's own with satelle, and with the binding's variables, which win.
// (Decision Q27.)
func agentEnv(env, own []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "AGENT_MODEL" || strings.HasPrefix(name, "SATELLE_") && name != place.HomeEnv
	})
	return append(out, own...)
}
