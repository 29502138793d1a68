package dialect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/payloads", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.NewReplacer("@REPO@", "/repo", "@HOME@", "/home/u").Replace(string(b)))
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		file    string
		harness Harness
		event   Event
		tool    string
		key     string // of the input
		value   string
		session string
		agent   string
	}{
		{"claude-Write", Claude, PreTool, "Write", "file_path", "/repo/w.txt", "0b6c1f5e-claude", ""},
		{"claude-NotebookEdit", Claude, PreTool, "NotebookEdit", "notebook_path", "/repo/n.ipynb", "0b6c1f5e-claude", ""},
		{"claude-Bash-subagent", Claude, PreTool, "Bash", "command", "echo sub > sub.txt", "0b6c1f5e-claude", "a1"},
		{"claude-mcp", Claude, PreTool, "mcp__fs__put", "path", "/repo/mcp.txt", "0b6c1f5e-claude", ""},
		{"claude-PreSkillShellCommand", Claude, SkillShell, "Bash", "command", "echo hi > s.txt", "0b6c1f5e-claude", ""},
		{"claude-PostToolUse", Claude, PostTool, "Write", "file_path", "/repo/w.txt", "0b6c1f5e-claude", ""},
		{"codex-PostToolUse", Codex, PostTool, "apply_patch", "", "", "01a2-codex", ""},
		{"grok-post_tool_use_failure", Grok, PostTool, "write", "file_path", "/repo/w.txt", "01a2-grok", ""},
		{"opencode-plugin-after", OpenCode, PostTool, "edit", "filePath", "/repo/a", "ses_1", ""},
		{"claude-SessionStart", Claude, SessionStart, "", "", "", "0b6c1f5e-claude", ""},
		{"claude-ConfigChange", Claude, ConfigChange, "", "", "", "0b6c1f5e-claude", ""},
		{"claude-Stop", Claude, Quiet, "", "", "", "0b6c1f5e-claude", ""},
		{"codex-Bash", Codex, PreTool, "Bash", "command", "echo c > c.txt", "01a2-codex", ""},
		{"codex-Bash-subagent", Codex, PreTool, "Bash", "command", "echo c > child.txt", "01a2-codex", "c1"},
		{"codex-SessionStart", Codex, SessionStart, "", "", "", "01a2-codex", ""},
		{"grok-search_replace", Grok, PreTool, "search_replace", "file_path", "a.txt", "01a2-grok", ""},
		{"grok-run_terminal_command-subagent", Grok, PreTool, "run_terminal_command", "command", "echo sub > sub.txt", "01a2-grok", "general-purpose"},
		{"grok-session_start", Grok, SessionStart, "", "", "", "01a2-grok", ""},
		{"opencode-edit", OpenCode, PreTool, "edit", "filePath", "/repo/a", "ses_1", ""},
		{"opencode-plugin-bash", OpenCode, PreTool, "bash", "command", "echo x > t.txt", "ses_1", ""},
		{"gemini-replace", Gemini, PreTool, "replace", "file_path", "/repo/a", "g", ""},
		{"cursor-shell", Cursor, PreTool, "Shell", "command", "rm a", "c", ""},
		{"cursor-mcp", Cursor, PreTool, "write_file", "", "", "", ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			got, err := Parse(fixture(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got.Harness != c.harness || got.Event != c.event || got.Tool != c.tool || got.Session != c.session || got.Agent != c.agent {
				t.Errorf("got %+v", got)
			}
			if c.harness != OpenCode && got.CWD != "/repo" {
				t.Errorf("cwd is %q", got.CWD)
			}
			if c.key == "" {
				return
			}
			if v, ok, err := got.Input.Text(c.key); err != nil || !ok || v != c.value {
				t.Errorf("%s is %q, %v, %v; want %q", c.key, v, ok, err, c.value)
			}
		})
	}
}

