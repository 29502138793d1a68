package dialect

import "unicode/utf8"

// Denial returns the one JSON object that refuses a call. The reason must not
// be empty: Codex lets a call pass that is denied without one.
func Denial(c Call, reason string) []byte {
	if reason == "" {
		reason = "denied by satelle"
	}
	b := make([]byte, 0, len(reason)+160)
	switch c.Harness {
	case Grok, Gemini, OpenCode:
		b = append(b, `{"decision":"deny","reason":`...)
		b = quote(b, reason)
		return append(b, "}\n"...)
	case Cursor:
		b = append(b, `{"permission":"deny","userMessage":`...)
		b = quote(b, reason)
		b = append(b, `,"agentMessage":`...)
		b = quote(b, reason)
		return append(b, "}\n"...)
	}
	switch c.Event {
	case ConfigChange, SkillShell:
		b = append(b, `{"decision":"block","reason":`...)
		b = quote(b, reason)
		return append(b, "}\n"...)
	}
	b = append(b, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":`...)
	b = quote(b, reason)
	return append(b, "}}\n"...)
}

// Rewrite returns the JSON object that lets Codex run another command in the
// place of the one that a call asks for. Codex takes it only beside "allow",
// which is why nothing but a text to be printed may be put there.
func Rewrite(command string) []byte {
	b := append([]byte(nil), `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":`...)
	b = quote(b, command)
	return append(b, "}}}\n"...)
}

// Context returns the JSON object that puts a text before the model when a
// session starts. Grok reads no answer to that, but one to the end of a call,
// whose result it puts the text beside.
func Context(c Call, text string) []byte {
	name := "SessionStart"
	if c.Event == PostTool {
		name = "PostToolUse"
	}
	b := append([]byte(nil), `{"hookSpecificOutput":{"hookEventName":"`+name+`","additionalContext":`...)
	b = quote(b, text)
	return append(b, "}}\n"...)
}

// quote appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD.
func quote(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r < ' ' || r == 0x7f:
			b = append(b, `\u00`...)
			b = append(b, digits[r>>4], digits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
