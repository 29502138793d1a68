package audit

import (
	"slices"
	"strings"
)

// Keys are the public keys of logs, by origin.
type Keys map[string][]string

// ReadKeys reads the files of .satelle/logs: a key a line, older ones first.
func ReadKeys(files ...[]byte) Keys {
	keys := Keys{}
	for _, f := range files {
		for line := range strings.Lines(string(f)) {
			key := strings.TrimSpace(line)
			origin, _, ok := strings.Cut(key, "+")
			if ok && !strings.HasPrefix(key, "#") && !slices.Contains(keys[origin], key) {
				keys[origin] = append(keys[origin], key)
			}
		}
	}
	return keys
}

// foreign names a key of an origin that the log does not have. A log has all
// keys that were ever published for it, since each was made by a rotation that
// the one before has signed.
func (k Keys) foreign(l *Log) string {
	for _, key := range k[l.Origin] {
		if !slices.ContainsFunc(l.keys, func(e epoch) bool { return e.VKey == key }) {
			return key
		}
	}
	return ""
}

// vouch decides which logs may be believed, and says what is wrong with the
// others.
func (a *auditor) vouch() {
	for _, l := range a.in.Logs {
		a.report.Logs = append(a.report.Logs, LogSeen{Origin: l.Origin, Size: l.Size, Holds: l.Err == nil})
		seen := &a.report.Logs[len(a.report.Logs)-1]
		keys, known := a.in.Trusted, len(a.in.Trusted[l.Origin]) > 0
		offered := !known && len(a.in.Offered[l.Origin]) > 0
		if offered {
			keys = a.in.Offered
		}
		about := func(f Finding) {
			seen.Holds = seen.Holds && f.Level != Error && f.Rule != "log-unknown"
			f.Origin, f.Path = l.Origin, ".satelle/logs"
			a.report.add(f)
		}
		switch foreign := keys.foreign(l); {
		case !known && !offered && l.Origin != "":
			about(found("log-unknown", "the log %s is published, but .satelle/logs has no key of it", l.Origin))
		case l.Err != nil && l.newer:
			about(found("log-newer", "the log %s: %v", l.Origin, l.Err))
		case l.Err != nil:
			about(found("log-broken", "the log %s does not hold: %v", or(l.Origin, l.Name), l.Err))
			a.broken[l.Origin] = true
		case foreign != "":
			about(found("log-key", "the log %s has not the key %s, which .satelle/logs names", l.Origin, foreign))
			a.broken[l.Origin] = true
		default:
			if offered {
				about(found("new-log-key", "the key of the log %s comes with the audited commits", l.Origin))
			}
			if f, ok := a.join(l); !ok {
				about(f)
			}
		}
	}
}

// join takes a log that holds. Of two with one name, the longer has to contain
// the shorter.
func (a *auditor) join(l *Log) (Finding, bool) {
	other := a.logs[l.Origin]
	if other == nil || other == l {
		a.logs[l.Origin] = l
		return Finding{}, true
	}
	short, long := l, other
	if short.Size > long.Size {
		short, long = long, short
	}
	if short.root(short.Size) != long.root(short.Size) {
		a.broken[l.Origin] = true
		delete(a.logs, l.Origin)
		return found("log-rewritten", "there are two logs %s, of %d and %d records, which contradict each other", l.Origin, short.Size, long.Size), false
	}
	a.logs[l.Origin] = long
	return Finding{}, true
}

// keep holds the logs against what commits of the trusted side say of them.
func (a *auditor) keep() {
	proved := a.proved()
	for i := range a.in.Kept {
		c := &a.in.Kept[i]
		own, _ := claims(c.Message)
		for _, cl := range own {
			l := a.logs[cl.origin]
			if cl.bad != "" || l == nil || cl.size <= proved[cl.origin] {
				continue
			}
			var f Finding
			switch {
			case cl.size > l.Size:
				f = found("log-truncated", "the log %s has %d records, but commit %s of the trusted side was made at %d", l.Origin, l.Size, short(c.Hash), cl.size)
			case l.root(cl.size) != cl.root:
				f = found("log-rewritten", "the log %s had another root at %d records when commit %s of the trusted side was made", l.Origin, cl.size, short(c.Hash))
			default:
				continue
			}
			f.Origin, f.Path = l.Origin, ".satelle/logs"
			a.report.add(f)
			a.broken[l.Origin] = true
			delete(a.logs, l.Origin)
			for i := range a.report.Logs {
				if a.report.Logs[i].Origin == l.Origin {
					a.report.Logs[i].Holds = false
				}
			}
		}
	}
}

// proved is the largest size of each log at which a commit of the trusted side
// has seen the root that the log has. What else was claimed below it is not
// the log's fault: its root there follows.
func (a *auditor) proved() map[string]uint64 {
	sizes := map[string]uint64{}
	for i := range a.in.Kept {
		own, _ := claims(a.in.Kept[i].Message)
		for _, cl := range own {
			l := a.logs[cl.origin]
			if cl.bad == "" && l != nil && cl.size <= l.Size && cl.size > sizes[cl.origin] && l.root(cl.size) == cl.root {
				sizes[cl.origin] = cl.size
			}
		}
	}
	return sizes
}

func short(hash string) string { return hash[:min(10, len(hash))] }

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
