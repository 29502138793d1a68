package install

import (
	"satelle/internal/fault"
	"satelle/internal/jsonedit"
)

// Names are the harnesses that are known, in the order of the reports.
func Names() []string {
	names := make([]string, len(harnesses))
	for i, h := range harnesses {
		names[i] = h.name
	}
	return names
}

// Entry is one hook of satelle's in the settings of a harness.
type Entry struct {
	Event   string // as the settings spell it
	Guard   bool   // its answer can block
	Command string
	Group   []byte // the group that it stands in, as JSON
	Handler []byte // itself
}

// Entries lists satelle's hooks in the settings of a harness.
func Entries(name string, settings []byte) ([]Entry, error) {
	for _, h := range harnesses {
		if h.name == name {
			return h.entries(settings)
		}
	}
	return nil, fault.New(fault.Usage, "unknown harness %q", name)
}

func (h harness) entries(settings []byte) ([]Entry, error) {
	var out []Entry
	for _, e := range h.events {
		var at []int
		var found []Entry
		err := jsonedit.Walk(settings, handlerPath(e), func(place []int, value []byte) {
			if command, ours := ourCommand(value); ours {
				found = append(found, Entry{Event: e.name, Guard: e.guard, Command: command, Handler: value})
				at = append(at, place[0])
			}
		})
		if err != nil {
			return nil, fault.Wrap(err, fault.Refused, "reading the hooks for %s", e.name)
		}
		// The first walk has found the document to be in order.
		_ = jsonedit.Walk(settings, eventPath(e), func(place []int, value []byte) {
			for i := range found {
				if at[i] == place[0] {
					found[i].Group = value
				}
			}
		})
		out = append(out, found...)
	}
	return out, nil
}

// Review is how Codex records that a person has seen a hook: under the place
// where it stands, the hash of what it is.
type Review struct {
	Event string // in the spelling of the key
	Key   string
	Hash  string
}

// Reviews are those that satelle's hooks in a hooks file of Codex need. Source
// is the file's name, as Codex knows it.
func Reviews(source string, settings []byte) ([]Review, error) { return codexHashes(source, settings) }
