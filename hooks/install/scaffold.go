package install

import (
	"bytes"
	"encoding/json"
	"reflect"

	"satelle/hooks/dialect"
	"satelle/internal/fault"
	"satelle/internal/jsonedit"
)

// handler is a hook entry as satelle writes it, in this order.
type handler struct {
	Type      string `json:"type"`
	Command   string `json:"command"`
	Timeout   int    `json:"timeout"`
	OnFailure string `json:"onFailure,omitempty"`
}

// group holds the handlers for the calls that its matcher chooses. Ours has
// none: it is asked about every call.
type group struct {
	Hooks []handler `json:"hooks"`
}

// group returns satelle's entry for an event, as JSON.
func (h harness) group(e event, command string) []byte {
	out := handler{Type: "command", Command: command, Timeout: timeout}
	if h.onFailure && e.guard {
		out.OnFailure = "block"
	}
	return encode(group{Hooks: []handler{out}})
}

// encode writes compact JSON in which the command stays readable.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// Structs of strings and numbers always encode.
	_ = enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes())
}

// install returns the settings with satelle's hooks, each of them once and as
// they are today.
func (h harness) install(doc []byte, command string) ([]byte, error) {
	if err := h.checkStrict(doc); err != nil {
		return nil, err
	}
	have, err := h.read(doc)
	if err != nil || have.current && have.command == command {
		return doc, err
	}
	if doc, err = h.remove(doc); err != nil {
		return nil, err
	}
	for _, e := range h.events {
		if doc, err = jsonedit.Append(doc, eventPath(e), h.group(e, command)); err != nil {
			return nil, fault.Wrap(err, fault.Refused, "adding a hook for %s", e.name)
		}
	}
	return doc, nil
}

// checkStrict refuses settings that the harness would drop as a whole.
func (h harness) checkStrict(doc []byte) error {
	if h.strict == nil || doc == nil {
		return nil
	}
	return fault.Wrap(jsonedit.Only(doc, h.strict...), fault.Refused, "%s would drop the whole file", h.name)
}

// remove returns the settings without satelle's hooks.
func (h harness) remove(doc []byte) ([]byte, error) {
	for _, e := range h.events {
		var err error
		doc, err = jsonedit.Delete(doc, handlerPath(e), func(value []byte) bool {
			_, ours := ourCommand(value)
			return ours
		})
		if err != nil {
			return nil, fault.Wrap(err, fault.Refused, "looking for satelle's hook for %s", e.name)
		}
	}
	return doc, nil
}

// found is what settings hold of satelle.
type found struct {
	command  string // of satelle's hooks
	complete bool   // each event has one
	current  bool   // and exactly one, as satelle writes it, all with one command
}

// read looks for satelle's hooks in settings.
func (h harness) read(doc []byte) (found, error) {
	out := found{complete: true, current: true}
	for _, e := range h.events {
		var groups []int
		command := ""
		err := jsonedit.Walk(doc, handlerPath(e), func(at []int, value []byte) {
			if c, ours := ourCommand(value); ours {
				groups = append(groups, at[0])
				command = c
			}
		})
		if err != nil {
			return found{}, fault.Wrap(err, fault.Refused, "reading the hooks for %s", e.name)
		}
		exact := false
		// The first walk has found the same document to be in order.
		_ = jsonedit.Walk(doc, eventPath(e), func(at []int, value []byte) {
			if len(groups) == 1 && at[0] == groups[0] {
				exact = equal(value, h.group(e, command))
			}
		})
		out.complete = out.complete && len(groups) > 0
		out.current = out.current && exact && (out.command == "" || out.command == command)
		if command != "" {
			out.command = command
		}
	}
	return out, nil
}

func eventPath(e event) []string { return []string{"hooks", e.name} }

func handlerPath(e event) []string { return []string{"hooks", e.name, jsonedit.Each, "hooks"} }

// ourCommand returns the command of a handler if it is satelle's.
func ourCommand(raw []byte) (string, bool) {
	var h struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(raw, &h) != nil || !dialect.IsOurs(h.Command) {
		return "", false
	}
	return h.Command, true
}

// equal compares JSON values, whatever their layout and the order of keys.
func equal(a, b []byte) bool {
	var va, vb any
	return json.Unmarshal(a, &va) == nil && json.Unmarshal(b, &vb) == nil && reflect.DeepEqual(va, vb)
}
