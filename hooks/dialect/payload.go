package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Parse reads one payload. With an error the Call still names the harness and
// the event where they could be told, so that the refusal finds its form.
func Parse(b []byte) (Call, error) {
	b, err := bound(b)
	if err != nil {
		return Call{}, err
	}
	if !gjson.ValidBytes(b) {
		return Call{}, ErrJSON
	}
	root := gjson.ParseBytes(b)
	if !root.IsObject() {
		return Call{}, ErrJSON
	}
	var p payload
	root.ForEach(func(key, value gjson.Result) bool {
		err = p.take(key.Str, value)
		return err == nil
	})
	c := Call{Harness: p.harness()}
	if err != nil {
		return c, err
	}
	return c, p.fill(&c)
}

// payload holds the top-level fields that decide, each once.
type payload struct {
	event, eventCamel gjson.Result
	tool, toolCamel   gjson.Result
	input, inputCamel gjson.Result
	cwd               gjson.Result
	session, agent    gjson.Result
	file              gjson.Result
	command           gjson.Result // Cursor's, beside no tool at all
	roots, root       gjson.Result
	clipped           gjson.Result
	id, transcript    gjson.Result
	turn, model       gjson.Result
	bare, args        gjson.Result // opencode's tool and args
	hook, in, out     gjson.Result // opencode's plugin call, as its two parameters
}

// slot returns where a key's value belongs, or nil for a key that decides
// nothing.
func (p *payload) slot(key string) *gjson.Result {
	switch key {
	case "hook_event_name":
		return &p.event
	case "hookEventName":
		return &p.eventCamel
	case "tool_name":
		return &p.tool
	case "toolName":
		return &p.toolCamel
	case "tool_input":
		return &p.input
	case "toolInput":
		return &p.inputCamel
	case "cwd":
		return &p.cwd
	case "session_id", "sessionId", "sessionID", "conversation_id":
		return &p.session
	case "agent_id", "subagentType":
		return &p.agent
	case "file_path":
		return &p.file
	case "command":
		return &p.command
	case "workspace_roots":
		return &p.roots
	case "workspaceRoot":
		return &p.root
	case "toolInputTruncated":
		return &p.clipped
	case "tool_use_id", "toolUseId":
		return &p.id
	case "transcript_path", "transcriptPath":
		return &p.transcript
	case "turn_id":
		return &p.turn
	case "model":
		return &p.model
	case "tool":
		return &p.bare
	case "args":
		return &p.args
	case "hook":
		return &p.hook
	case "input":
		return &p.in
	case "output":
		return &p.out
	}
	return nil
}

func (p *payload) take(key string, value gjson.Result) error {
	slot := p.slot(key)
	if slot == nil {
		return nil
	}
	if !slot.Exists() {
		*slot = value
		return nil
	}
	// Grok sends some in two spellings, which share a slot.
	if (slot == &p.session || slot == &p.id || slot == &p.transcript) && slot.Raw == value.Raw {
		return nil
	}
	return ErrDuplicate
}

// harness tells the sender by the keys that only it sends.
func (p *payload) harness() Harness {
	switch {
	case p.eventCamel.Exists() || p.toolCamel.Exists() || p.root.Exists():
		return Grok
	case p.roots.Exists() || strings.HasPrefix(p.event.Str, "before"):
		return Cursor
	case p.event.Str == "BeforeTool" || p.event.Str == "AfterTool":
		return Gemini
	case p.bare.Exists() || p.hook.Exists():
		return OpenCode
	case p.turn.Exists() || p.model.Exists():
		return Codex
	case p.event.Exists():
		return Claude
	}
	return Unknown
}

func (p *payload) fill(c *Call) error {
	if err := p.merge(); err != nil {
		return err
	}
	for _, f := range [...]struct {
		value gjson.Result
		into  *string
	}{
		{p.event, &c.Name},
		{p.tool, &c.Tool},
		{p.cwd, &c.CWD},
		{p.session, &c.Session},
		{p.agent, &c.Agent},
		{p.file, &c.File},
	} {
		if err := text(f.value, f.into); err != nil {
			return err
		}
	}
	if c.CWD == "" {
		if err := text(p.roots.Get("0"), &c.CWD); err != nil {
			return err
		}
	}
	if c.CWD == "" {
		if err := text(p.root, &c.CWD); err != nil {
			return err
		}
	}
	c.Roots = p.folders()
	c.ID, c.Turn, c.Transcript = aside(p.id, maxID), aside(p.turn, maxID), aside(p.transcript, maxPath)
	c.Event, c.Failed = eventOf(c.Name), failed(c.Name)
	if c.Name == "" && c.Tool != "" {
		c.Event = PreTool
	}
	return p.fillTool(c)
}

