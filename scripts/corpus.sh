#!/bin/sh
# Scores the shell's judgement and the hook's answers on a corpus of commands
# and payloads that lies outside of the repository; SATELLE_CORPUS names its
# folder. Fails below the goals.
set -eu
cd "$(dirname "$0")/.."
if [ ! -f "${SATELLE_CORPUS:-}/shell.jsonl" ]; then
    echo "NO CORPUS: SATELLE_CORPUS=${SATELLE_CORPUS:-} NAMES NO FOLDER WITH shell.jsonl; NOTHING WAS SCORED" >&2
    exit 0
fi
"${GO:-go}" test -count=1 -v -run '^(TestCorpus|TestPayloadCorpus)$' ./hooks/shell ./hooks/decide
