#!/bin/sh
# satelle-git-hook: made by `satelle agents install git`, deleted by `satelle agents remove git`
# A hook that was here before stands beside this one as @NAME@.before-satelle;
# it gets the words and the input that git gives, and its exit code counts.
name=@NAME@
missing=@UNINSTALLED@
satelle="${SATELLE_HOME:-${HOME:-}/.satelle}/bin/satelle"

before=""
case "$0" in
    */"$name") before="${0%/*}/$name.before-satelle" ;;
esac

ours() {
    if [ -x "$satelle" ]; then
        "$satelle" git-hook "$name" "$@"
        return
    fi
    [ "$missing" = deny ] || return 0
    case "$name" in
        pre-*)
            echo "satelle: $name: satelle governs here but is not installed on this machine ($satelle)" >&2
            echo "try: satelle agents install git" >&2
            return 1
            ;;
    esac
}

theirs() {
    if [ -n "$before" ] && [ @TEST@ "$before" ]; then
        @RUN@"$before" "$@"
    fi
}

case "$name" in
    pre-commit | pre-merge-commit)
        ours "$@" </dev/null || exit 1
        theirs "$@" || exit $?
        ;;
    post-rewrite | pre-push)
        input=$(cat && echo .) || exit 1
        input="${input%.}"
        printf '%s' "$input" 2>/dev/null | theirs "$@" || exit $?
        printf '%s' "$input" 2>/dev/null | ours "$@" || exit 1
        ;;
    *)
        theirs "$@" || exit $?
        ours "$@" </dev/null || exit 1
        ;;
esac