// folders are those that Grok and Cursor say a session was opened on.
func (p *payload) folders() (all []string) {
	for _, dir := range append(p.roots.Array(), p.root) {
		if dir := aside(dir, maxPath); dir != "" && len(all) < maxRoots {
			all = append(all, dir)
		}
	}
	return all
}

// fillTool reads what a call to a tool must have; other events may lack it.
func (p *payload) fillTool(c *Call) error {
	switch c.Event {
	case PreTool, SkillShell, Strange:
	case PostTool:
		// Nothing is decided any more: an input that can't be read is left out.
		if p.input.IsObject() {
			if in, err := parseInput(p.input); err == nil {
				c.Input = in
			}
		}
		return nil
	default:
		return nil
	}
	if c.Harness == Cursor && c.Tool == "" {
		return p.fillCursor(c)
	}
	if c.Tool == "" {
		return ErrNoTool
	}
	if p.clipped.Exists() && p.clipped.Type != gjson.False {
		return ErrClipped
	}
	switch {
	case p.input.IsObject():
		var err error
		c.Input, err = parseInput(p.input)
		return err
	case !p.input.Exists():
		return nil
	case p.input.Type == gjson.String && c.Harness == Cursor:
		return nil // the arguments of an MCP tool, as text; nothing is known of it anyway
	}
	return ErrType
}

// fillCursor reads the events of Cursor that name no tool.
func (p *payload) fillCursor(c *Call) error {
	switch c.Name {
	case "beforeShellExecution":
		c.Tool = "Shell"
		c.Input = Input{[]field{{"command", p.command}}}
	case "beforeReadFile":
		c.Tool = "Read"
		c.Input = Input{[]field{{"file_path", p.file}}}
	default:
		return ErrNoTool
	}
	return nil
}

// merge folds the spellings of one thing into one and refuses two that differ.
func (p *payload) merge() error {
	if p.hook.Exists() {
		if err := p.plugin(); err != nil {
			return err
		}
	}
	if p.eventCamel.Exists() {
		if p.event.Exists() && eventOf(p.event.Str) != eventOf(p.eventCamel.Str) {
			return ErrSpellings
		}
		if !p.event.Exists() {
			p.event = p.eventCamel
		}
	}
	for _, pair := range [...]struct{ into, other *gjson.Result }{
		{&p.tool, &p.toolCamel},
		{&p.input, &p.inputCamel},
		{&p.tool, &p.bare},
		{&p.input, &p.args},
	} {
		switch {
		case !pair.other.Exists():
		case !pair.into.Exists():
			*pair.into = *pair.other
		case pair.into.Raw != pair.other.Raw:
			return ErrSpellings
		}
	}
	return nil
}

// plugin takes what opencode's plugin is called with: the event's name and two
// parameters, of which the second holds the arguments before a call.
func (p *payload) plugin() error {
	if !p.in.IsObject() || p.out.Exists() && !p.out.IsObject() {
		return ErrType
	}
	in, err := parseInput(p.in)
	if err != nil {
		return err
	}
	var out Input
	if p.out.Exists() {
		if out, err = parseInput(p.out); err != nil {
			return err
		}
	}
	p.event = p.hook
	p.bare, _ = in.find("tool")
	p.session, _ = in.find("sessionID")
	p.id, _ = in.find("callID")
	if p.args, _ = out.find("args"); eventOf(p.hook.Str) == PostTool {
		p.args, _ = in.find("args")
	}
	return nil
}

// Bounds of texts that no decision rests on. Those of the harnesses are far
// shorter.
const (
	maxID   = 256
	maxPath = 4096

	maxRoots = 64
)

// aside is a text that no decision rests on: one of another type is none.
func aside(value gjson.Result, most int) string {
	if value.Type != gjson.String || len(value.Str) > most || strings.IndexByte(value.Str, 0) >= 0 {
		return ""
	}
	return value.Str
}

// text stores a string, and nothing for a value that is missing or null.
func text(value gjson.Result, into *string) error {
	if !value.Exists() || value.Type == gjson.Null {
		return nil
	}
	if value.Type != gjson.String || strings.IndexByte(value.Str, 0) >= 0 {
		return ErrType
	}
	*into = value.Str
	return nil
}
