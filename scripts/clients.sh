#!/bin/sh
# Installs the coding agents that the tests under build tag `clients` start, as
# pinned in internal/clienttest/package-lock.json, into the ignored folder
# .clients, with the programs themselves in .clients/bin. Does nothing if they
# are there already. Needs npm.
set -eu
cd "$(dirname "$0")/.."
pins=internal/clienttest
want=$(cat "$pins/package.json" "$pins/package-lock.json" scripts/clients.sh | cksum)
if [ "$(cat .clients/installed 2>/dev/null)" = "$want" ]; then
	exit 0
fi

mkdir -p .clients/bin
rm -f .clients/installed
cp "$pins/package.json" "$pins/package-lock.json" .clients/
cd .clients
# Nothing that a package brings is run; what their scripts would do is below.
npm ci --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved --loglevel=error

program() { # name, file
	[ -n "$2" ] && [ -f "$2" ] || {
		echo "clients.sh: no $1 for this platform" >&2
		exit 1
	}
	ln -sf "../$2" "bin/$1"
}
first() { # pattern: the first file that matches
	for f in $1; do
		[ -f "$f" ] && echo "$f" && return
	done
	true
}
program claude "$(first 'node_modules/@anthropic-ai/claude-code-*/claude')"
program codex "$(first 'node_modules/@openai/codex-*/vendor/*/bin/codex')"
packed=$(first 'node_modules/@xai-official/grok-*/bin/grok.br')
if [ -n "$packed" ]; then
	node -e 'const fs = require("fs"), zlib = require("zlib");
		fs.writeFileSync(process.argv[2], zlib.brotliDecompressSync(fs.readFileSync(process.argv[1])), { mode: 0o755 })' \
		"$packed" "${packed%.br}"
fi
program grok "$(first 'node_modules/@xai-official/grok-*/bin/grok')"
program opencode "$(first 'node_modules/opencode-*/bin/opencode')"
# It starts codex as a package that it depends on, which is the one above.
program codex-acp node_modules/@agentclientprotocol/codex-acp/dist/index.js
echo "$want" >installed
