#!/bin/sh
# Runs every native fuzz target of the module for the given time.
set -eu
time=${1:-10s}
grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u | while read -r dir; do
    for target in $(grep -rhoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{print $2}' | sort -u); do
        echo "$dir $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir" </dev/null
    done
done
