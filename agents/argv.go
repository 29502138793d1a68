package agents

import "strings"

// Values fill the placeholders of a command.
type Values struct {
	System, Payload string
}

// Argv fills the binding's command token by token.
func (b Binding) Argv(v Values) []string {
	fill := strings.NewReplacer("{system}", v.System, "{payload}", v.Payload, "{tools}", b.Tools,
		"{model}", b.Model, "{effort}", b.Effort, "{settings}", b.Settings)
	var argv []string
	for _, token := range strings.Fields(b.Command) {
		argv = append(argv, fill.Replace(token))
	}
	return argv
}
