package liveness

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"satelle/hooks/install"
)

// shortest is the least time, in seconds, that a hook needs to be granted: its
// own deadline is at 2.
const shortest = 5

// entry looks at one of satelle's entries for what any harness takes amiss.
func (l *look) entry(harness, scope, file string, e install.Entry) {
	mend := installing(harness, scope)
	group, handler := gjson.ParseBytes(e.Group), gjson.ParseBytes(e.Handler)
	switch m := group.Get("matcher"); {
	case !m.Exists() || m.String() == "" || m.String() == "*":
	case !validMatcher(m.String()):
		l.find(Broken, "entry-dropped", harness, scope, mend, "%s drops the hook for %s in %s: its matcher %q is no pattern", title(harness), e.Event, file, clip(m.String()))
	default:
		l.find(Open, "narrowed", harness, scope, mend, "the hook for %s in %s is asked only about %q", e.Event, file, clip(m.String()))
	}
	if handler.Get("async").Bool() && e.Guard {
		l.find(Broken, "async", harness, scope, mend, "the hook for %s in %s is async: nobody waits for its denial", e.Event, file)
	}
	switch t := handler.Get("timeout"); {
	case !t.Exists() && harness == "grok":
		l.find(Open, "timeout", harness, scope, mend, "the hook for %s in %s has no timeout: Grok lets the call through after 5 s", e.Event, file)
	case !t.Exists():
	case t.Type != gjson.Number || strings.ContainsAny(t.Raw, ".eE"):
		l.find(Broken, "file-dropped", harness, scope, mend, "%s drops the hooks in %s: the timeout %s is no whole number", title(harness), file, clip(t.Raw))
	case t.Int() < shortest:
		l.find(Open, "timeout", harness, scope, mend, "the hook for %s in %s is given %d s; a busy machine needs more, and then the call goes through", e.Event, file, t.Int())
	}
}

// validMatcher reports whether a matcher is a pattern at all.
func validMatcher(m string) bool {
	_, err := regexp.Compile(m)
	return err == nil
}

func title(harness string) string {
	switch harness {
	case "claude":
		return "Claude Code"
	case "codex":
		return "Codex"
	case "grok":
		return "Grok"
	}
	return harness
}

// clip bounds foreign text in a finding.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// truthy reports whether an environment variable is switched on.
func truthy(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// falsy reports whether one is switched off.
func falsy(value string) bool { return value != "" && !truthy(value) }
