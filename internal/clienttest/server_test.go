package clienttest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

var script = Script{
	{Match: "SUB", Turns: []Turn{{Calls: []Call{{"Write", map[string]string{"file": "b"}}}}}},
	{Match: "MAIN", Turns: []Turn{
		{Text: "first", Calls: []Call{{"Read", map[string]string{"file": "a"}}, {"Bash", map[string]string{"command": "ls"}}}},
		{Text: "then", Calls: []Call{{"apply_patch", "free text"}}},
	}},
}

// The requests hold what the script needs, in the form of each dialect.
var dialects = []struct {
	name, path string
	first      string // the user's words
	second     string // with the results of the first turn
	side       string
}{
	{
		"anthropic", "/v1/messages",
		`{"stream":STREAM,"tools":[{}],"messages":[{"role":"user","content":[{"type":"text","text":"hints"},{"type":"text","text":"MAIN go"}]}]}`,
		`{"stream":STREAM,"tools":[{}],"messages":[{"role":"user","content":"MAIN go"},{"role":"assistant","content":[{"type":"text","text":"SUB"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1_0_0","content":[{"type":"text","text":"no"}],"is_error":true},{"type":"tool_result","tool_use_id":"call_1_0_1","content":"files"}]}]}`,
		`{"stream":STREAM,"messages":[{"role":"user","content":"MAIN a title"}]}`,
	},
	{
		"responses", "/v1/responses",
		`{"stream":STREAM,"tools":[{}],"input":[{"role":"user","content":[{"type":"input_text","text":"MAIN go"}]}]}`,
		`{"stream":STREAM,"tools":[{}],"input":[{"role":"user","content":[{"type":"input_text","text":"MAIN go"}]},{"type":"function_call","call_id":"call_1_0_0"},{"type":"function_call_output","call_id":"call_1_0_0","output":"no"},{"type":"custom_tool_call_output","call_id":"call_1_0_1","output":"files"}]}`,
		`{"stream":STREAM,"tools":[{}],"tool_choice":{"name":"title"},"input":[]}`,
	},
	{
		"chat", "/v1/chat/completions",
		`{"stream":STREAM,"tools":[{}],"messages":[{"role":"system","content":"SUB"},{"role":"user","content":"MAIN go"}]}`,
		`{"stream":STREAM,"tools":[{}],"messages":[{"role":"user","content":"MAIN go"},{"role":"assistant","content":"SUB"},{"role":"tool","tool_call_id":"call_1_0_0","content":"no"},{"role":"tool","tool_call_id":"call_1_0_1","content":"files"}]}`,
		`{"stream":STREAM,"messages":[{"role":"user","content":"MAIN a title"}]}`,
	},
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	out, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", r.Status, out, err)
	}
	return string(out)
}

func TestDialects(t *testing.T) {
	for _, d := range dialects {
		for _, stream := range []string{"true", "false"} {
			t.Run(d.name+" stream "+stream, func(t *testing.T) {
				ran := 0
				mine := Script{script[0], {Match: script[1].Match, Turns: append([]Turn(nil), script[1].Turns...)}}
				mine[1].Turns[1].Before = func() { ran++ }
				s := New(t, mine)
				ask := func(body string) string { return post(t, s.URL+d.path, strings.Replace(body, "STREAM", stream, 1)) }

				if got := ask(d.side); strings.Contains(got, "call_") {
					t.Errorf("a side request got a turn: %s", got)
				}
				for range 2 { // a retry gets the same
					got := ask(d.first)
					for _, want := range []string{"first", "call_1_0_0", "call_1_0_1", "Read", "Bash", "ls"} {
						if !strings.Contains(got, want) {
							t.Errorf("no %s in %s", want, got)
						}
					}
				}
				for range 2 {
					if got := ask(d.second); !strings.Contains(got, "call_1_1_0") || !strings.Contains(got, "free text") {
						t.Errorf("second turn: %s", got)
					}
				}
				if ran != 1 {
					t.Errorf("Before ran %d times", ran)
				}
				for i, want := range []string{"no", "files"} {
					if r, found := s.Result(1, 0, i); !found || r.Text != want || r.Call.Tool == "" {
						t.Errorf("result %d = %+v, %v", i, r, found)
					}
				}
				if _, found := s.Result(1, 1, 0); found {
					t.Error("a result that nobody sent")
				}
				last := strings.ReplaceAll(d.second, "call_1_0_1", "call_1_1_0")
				if got := ask(last); !strings.Contains(got, "done") || strings.Contains(got, "call_") {
					t.Errorf("after the last turn: %s", got)
				}
				if got := ask(strings.ReplaceAll(d.first, "MAIN", "SUB")); !strings.Contains(got, "call_0_0_0") {
					t.Errorf("the other conversation: %s", got)
				}
				if n := len(s.Requests()); n != 7 {
					t.Errorf("%d requests kept", n)
				}
			})
		}
	}
}

