package decide

import (
	"cmp"
	"strings"

	"satelle/hooks/dialect"
	"satelle/hooks/shell"
)

// form is how a tool's input says what it does.
type form int

const (
	looks     form = iota // reads the files named by keys
	edits                 // changes the files named by keys
	patch                 // changes the files named in a patch
	command               // runs a shell command
	power                 // runs a PowerShell command
	typing                // types into a running process
	delegates             // starts or steers something whose own calls are hooked, or only talks
	durable               // delegates, unless it is to outlive the session
	enters                // makes an isolated work tree, or goes into one that is there
	leaves                // ends an isolated work tree
)

// tool is a tool of a harness. Names are exact: "Read " is not Read.
type tool struct {
	names string
	form  form
	keys  string // fields of the input, separated by blanks
}

// tools is what is known of the harnesses' own tools. Unknown ones need a seat.
var tools = [...]tool{
	{"Read NotebookRead read_file read view_image ReadFile read_many_files", looks, "file_path notebook_path target_file path filePath absolute_path"},
	{"Grep Glob LS grep glob list list_dir list_directory search_file_content codebase_search file_search ls", looks, "path target_directory dir_path directory"},
	{"Write Edit MultiEdit write edit search_replace replace write_file edit_file create_file str_replace Delete delete_file", edits, "file_path filePath path target_file absolute_path"},
	{"NotebookEdit edit_notebook", edits, "notebook_path target_notebook"},
	{"apply_patch patch ApplyPatch", patch, "command input patch patchText"},
	{"Bash Monitor Shell bash shell local_shell exec_command run_terminal_command run_terminal_cmd run_shell_command monitor", command, "command cmd"},
	{"PowerShell", power, "command"},
	{"write_stdin", typing, "chars"},
	{"WebFetch WebSearch web_fetch google_web_search web_search webfetch websearch", delegates, ""},
	{"Agent Task task ListAgents SendMessage TaskStop TaskOutput TaskGet TaskList TaskCreate TaskUpdate Workflow ToolSearch Skill skill ReportFindings ScheduleWakeup DeferredToolPlaceholder", delegates, ""},
	{"TodoWrite TodoRead todowrite todoread todo_write write_todos update_plan ExitPlanMode EnterPlanMode AskUserQuestion BashOutput KillShell KillBash CronDelete CronList", delegates, ""},
	{"EnterWorktree", enters, "name path"},
	{"ExitWorktree", leaves, "action"},
	{"CronCreate scheduler_create", durable, "prompt"},
	{"spawn_agent send_input wait_agent resume_agent close_agent multi_agent_v1spawn_agent multi_agent_v1send_input multi_agent_v1wait_agent multi_agent_v1resume_agent " +
		"multi_agent_v1close_agent collaborationspawn_agent collaborationsend_message collaborationfollowup_task collaborationinterrupt_agent " +
		"collaborationlist_agents collaborationwait_agent send_message followup_task interrupt_agent list_agents get_goal create_goal update_goal request_user_input request_user_input_async " +
		"tool_search sleep wait list_mcp_resources list_mcp_resource_templates read_mcp_resource", delegates, ""},
	{"search_tool get_command_or_subagent_output kill_command_or_subagent wait_commands_or_subagents spawn_subagent scheduler_delete scheduler_list " +
		"enter_plan_mode exit_plan_mode ask_user_question send_feedback workflow", delegates, ""},
	// The reading tools of the reference MCP server for files, which carry the
	// mark readOnlyHint there; a payload has no such mark. Others are named by
	// the person, in [gate] reader_tools.
	{"mcp__filesystem__read_file mcp__filesystem__read_text_file mcp__filesystem__read_media_file mcp__filesystem__read_multiple_files mcp__filesystem__list_directory " +
		"mcp__filesystem__list_directory_with_sizes mcp__filesystem__directory_tree mcp__filesystem__search_files mcp__filesystem__get_file_info " +
		"mcp__filesystem__list_allowed_directories", looks, "path"},
}

func toolOf(name string) (tool, bool) {
	for _, t := range tools {
		for rest := t.names; rest != ""; {
			var known string
			known, rest, _ = strings.Cut(rest, " ")
			if known == name {
				return t, true
			}
		}
	}
	return tool{}, false
}

