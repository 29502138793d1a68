#!/bin/sh
# The main job of satelle, played in a scratch repository with scratch homes.
# Nothing outside of one temporary folder is touched.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export HOME="$work/home" SATELLE_HOME="$work/home/.satelle" GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
unset CODEX_HOME SSH_AUTH_SOCK MAKEFLAGS MAKELEVEL MFLAGS 2>/dev/null || true
mkdir -p "$HOME"
PATH="$root/bin:$PATH"

tell() { printf '\n# %s\n' "$*"; }
say() { # a command as one would type it
    printf '$'
    for word; do
        case $word in *[!A-Za-z0-9_./-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
}
show() { say "$@"; "$@"; }
fail() { printf 'the demo went wrong: %s\n' "$*" >&2; exit 1; }
refused() { # runs a command that has to be refused
    say "$@"
    code=0; "$@" || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want"
}
# What Claude Code runs before a tool call is the command in its settings.
claude_writes() {
    printf '(Claude Code asks to write app.sh; its hook answers)\n'
    jq_free=$(sed -n 's/.*"command": *"\(.*\)".*/\1/p' .claude/settings.json | head -n 1 | sed 's/\\"/"/g; s/\\\\/\\/g')
    printf '{"session_id":"demo","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"%s/app.sh","content":"echo hello\\n"},"permission_mode":"default","tool_use_id":"t1","transcript_path":"/dev/null"}' "$PWD" "$PWD" |
        sh -c "exec </dev/stdin; $jq_free" >"$work/answer"
    if [ -s "$work/answer" ]; then
        sed 's/.*"permissionDecisionReason":"//; s/"}}.*//; s/\\"/"/g; s/^/    denied: /' "$work/answer"
        return 1
    fi
    printf 'echo hello\n' >app.sh
    echo "    allowed, and app.sh is written"
}

tell "A repository with one shell script and a test of its own."
mkdir "$work/repo" && cd "$work/repo"
git init -q -b main . && git config user.email ada@example.org && git config user.name Ada
printf 'test:\n\tsh app.sh | grep -q hello\n' >Makefile
git add Makefile && git commit -qm "A test, and no program yet"

tell "Set up satelle, and the blocking hooks of three coding agents."
show satelle init
git add -A && git commit -qm "Set up satelle"
show satelle agents install all
git add -A && git commit -qm "Install the hooks"

tell "An agent wants to write. No story holds the seat, so it may not."
claude_writes && fail "the write went through" || true

tell "It does what the denial says: it starts a story."
show satelle story start --title "Say hello" --ac "The program prints hello"
id=$(satelle story list --json | sed -n 's/.*"id":"\(sty_[a-z0-9]*\)".*/\1/p' | head -n 1)

tell "It calls itself done before it has done anything. The gate asks the repository's own test."
want=3; refused satelle story set "$id" --status done

tell "Now the same write goes through."
claude_writes || fail "the write was denied"

tell "And the gate accepts."
show satelle story set "$id" --status done
show satelle story docs "$id"

tell "The audit: everything that happened to the story, in order."
show satelle ledger list --story "$id"

tell "The proof: every record, hash and signature holds."
show satelle ledger verify

tell "Somebody changes one word in a copy of the ledger. It shows."
cp -R "$SATELLE_HOME" "$work/copy"
db=$(find "$work/copy" -name ledger.db)
LC_ALL=C sed -i.bak 's/transition.refused/transition.accepts/' "$db" && rm -f "$db.bak"
want=6; SATELLE_HOME="$work/copy" refused satelle ledger verify

printf '\nThat was satelle: no edit without a story, no status without its gate, no rewriting unseen.\n'
