#!/bin/sh
# satelle-hook.sh answers a harness when satelle-hook, the engine beside it, is
# missing or can't run. The installed hook command sources it; on its own it
# works as well. It knows no places and no seats: plain reading passes, so that
# one can find out what is wrong, and everything else is denied by a constant
# text, in which nothing of the input appears.
#
# Builtins only: it must work where nothing else does. It reads no JSON; it
# refuses every input with a backslash, and in one without, each quotation mark
# begins or ends a string. So a key is found wherever it stands, and EVERY
# value of a key must be harmless. When in doubt it denies.

case ${ZSH_VERSION:-} in ?*) emulate sh ;; esac
PATH=/usr/bin:/bin
LC_ALL=C
IFS=' '
set -f

deny() {
	printf '%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The hook program of satelle is missing or broken on this machine, so only plain reading (ls, cat FILE, git status) may run. A person mends it in a terminal: satelle agents install all"}}' || unwritten
	exit 0
}

# unwritten is the denial that needs no standard output.
unwritten() {
	printf '%s\n' 'satelle could not write its answer, so no tool may run.' >&2
	exit 2
}

# block is the form of a denial for an event without a tool.
block() {
	printf '%s\n' '{"decision":"block","reason":"The hook program of satelle is missing or broken on this machine, so the settings of the harness stay as they are."}' || unwritten
	exit 0
}

# each KEY CHECK calls CHECK with every value of KEY, and counts them in $found.
# A value that is no string is refused.
each() {
	found=0
	rest=$payload
	while :; do
		case $rest in
		*"\"$1\""*) rest=${rest#*"\"$1\""} ;;
		*) return 0 ;;
		esac
		skip
		case $rest in
		:*) rest=${rest#:} ;;
		*) continue ;; # a value that reads like the key
		esac
		skip
		case $rest in
		'"'*'"'*) rest=${rest#?} ;;
		*) deny ;;
		esac
		value=${rest%%'"'*}
		rest=${rest#*'"'}
		found=$((found + 1))
		"$2"
	done
}

skip() {
	while :; do
		case $rest in
		' '* | '	'*) rest=${rest#?} ;;
		*) return 0 ;;
		esac
	done
}

is_event() {
	case $value in
	PreToolUse | pre_tool_use | PreSkillShellCommand | BeforeTool) before=1 ;;
	PostToolUse | post_tool_use | SessionStart | session_start | SessionEnd | session_end | Stop | stop) after=1 ;;
	ConfigChange) block ;;
	*) deny ;;
	esac
}

is_tool() {
	case $value in
	Read | Glob | Grep | LS | NotebookRead | WebFetch | WebSearch) ;;
	read_file | list_dir | grep | web_search | view_image | read | glob | list) ;;
	Bash | run_terminal_command | shell | exec_command | bash) shell=1 ;;
	*) deny ;;
	esac
}

# is_plain accepts a command of a few plain words, the first of which is known
# to read. An option is accepted where looking around needs it, since others
# can write or run. The engine must let pass whatever passes here.
is_plain() {
	case $value in
	*[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\ ./_,:=@%+-]*) deny ;;
	esac
	set -- $value
	if [ $# -gt 32 ]; then deny; fi
	case ${1:-} in
	pwd | whoami | id | uname | true) plain_words= ;;
	ls | cat | head | tail | wc | stat | which | df | du | ps | printenv | readlink | realpath) plain_words=any ;;
	basename | dirname | cksum | md5sum | sha256sum | diff | cmp | grep | egrep | fgrep | nl | tac | echo) plain_words=any ;;
	git)
		case ${2:-} in
		status | log | show | diff | rev-parse | ls-files | blame) ;;
		*) deny ;;
		esac
		shift
		plain_words=any
		;;
	satelle)
		case "${2:-} $#" in
		'status 2' | 'version 2' | 'doctor 2') return 0 ;;
		*) deny ;;
		esac
		;;
	*) deny ;;
	esac
	program=$1
	shift
	for word; do
		case $word in
		-[!-]*)
			case $program in
			status | log | show | diff | rev-parse | ls-files | blame)
				case $word in
				-[bnpsv123456789] | -[123456789][0123456789]) ;;
				*) deny ;;
				esac
				;;
			esac
			;;
		--short | --branch | --porcelain | --stat | --oneline | --cached | --staged | --name-only | --name-status) ;;
		-*) deny ;;
		*) if [ -z "$plain_words" ]; then deny; fi ;;
		esac
	done
}

# A shell reads a pipe byte by byte. A harness waits for an answer only so
# long, so after a second or two of reading the answer is given at once.
trap deny XCPU 2>/dev/null
ulimit -S -t 2 2>/dev/null

payload=
while IFS= read -r line || [ -n "${line:-}" ]; do
	payload="$payload$line	" # a tab: a blank in JSON, but not in a plain command
	if [ ${#payload} -gt 8192 ]; then deny; fi
done

# No call may come near satelle's own secrets, however it is written.
case $payload in
*\\*) deny ;;
*/[Kk][Ee][Yy][Ss]* | *[Kk][Ee][Yy][Ss]/* | */[Tt][Oo][Kk][Ee][Nn][Ss]* | *[Tt][Oo][Kk][Ee][Nn][Ss]/*) deny ;;
*[Ss][Aa][Tt][Ee][Ll][Ll][Ee].[Ll]* | *.[Ss][Aa][Tt][Ee][Ll][Ll][Ee][\"\ ]* | *.[Ss][Aa][Tt][Ee][Ll][Ll][Ee]/[\"\ ]*) deny ;;
'{'*'}'*) ;;
*) deny ;;
esac

before=0 after=0 shell=0 tools=0
each hook_event_name is_event
each hookEventName is_event
if [ $after -eq 1 ] && [ $before -eq 0 ]; then exit 0; fi

for key in tool_name toolName tool; do
	each $key is_tool
	tools=$((tools + found))
done
if [ $tools -eq 0 ]; then deny; fi

texts=0
for key in command cmd; do
	each $key is_plain
	texts=$((texts + found))
done
if [ $shell -eq 1 ] && [ $texts -eq 0 ]; then deny; fi
exit 0