func TestParseNamesTheCall(t *testing.T) {
	for file, want := range map[string]string{
		"claude-PostToolUse":         "toolu_1",
		"codex-PostToolUse":          "call_1",
		"grok-write":                 "call_1",
		"grok-post_tool_use_failure": "call_1",
		"opencode-plugin-bash":       "c",
		"opencode-plugin-after":      "c2",
		"claude-SessionStart":        "",
	} {
		c, err := Parse(fixture(t, file))
		if err != nil || c.ID != want || c.Failed != strings.Contains(file, "failure") {
			t.Errorf("%s: %q, failed %v, %v", file, c.ID, c.Failed, err)
		}
	}
	for _, id := range []string{`1`, `{}`, `"a\u0000b"`, `"` + strings.Repeat("x", maxID+1) + `"`} {
		c, err := Parse([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":` + id + `}`))
		if err != nil || c.ID != "" {
			t.Errorf("%.20s: %q, %v", id, c.ID, err)
		}
	}
}

func TestParseNamesTheTranscript(t *testing.T) {
	c, err := Parse(fixture(t, "codex-Bash"))
	if err != nil || c.Transcript == "" || c.Turn == "" {
		t.Errorf("%q, %q, %v", c.Transcript, c.Turn, err)
	}
	c, err = Parse([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Read","transcript_path":null,"turn_id":1}`))
	if err != nil || c.Transcript != "" || c.Turn != "" {
		t.Errorf("%q, %q, %v", c.Transcript, c.Turn, err)
	}
}

// What comes after a call decides nothing, so what of it can't be read is no reason to complain.
func TestParseAfterACall(t *testing.T) {
	for _, input := range []string{`"clipped [truncated]"`, `{"a":1,"a":2}`, `null`, `[]`} {
		c, err := Parse([]byte(`{"hook_event_name":"PostToolUse","tool_name":"Write","toolInputTruncated":true,"tool_input":` + input + `}`))
		if err != nil || c.Event != PostTool || c.Tool != "Write" || len(c.Input.fields) > 0 {
			t.Errorf("%s: %+v, %v", input, c, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	call := func(rest string) string {
		return `{"hook_event_name":"PreToolUse","cwd":"/repo",` + rest + `}`
	}
	for _, c := range []struct {
		name, raw string
		want      error
	}{
		{"nothing", "", ErrEmpty},
		{"blanks", " \r\n\t", ErrEmpty},
		{"a byte order mark alone", "\xef\xbb\xbf", ErrEmpty},
		{"prose", "not json", ErrJSON},
		{"an array", "[]", ErrJSON},
		{"a number", "42", ErrJSON},
		{"a string", `"x"`, ErrJSON},
		{"single quotes", "{'tool_name':'Write'}", ErrJSON},
		{"two objects", call(`"tool_name":"Read"`) + call(`"tool_name":"Write"`), ErrJSON},
		{"a cut-off object", `{"hook_event_name":"PreToolUse","tool_na`, ErrJSON},
		{"a cut-off string escape", `{"a":"\u12`, ErrJSON},
		{"no fields", "{}", ErrNoTool},
		{"no tool", call(`"x":1`), ErrNoTool},
		{"an empty tool", call(`"tool_name":""`), ErrNoTool},
		{"an unknown event without a tool", `{"hook_event_name":"Novel"}`, ErrNoTool},
		{"a tool that is an array", call(`"tool_name":["Write"]`), ErrType},
		{"an event that is a number", `{"hook_event_name":1,"tool_name":"Write"}`, ErrType},
		{"a cwd that is an object", `{"hook_event_name":"PreToolUse","cwd":{},"tool_name":"Write"}`, ErrType},
		{"a cwd with a NUL", `{"hook_event_name":"PreToolUse","cwd":"/a\u0000b","tool_name":"Write"}`, ErrType},
		{"an input that is a string", call(`"tool_name":"Write","tool_input":"a"`), ErrType},
		{"an input that is an array", call(`"tool_name":"Write","tool_input":[]`), ErrType},
		{"an input that is null", call(`"tool_name":"Write","tool_input":null`), ErrType},
		{"two tools", call(`"tool_name":"Read","tool_name":"Write"`), ErrDuplicate},
		{"two tools, one escaped", call(`"tool_name":"Read","tool\u005fname":"Write"`), ErrDuplicate},
		{"two inputs", call(`"tool_name":"Read","tool_input":{},"tool_input":{}`), ErrDuplicate},
		{"two commands", call(`"tool_name":"Bash","tool_input":{"command":"ls","command":"rm x"}`), ErrDuplicate},
		{"two commands, one escaped", call(`"tool_name":"Bash","tool_input":{"command":"ls","c\u006fmmand":"rm x"}`), ErrDuplicate},
		{"spellings of the tool that differ", call(`"tool_name":"Read","toolName":"Write"`), ErrSpellings},
		{"spellings of the input that differ", call(`"tool_name":"Write","tool_input":{"a":1},"toolInput":{"a":2}`), ErrSpellings},
		{"spellings of the event that differ", `{"hook_event_name":"PostToolUse","hookEventName":"pre_tool_use","tool_name":"Write"}`, ErrSpellings},
		{"opencode's name beside another", call(`"tool_name":"Read","tool":"Write"`), ErrSpellings},
		{"two tools in opencode's parameter", `{"hook":"tool.execute.before","input":{"tool":"read","tool":"edit"},"output":{"args":{}}}`, ErrDuplicate},
		{"two arguments of opencode", `{"hook":"tool.execute.before","input":{"tool":"edit"},"output":{"args":{"filePath":"a"},"args":{"filePath":"b"}}}`, ErrDuplicate},
		{"opencode's parameter as a text", `{"hook":"tool.execute.before","input":"x"}`, ErrType},
		{"two names of a call", call(`"tool_name":"Read","tool_use_id":"a","toolUseId":"b"`), ErrDuplicate},
		{"a clipped input", string(fixture(t, "grok-clipped")), ErrClipped},
		{"a clipped input that is an object", call(`"toolName":"write","toolInput":{},"toolInputTruncated":true`), ErrClipped},
		{"a high surrogate alone", call(`"tool_name":"Bash","tool_input":{"command":"ls \ud800"}`), ErrText},
		{"a low surrogate alone", call(`"tool_name":"Bash","tool_input":{"command":"ls \udc00"}`), ErrText},
		{"a high surrogate and a letter", call(`"tool_name":"Bash","tool_input":{"command":"\ud83dA"}`), ErrText},
		{"bytes that are no UTF-8", "{\"tool_name\":\"\xff\xfe\"}", ErrText},
		{"UTF-16", "\xff\xfe{\x00}\x00", ErrText},
		{"deep nesting", call(`"tool_name":"Write","tool_input":` + strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth)), ErrNesting},
		{"very deep nesting", strings.Repeat("[", 2<<20), ErrNesting},
		{"too many fields", call(`"tool_name":"Write","tool_input":{` + manyFields() + `}`), ErrNesting},
		{"too large", strings.Repeat(" ", MaxPayload) + "{}", ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := Parse([]byte(c.raw)); !errors.Is(err, c.want) {
				t.Errorf("got %+v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func manyFields() string {
	var b strings.Builder
	for i := range maxFields + 1 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("x", i) + `":1`)
	}
	return b.String()
}

func TestParseTakesWhatHarnessesMaySend(t *testing.T) {
	for name, raw := range map[string]string{
		"a byte order mark":      "\xef\xbb\xbf" + `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"}}`,
		"CRLF between fields":    "{\r\n\"hook_event_name\":\"PreToolUse\",\r\n\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"a\"}}\r\n",
		"an escaped pair":        `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a","x":"\ud83d\ude00"}}`,
		"an escaped backslash u": `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a","x":"\\ud800"}}`,
		"an escaped tool":        `{"hook_event_name":"PreToolUse","tool_name":"Re\u0061d","tool_input":{"file_path":"a"}}`,
		"both spellings":         `{"hook_event_name":"PreToolUse","hookEventName":"pre_tool_use","tool_name":"Read","toolName":"Read","tool_input":{"file_path":"a"},"toolInput":{"file_path":"a"}}`,
		"no event":               `{"tool_name":"Read","tool_input":{"file_path":"a"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Parse([]byte(raw))
			if err != nil || c.Tool != "Read" || c.Event != PreTool {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

func TestInput(t *testing.T) {
	in, err := parseInput(gjson.Parse(`{"s":"x","n":1,"nul":"a\u0000b","null":null,"argv":["ls","-l"],"mixed":["ls",1],"empty":[],"t":true,"f":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]error{"s": nil, "missing": nil, "null": nil, "n": ErrType, "nul": ErrType, "argv": ErrType} {
		if _, _, err := in.Text(key); !errors.Is(err, want) {
			t.Errorf("Text(%s): %v, want %v", key, err, want)
		}
	}
	if _, _, err := in.Text("s", "s"); !errors.Is(err, ErrSpellings) {
		t.Errorf("two keys: %v", err)
	}
	if argv, ok, err := in.Argv("argv"); err != nil || !ok || strings.Join(argv, " ") != "ls -l" {
		t.Errorf("Argv: %q, %v, %v", argv, ok, err)
	}
	if _, ok, err := in.Argv("s"); ok || err != nil {
		t.Errorf("a string is no argv: %v, %v", ok, err)
	}
	for _, key := range []string{"mixed", "empty"} {
		if _, ok, err := in.Argv(key); !ok || err == nil {
			t.Errorf("Argv(%s): %v, %v", key, ok, err)
		}
	}
	if !in.True("t") || in.True("f") || in.True("null") || in.True("missing") {
		t.Error("True is wrong")
	}
}

func TestAnswers(t *testing.T) {
	const reason = "no \"seat\"\n\\ \x01\x7f é \xff"
	const quoted = `"no \"seat\"\n\\ \u0001\u007f é ` + "\uFFFD" + `"`
	for _, c := range []struct {
		call Call
		want string
	}{
		{Call{Harness: Claude, Event: PreTool}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` + quoted + `}}`},
		{Call{Harness: Codex, Event: PreTool}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` + quoted + `}}`},
		{Call{}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` + quoted + `}}`},
		{Call{Harness: Grok, Event: PreTool}, `{"decision":"deny","reason":` + quoted + `}`},
		{Call{Harness: Gemini, Event: PreTool}, `{"decision":"deny","reason":` + quoted + `}`},
		{Call{Harness: Cursor, Event: PreTool}, `{"permission":"deny","userMessage":` + quoted + `,"agentMessage":` + quoted + `}`},
		{Call{Harness: Claude, Event: ConfigChange}, `{"decision":"block","reason":` + quoted + `}`},
		{Call{Harness: Claude, Event: SkillShell}, `{"decision":"block","reason":` + quoted + `}`},
	} {
		got := string(Denial(c.call, reason))
		if got != c.want+"\n" || !gjson.Valid(got) {
			t.Errorf("%+v:\ngot  %swant %s", c.call, got, c.want)
		}
	}
	if got := string(Denial(Call{}, "")); !strings.Contains(got, `Reason":"d`) {
		t.Errorf("an empty reason passes in Codex: %s", got)
	}
	if got := string(Rewrite("printf '%s' 'a\nb'; exit 3")); got != `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"printf '%s' 'a\nb'; exit 3"}}}`+"\n" {
		t.Errorf("Rewrite: %s", got)
	}
	if got := string(Context(Call{Event: PostTool}, "a")); got != `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"a"}}`+"\n" {
		t.Errorf("context after a call: %s", got)
	}
	if got := string(Context(Call{Event: SessionStart}, "a\nb")); got != `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a\nb"}}`+"\n" {
		t.Errorf("Context: %s", got)
	}
}

func TestPatchTargets(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"all headers", "*** Begin Patch\n*** Add File: n.txt\n+x\n*** Update File: a\n*** Move to: b/c d\n@@\n-a\n+b\n*** Delete File: old.txt\n*** End Patch\n", "n.txt,a,b/c d,old.txt"},
		{"CRLF", "*** Begin Patch\r\n*** Update File: src/a.py\r\n@@\r\n*** End Patch\r\n", "src/a.py"},
		{"indented", "  *** Update File:  a  \n", "a"},
		{"twice the same", "*** Update File: a\n*** Update File: a\n", "a"},
		{"an absolute and a relative one", "*** Update File: /tmp/x\n*** Update File: y\n", "/tmp/x,y"},
	} {
		got, err := PatchTargets(c.body)
		if err != nil || strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, %v; want %s", c.name, got, err, c.want)
		}
	}
	for _, body := range []string{"", "x", "*** Begin Patch\n*** End Patch", "*** Update File:", "*** Update File: a\n*** Move to: \n", "--- a/x\n+++ b/x\n"} {
		if got, err := PatchTargets(body); !errors.Is(err, ErrPatch) {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/payloads/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(fixture(f, strings.TrimSuffix(filepath.Base(file), ".json")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(b)
		if answer := Denial(c, "reason"); !gjson.ValidBytes(answer) {
			t.Errorf("no JSON: %s", answer)
		}
		if err != nil {
			return
		}
		if !utf8.Valid(b) {
			t.Error("invalid text passed")
		}
		if len(c.ID) > maxID || len(c.Turn) > maxID || len(c.Transcript) > maxPath {
			t.Error("a text without bounds passed")
		}
		if c.Failed && c.Event != PostTool {
			t.Error("a call failed before it was made")
		}
		if (c.Event == PreTool || c.Event == SkillShell || c.Event == Strange) && c.Tool == "" {
			t.Errorf("a tool call without a tool passed: %q", b)
		}
	})
}

func FuzzPatchTargets(f *testing.F) {
	f.Add("*** Begin Patch\n*** Add File: n\n+x\n*** Update File: a\n*** Move to: b\n*** Delete File: c\n*** End Patch\n")
	f.Fuzz(func(t *testing.T, body string) {
		targets, err := PatchTargets(body)
		if (err == nil) != (len(targets) > 0) {
			t.Errorf("%q, %v", targets, err)
		}
		more, err := PatchTargets(body + "\n*** Delete File: extra\n")
		if err == nil && len(more) < len(targets) {
			t.Errorf("a header more, a target less: %q, %q", targets, more)
		}
	})
}
