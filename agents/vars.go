package agents

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"satelle/internal/fault"
)

// Vars are what `${NAME}` in a binding's env stands for: [vars] of satelle.toml
// and, key by key above it, of satelle.local.toml.
type Vars struct {
	Values map[string]string
	// Secret are the names whose value came from satelle.local.toml.
	Secret []string
}

// Resolved is a binding with all that its process needs.
type Resolved struct {
	Binding
	// Env are its own variables as KEY=VALUE, sorted. They win over inherited ones.
	Env []string
	// Secrets are values that no log, record or terminal may show.
	Secrets []string
}

// variable matches `${NAME}`.
var variable = regexp.MustCompile(`\$\{([^{}]*)\}`)

// secretName matches the names of variables that hold credentials.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|auth|credential|cookie)`)

// Resolve returns the binding of a name with its environment filled in. One
// without a command refuses. A variable that [vars] lacks refuses: nothing is started with a blank in place
// of a credential, and variables of the system don't count.
func (f File) Resolve(name string, vars Vars) (Resolved, error) {
	b, ok := f.Binding(name)
	if !ok {
		return Resolved{}, fault.Try(fault.New(fault.Refused, "%s has no [%s]", f.Path, name), "satelle agent list")
	}
	if err := f.open(b); err != nil {
		return Resolved{}, err
	}
	r := Resolved{Binding: b}
	for _, key := range slices.Sorted(maps.Keys(b.Env)) {
		missing := ""
		value := variable.ReplaceAllStringFunc(b.Env[key], func(ref string) string {
			v, known := vars.Values[ref[2:len(ref)-1]]
			if !known && missing == "" {
				missing = ref
			}
			return v
		})
		if missing != "" {
			return Resolved{}, fault.Try(f.failAt(b, "[%s] env %s needs %s, which is in [vars] of neither satelle.toml nor satelle.local.toml", name, key, missing),
				"satelle help global-agents")
		}
		if strings.ContainsRune(value, 0) {
			return Resolved{}, f.failAt(b, "[%s] env %s would hold a NUL, which no variable can", name, key)
		}
		r.Env = append(r.Env, key+"="+value)
		if secretName.MatchString(key) || slices.Contains(b.Private, key) {
			r.Secrets = append(r.Secrets, value)
		}
	}
	for _, secret := range vars.Secret {
		r.Secrets = append(r.Secrets, vars.Values[secret])
	}
	slices.Sort(r.Secrets)
	r.Secrets = slices.DeleteFunc(slices.Compact(r.Secrets), func(s string) bool { return s == "" })
	return r, nil
}

// unclosed reports a `${` that nothing ends, which would otherwise be passed on
// as it is.
func unclosed(value string) bool { return strings.Contains(variable.ReplaceAllString(value, ""), "${") }
