#!/bin/sh
# Runs every native fuzz target of the module for the given time.
set -eu
time=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do
    for target in $(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | sort -u); do
        echo "$dir $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir" </dev/null >"$log" 2>&1 && cat "$log" && continue
        cat "$log"
        # Where the machine is busy, go calls the end of the time itself a failure;
        # a finding names its input.
        grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || exit 1
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir" </dev/null
    done
done
