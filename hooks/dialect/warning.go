package dialect

// Warning returns the JSON object that lets a call pass and says why it should
// not have been made; nothing where a harness has no form for that which is
// safe.
func Warning(c Call, reason string) []byte {
	if c.Harness != Claude || c.Event != PreTool {
		return nil
	}
	b := append([]byte(nil), `{"systemMessage":`...)
	return append(quote(b, reason), "}\n"...)
}
