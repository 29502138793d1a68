package decide

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"satelle/ledger/seatread"
)

// TestPayloadCorpus judges the payloads of a corpus that lies outside of the
// repository: SATELLE_CORPUS names its folder. No story holds a seat. `make corpus`
// shows the score.
func TestPayloadCorpus(t *testing.T) {
	dir := os.Getenv("SATELLE_CORPUS")
	if dir == "" {
		t.Log("SATELLE_CORPUS IS NOT SET: THE CORPUS OF PAYLOADS IS ABSENT, only the cases of this package ran")
		return
	}
	m := newMachine(t)
	for _, repo := range []string{"repo", "my repo"} {
		m.repo(repo)
		m.row(repo, seatread.Row{})
	}
	m.git("-C", "repo", "worktree", "add", "-q", "../wt")
	if err := os.Symlink(m.path("elsewhere"), m.path("repo/link")); err != nil {
		t.Fatal(err)
	}
	// The corpus names its places by short absolute paths.
	places := regexp.MustCompile(`(["\s])/(home/u|tmp|my repo|repo|wt|other)([/"])`)
	local := map[string]string{"home/u": "home", "my repo": "my repo", "tmp": "tmp", "repo": "repo", "wt": "wt", "other": "other"}
	f, err := os.Open(filepath.Join(dir, "payloads.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, all := 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			ID, Form, Expected, Why string
			Raw                     string
			Raw64                   string `json:"raw_base64"`
			Input, Generator        json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var payload, condition string
		switch c.Form {
		case "json":
			payload = string(c.Input)
		case "raw":
			payload = c.Raw
		case "b64":
			b, err := base64.StdEncoding.DecodeString(c.Raw64)
			if err != nil {
				t.Fatal(err)
			}
			payload = string(b)
		case "gen":
			payload, condition = generate(t, c.Generator)
		}
		payload = places.ReplaceAllStringFunc(payload, func(found string) string {
			part := places.FindStringSubmatch(found)
			return part[1] + m.path(local[part[2]]) + part[3]
		})
		all++
		out := m.underCondition(condition, payload)
		denied := out != ""
		switch {
		case denied == (c.Expected != "allow"):
			right++
		default:
			t.Errorf("%s: expected %s (%s), got %q\n%.300s", c.ID, c.Expected, c.Why, out, payload)
		}
		if len(out) > 4096 || strings.Count(out, "\n") > 1 {
			t.Errorf("%s: not one bounded answer: %.200s", c.ID, out)
		}
	}
	fmt.Fprintf(t.Output(), "%-16s %4d/%4d\n", "payloads", right, all)
	if all == 0 {
		t.Error("there are no payloads")
	}
}

// underCondition runs the hook on a machine in an unhappy state.
func (m *machine) underCondition(condition, payload string) string {
	if strings.Contains(condition, "database") {
		ledger := m.ledger("repo")
		good, err := os.ReadFile(ledger)
		if err != nil {
			m.t.Fatal(err)
		}
		defer os.WriteFile(ledger, good, 0o600)
		if err := os.WriteFile(ledger, []byte("garbage"), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	if strings.Contains(condition, "stdin") {
		r, w := io.Pipe()
		defer w.Close()
		go func() { fmt.Fprint(w, payload) }()
		var out strings.Builder
		env := m.env
		env.Deadline = 50e6
		ended := make(chan int)
		env.Exit = func(code int) { ended <- code }
		go Run(r, &out, io.Discard, env)
		<-ended
		return out.String()
	}
	return m.hook(payload)
}

// generate builds a payload that is too large to be stored.
func generate(t *testing.T, raw json.RawMessage) (payload, condition string) {
	var g struct {
		Template, Payload any
		Condition         string
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	body := g.Template
	if body == nil {
		body = g.Payload
	}
	b, err := json.Marshal(expandGenerators(body))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), g.Condition
}

func expandGenerators(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if r, ok := v["repeat"].([]any); ok && len(v) == 1 {
			return strings.Repeat(r[0].(string), int(r[1].(float64)))
		}
		if parts, ok := v["concat"].([]any); ok && len(v) == 1 {
			var b strings.Builder
			for _, part := range parts {
				b.WriteString(expandGenerators(part).(string))
			}
			return b.String()
		}
		for key := range v {
			v[key] = expandGenerators(v[key])
		}
	}
	return v
}
