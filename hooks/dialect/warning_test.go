package dialect

import "testing"

func TestWarning(t *testing.T) {
	const context = `"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"` + warned + `a \"b\""}}` + "\n"
	for _, c := range []struct {
		call Call
		want string
	}{
		{Call{Harness: Claude, Event: PreTool}, `{"systemMessage":"` + warned + `a \"b\"",` + context},
		{Call{Harness: Codex, Event: PreTool}, `{` + context},
		{Call{Harness: Grok, Event: PreTool}, `{` + context},
		{Call{Harness: Claude, Event: SkillShell}, ""},
		{Call{Harness: OpenCode, Event: PreTool}, ""},
		{Call{Harness: Gemini, Event: PreTool}, ""},
		{Call{Harness: Cursor, Event: PreTool}, ""},
		{Call{Event: PreTool}, ""},
	} {
		if got := string(Warning(c.call, `a "b"`)); got != c.want {
			t.Errorf("%+v:\ngot  %swant %s", c.call, got, c.want)
		}
	}
}
