package dialect

// Warning returns the JSON object that lets a call pass and says why it should
// not have been made; nothing where a harness has no form for that which is
// safe. Claude Code, Codex and Grok put the context before the model, with the
// result of the call, and ask the person as they would have without an answer;
// Claude Code shows its person the message, too. (Measured with the programs
// themselves: TestWarning in internal/clienttest.)
func Warning(c Call, reason string) []byte {
	if c.Event != PreTool {
		return nil
	}
	b := make([]byte, 0, 2*len(reason)+160)
	switch c.Harness {
	case Claude:
		b = append(b, `{"systemMessage":`...)
		b = append(quote(b, warned+reason), ',')
	case Codex, Grok:
		b = append(b, '{')
	default:
		return nil
	}
	b = append(b, `"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":`...)
	b = quote(b, warned+reason)
	return append(b, "}}\n"...)
}

// warned stands before the words of a denial that is none.
const warned = "satelle let this call pass and only warns of it, so do not repeat it. Enforced, the answer would be: "