// understand tells what a call does. An error means that its input lacks what
// the tool needs, so that it can't be judged.
func understand(c dialect.Call, env shell.Env) (Act, error) {
	t, ok := toolOf(c.Tool)
	if !ok {
		return understandStrange(c, env)
	}
	switch t.form {
	case looks:
		paths, err := c.Input.Texts(strings.Fields(t.keys)...)
		return Act{Kind: Reads, Looks: append(paths, otherLooks(c.Input, t.keys)...), Deep: searches(c.Tool), What: first(paths)}, err
	case edits:
		paths, err := c.Input.Texts(strings.Fields(t.keys)...)
		if err == nil && (len(paths) == 0 || first(paths) == "") {
			err = dialect.ErrIncomplete
		}
		return Act{Kind: Edits, Paths: append(paths, otherPaths(c.Input, t.keys)...), What: first(paths)}, err
	case patch:
		body, ok, err := c.Input.Text(strings.Fields(t.keys)...)
		if err == nil && !ok {
			err = dialect.ErrIncomplete
		}
		if err != nil {
			return Act{}, err
		}
		paths, err := dialect.PatchTargets(body)
		return Act{Kind: Edits, Paths: paths, What: first(paths)}, err
	case command, power:
		return understandCommand(c, t, env)
	case typing:
		text, ok, err := c.Input.Text(t.keys)
		if err == nil && ok && text == "" {
			return Act{Kind: Reads}, nil // it polls
		}
		words := append(shell.Judge(text, env).Words, shell.Word{Text: text})
		effect := shell.Effect{Opaque: true, Words: words, Satelle: guesses(text, env)}
		return Act{Kind: Strange, Effect: effect, What: text}, err
	case durable:
		if c.Input.True("durable") {
			what, _, _ := c.Input.Text(t.keys) // for the reason only
			return Act{Kind: Strange, What: what}, nil
		}
	case enters:
		name, tree := c.Input.True("name"), c.Input.True("path")
		if what, err := c.Input.Texts(strings.Fields(t.keys)...); err != nil || name || !tree {
			return Act{Kind: Strange, What: first(what)}, err
		}
	case leaves:
		if action, _, err := c.Input.Text(t.keys); err != nil || action != "keep" {
			return Act{Kind: Strange, What: action}, err
		}
	}
	return Act{Kind: Reads, Looks: fileURLs(c.Input)}, nil
}

// folderKeys are the fields in which shells take the folder that a command
// starts in: those of Codex and opencode, Cursor, and Gemini.
const folderKeys = "workdir working_directory directory dir_path cwd"

func understandCommand(c dialect.Call, t tool, env shell.Env) (Act, error) {
	folders, err := c.Input.Texts(strings.Fields(folderKeys)...)
	if err != nil {
		return Act{}, err
	}
	act, err := understandIn(c, t, env)
	for _, dir := range folders {
		if dir == "" || err != nil {
			continue
		}
		there := env
		there.Dir = absolute(env.Dir, dir)
		var in Act
		in, err = understandIn(c, t, there)
		act.Effect = either(act.Effect, in.Effect)
		act.Looks = append(act.Looks, there.Dir)
	}
	return act, err
}

// either is the effect of what has one of two: which of them a harness goes by
// isn't known, and it may pass over a field that only looks like a folder.
func either(a, b shell.Effect) shell.Effect {
	if b.Changes && (!a.Changes || a.Known && !b.Known) {
		a.Why, a.Rule = b.Why, b.Rule
	}
	if b.Changes {
		a.Known = b.Known && (a.Known || !a.Changes)
	}
	a.Changes = a.Changes || b.Changes
	a.Opaque = a.Opaque || b.Opaque
	a.Bypass = cmp.Or(a.Bypass, b.Bypass)
	a.Targets = append(a.Targets, b.Targets...)
	a.Links = append(a.Links, b.Links...)
	a.Copies = append(a.Copies, b.Copies...)
	a.Words = append(a.Words, b.Words...)
	a.Satelle = append(a.Satelle, b.Satelle...)
	return a
}

// understandIn is understandCommand for one folder.
func understandIn(c dialect.Call, t tool, env shell.Env) (Act, error) {
	if argv, ok, err := c.Input.Argv("command"); err != nil || ok {
		return Act{Kind: Command, Effect: patched(shell.Argv(argv, env)), What: strings.Join(argv, " ")}, err
	}
	text, ok, err := c.Input.Text(strings.Fields(t.keys)...)
	if err == nil && !ok {
		err = dialect.ErrIncomplete
	}
	if err != nil {
		return Act{}, err
	}
	judge := shell.Judge
	if t.form == power {
		judge = shell.PowerShell
	}
	return Act{Kind: Command, Effect: patched(judge(text, env)), What: text}, nil
}

// patched adds the files that patches in a command name. Codex takes a command
// that hands a patch to apply_patch for a call of that tool, and asks no
// further hook.
func patched(e shell.Effect) shell.Effect {
	for _, word := range e.Words {
		if !strings.HasPrefix(strings.TrimSpace(word.Text), "*** Begin Patch") {
			continue
		}
		paths, err := dialect.PatchTargets(word.Text)
		if err != nil {
			continue // it is no patch, and the program is unknown as before
		}
		for _, p := range paths {
			if abs := absolute(word.Dir, p); strings.HasPrefix(p, "/") || word.Dir != "" {
				e.Targets = append(e.Targets, shell.Target{Path: abs})
			}
		}
	}
	return e
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func absolute(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return dir + "/" + path
}