// A turn may answer what the agent was told.
func TestTurnsThatFollow(t *testing.T) {
	follow := Turn{Text: "then", Then: func(told []Result) []Call {
		return []Call{{"Bash", map[string]string{"command": told[0].Call.Tool + " was told " + told[0].Text + ", " + told[1].Text}}}
	}}
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			s := New(t, Script{script[0], {Match: script[1].Match, Turns: []Turn{script[1].Turns[0], follow}}})
			ask := func(body string) string { return post(t, s.URL+d.path, strings.Replace(body, "STREAM", "true", 1)) }
			ask(d.first)
			for range 2 { // a retry gets the same
				if got := ask(d.second); !strings.Contains(got, "Read was told no, files") || !strings.Contains(got, "call_1_1_0") {
					t.Errorf("second turn: %s", got)
				}
			}
			if n := s.Calls(1, 1); n != 1 {
				t.Errorf("%d calls were made", n)
			}
			if r, found := s.Result(1, 1, 0); found || r.Call.Tool != "Bash" {
				t.Errorf("the call that followed: %+v, %v", r, found)
			}
		})
	}
}

// Codex gives some models their tools, and some agents their task, in items of
// the input.
func TestFormsOfCodex(t *testing.T) {
	s := New(t, Script{
		{Match: "SUB", Turns: []Turn{{Calls: []Call{{"agents.wait", map[string]string{}}}}}},
		{Match: "MAIN", Turns: []Turn{{Calls: []Call{{"exec", "code"}}}, {Text: "then"}}},
	})
	const tools, mine = `{"type":"additional_tools"}`, `{"role":"user","content":"MAIN go"}`
	ask := func(items ...string) string {
		return post(t, s.URL+"/v1/responses", `{"stream":true,"input":[`+strings.Join(items, ",")+`]}`)
	}
	if got := ask(mine); strings.Contains(got, "call_") {
		t.Errorf("without a tool a turn was played: %s", got)
	}
	if got := ask(tools, mine); !strings.Contains(got, "call_1_0_0") || !strings.Contains(got, `"input":"code"`) {
		t.Errorf("the first turn: %s", got)
	}
	// An agent with the history of the one that started it.
	history := `{"type":"custom_tool_call_output","call_id":"call_1_0_0","output":"aborted"}`
	task := `{"type":"agent_message","recipient":"/root/sub","content":[{"text":"a task"},{"encrypted_content":"SUB go"}]}`
	got := ask(tools, mine, history, task)
	if !strings.Contains(got, "call_0_0_0") || !strings.Contains(got, `"namespace":"agents"`) || !strings.Contains(got, `"name":"wait"`) {
		t.Errorf("the other agent: %s", got)
	}
	if r, found := s.Result(1, 0, 0); found {
		t.Errorf("a result was taken from another agent's history: %+v", r)
	}
	answer := `{"type":"agent_message","recipient":"/root","content":[{"text":"SUB is done"}]}`
	if got := ask(tools, mine, history, answer); !strings.Contains(got, "then") {
		t.Errorf("after an agent's answer: %s", got)
	}
}

func TestOtherRequests(t *testing.T) {
	s := New(t, script)
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"GET", "/v1/models", "", 200},
		{"HEAD", "/", "", 404},
		{"POST", "/v1/elsewhere", "{}", 404},
		{"POST", "/v1/messages", "{", 400},
	} {
		req, err := http.NewRequest(tt.method, s.URL+tt.path, bytes.NewReader([]byte(tt.body)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != tt.code {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, r.StatusCode, tt.code)
		}
	}
}

func TestSayReadsTheRequest(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			var heard string
			s := New(t, Script{{Match: "MAIN", Turns: []Turn{{Say: func(request string) string {
				heard = request
				return "I heard it"
			}}}}})
			body := strings.Replace(d.first, "{", `{"system":"be\nbrief",`, 1)
			body = strings.Replace(body, `"tools":[{}]`, `"tools":[{"name":"secret"}]`, 1)
			for range 2 { // a retry plays the same turn
				if got := post(t, s.URL+d.path, strings.Replace(body, "STREAM", "true", 1)); !strings.Contains(got, "I heard it") {
					t.Errorf("answer: %s", got)
				}
			}
			if !strings.Contains(heard, "be\nbrief") || !strings.Contains(heard, "MAIN go") || strings.Contains(heard, "secret") {
				t.Errorf("heard %q", heard)
			}
		})
	}
}

func TestStatusAndHold(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			asked := make(chan struct{})
			s := New(t, Script{
				{Match: "MAIN", Turns: []Turn{{Status: http.StatusTooManyRequests}}},
				{Match: "WAIT", Turns: []Turn{{Hold: true, Before: func() { close(asked) }}}},
			})
			body := strings.Replace(d.first, "STREAM", "false", 1)
			r, err := http.Post(s.URL+d.path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			out, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(out), "rate_limit_error") {
				t.Errorf("%s: %s, %v", r.Status, out, err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-asked
				cancel()
			}()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+d.path, strings.NewReader(strings.Replace(body, "MAIN", "WAIT", 1)))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := http.DefaultClient.Do(req); err == nil {
				r.Body.Close()
				t.Errorf("answered: %s", r.Status)
			}
		})
	}
}
