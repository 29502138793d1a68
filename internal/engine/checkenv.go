package engine

import "strings"

// checkEnv is the environment of a check: the caller's, without what belongs
// to satelle itself, whose tokens are nothing for a script of the repository.
func checkEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		if strings.HasPrefix(kv, "SATELLE_") && !strings.HasPrefix(kv, "SATELLE_HOME=") {
			continue
		}
		out = append(out, kv)
	}
	return out
}

// tail returns the last n bytes of b, cut at the start of a line if one is
// near, as valid text.
func tail(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
		if i := strings.IndexByte(string(b), '\n'); i >= 0 && i < n/2 {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "�")
}
