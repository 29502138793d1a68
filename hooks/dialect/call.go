package dialect

// Harness is a coding agent's program.
type Harness string

// The harnesses whose payloads are known. Unknown is answered in the form that
// Claude, Codex and Grok all take for a denial.
const (
	Unknown  Harness = ""
	Claude   Harness = "claude"
	Codex    Harness = "codex"
	Grok     Harness = "grok"
	OpenCode Harness = "opencode"
	Gemini   Harness = "gemini"
	Cursor   Harness = "cursor"
)

// Event is what a hook is told of.
type Event int

// The events that are told apart.
const (
	Strange      Event = iota // no event that this version knows
	PreTool                   // a tool is about to run
	PostTool                  // a tool has run, or failed; nothing can be refused any more
	SkillShell                // a skill's preamble is about to run a shell command
	ConfigChange              // the harness is about to reload its settings
	SessionStart
	Quiet // known, and nothing that could be refused
)

// events maps the harnesses' names, which Grok also sends in snake case.
var events = [...]struct {
	name  string
	event Event
}{
	{"PreToolUse", PreTool},
	{"pre_tool_use", PreTool},
	{"PostToolUse", PostTool},
	{"post_tool_use", PostTool},
	{"PreSkillShellCommand", SkillShell},
	{"ConfigChange", ConfigChange},
	{"SessionStart", SessionStart},
	{"session_start", SessionStart},
	{"sessionStart", SessionStart},
	{"BeforeTool", PreTool},
	{"preToolUse", PreTool},
	{"beforeShellExecution", PreTool},
	{"beforeMCPExecution", PreTool},
	{"beforeReadFile", PreTool},
	{"tool.execute.before", PreTool},
	{"tool.execute.after", PostTool},
	{"AfterTool", PostTool},
	{"BeforeModel", Quiet},
	{"AfterModel", Quiet},
	{"BeforeAgent", Quiet},
	{"AfterAgent", Quiet},
	{"InstructionsLoaded", Quiet},
	{"PostToolBatch", Quiet},
	{"PostToolUseFailure", PostTool},
	{"post_tool_use_failure", PostTool},
	{"PermissionRequest", Quiet},
	{"PreCompact", Quiet},
	{"pre_compact", Quiet},
	{"PostCompact", Quiet},
	{"Notification", Quiet},
	{"notification", Quiet},
	{"SessionEnd", Quiet},
	{"session_end", Quiet},
	{"Stop", Quiet},
	{"stop", Quiet},
	{"SubagentStart", Quiet},
	{"subagent_start", Quiet},
	{"SubagentStop", Quiet},
	{"subagent_stop", Quiet},
	{"UserPromptSubmit", Quiet},
	{"user_prompt_submit", Quiet},
	{"afterFileEdit", Quiet},
	{"afterShellExecution", Quiet},
	{"afterMCPExecution", Quiet},
	{"postToolUse", PostTool},
	{"sessionEnd", Quiet},
}

func eventOf(name string) Event {
	for i := range events {
		if events[i].name == name {
			return events[i].event
		}
	}
	return Strange
}

// failed tells of the events that only a call which failed leads to.
func failed(name string) bool { return name == "PostToolUseFailure" || name == "post_tool_use_failure" }

// Call is a payload, as far as a decision or an observation rests on it.
type Call struct {
	Harness Harness
	Event   Event
	Name    string // the event's name, as it was sent
	Tool    string
	Input   Input
	ID      string   // by which the harness tells this call of a tool from others, before and after it, "" if it sends none
	Failed  bool     // of a PostTool: the harness says that the call failed
	CWD     string   // "" if the payload names none
	Roots   []string // the folders that the session was opened on, as far as the payload tells
	Session string
	Agent   string // the sub-agent, "" in the main session
	File    string // the settings file of a ConfigChange

	// Where Codex writes down what its session is, and the turn that the call
	// belongs to; "" for what was not sent. No decision rests on them.
	Transcript, Turn string
}
