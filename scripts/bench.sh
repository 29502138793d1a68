#!/usr/bin/env bash
# Ratios, each against what it stands on, in interleaved rounds of one run:
# quote medians and ratios, never single times. RECORDS sizes the ledger.
set -euo pipefail
cd "$(dirname "$0")/.."
records=${RECORDS:-1000000}
echo "== the hook, through its wrapper, against the wrapper around a Go hello-world"
go test -tags bench -count=1 -timeout 30m -run TestBench -v ./cmd/satelle-hook | grep -v '^=== '
echo "== whole processes: beside a writer, and at $records records"
go test -tags bench -count=1 -timeout 60m -run 'TestBench$' -v ./cmd/satelle -bench.records "$records" | grep -v "^=== "
echo "== an audit of 5,000 commits"
go test -tags bench -count=1 -timeout 30m -run TestBenchAudit -v ./cmd/satelle | grep -v "^=== "
echo "== the ledger of $records records"
go test -count=1 -timeout 60m -run TestBench -v ./ledger -bench.records "$records" | grep -v '^=== '
