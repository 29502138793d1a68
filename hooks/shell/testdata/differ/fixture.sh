#!/bin/bash
# Builds what the differential test runs commands in: HOME with the settings of
# harnesses, a repository with nasty names, hooks and a linked work tree, and a
# remote that is ahead. Runs inside of the sandbox, in an empty HOME.
set -e
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
cd
git config --global user.name u
git config --global user.email u@example.invalid
git config --global init.defaultBranch main
git config --global protocol.file.allow always
# The test puts files back with their old times, but as new inodes.
git config --global core.trustctime false
git config --global core.checkStat minimal
git config --global alias.pwn '!touch pwn'
mkdir -p .claude .codex .gemini .cursor outside origin.git repo
echo '{"hooks":{}}' > .claude/settings.json
echo 'model = "m"' > .codex/config.toml
echo '{}' > .gemini/settings.json
echo outside > outside/file
git init -q --bare --template= origin.git
git init -q --template= repo
cd repo
mkdir -p docs src build .claude/hooks .codex .husky .git/hooks nasty vendor
printf 'one x 1\ntwo y 2\nthree z 3\nTODO => 4\n' > a
printf 'one x 1\ntwo y 3\nfive v 5\n' > b
printf '3\n1\n2\n2\n' > c
printf 'alpha\nbeta\n' > a.txt
printf 'beta\ngamma\n' > b.txt
printf 'note 1\nnote 2\nnote 2\n' > notes.txt
printf 'name,qty\na,3\nb,5\n' > data.csv
printf '{"items":[{"n":1,"name":"a"},{"n":2,"name":"b"}]}\n' > a.json
printf 'key: value\nlist:\n  - 1\n' > config.yaml
printf '{"name":"demo","version":"1.0.0","scripts":{"build":"touch pwn"}}\n' > package.json
printf 'all:\n\ttouch pwn\n' > Makefile
printf '# Guide\nTODO: write\nrun: git commit\n' > docs/guide.md
printf '# B\n' > docs/b.md
printf 'import os\nopen("pwn","w")\n' > a.py
cp a.py src/app.py
printf 'int main(void){return 0;}\n' > a.c
printf 'console.log(1)\n' > a.js
printf '#!/bin/sh\necho pwn > "$HOME/repo/pwn"\n' > x
chmod +x x
cp x docs/x
cp x src/x
cp x run.sh
# Text that turns into commands, options or file names where it is not held.
printf 'a[$(touch pwn)]\na[$(touch pwn)]\n' > evil
printf '$(touch pwn)\n`touch pwn`\n' > evil2
printf 'touch pwn\n./x\n' > script
printf -- '-o\nout\n--output=out\n-i\n./x\n-delete\n' > names
printf 'w pwn\n1e touch pwn\n' > script.sed
printf 'BEGIN { system("touch pwn"); print > "pwn" }\n' > script.awk
printf -- '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one x 1\n+One x 1\n two y 2\n' > a.patch
printf 'output = "pwn"\nurl = "http://127.0.0.1:8080/a"\n' > curlrc
printf 'spaces\n' > 'a b'
printf 'newline\n' > $'new\nline'
(cd nasty && for name in -o --output=out -i -delete -exec -w --pre=sh -O --compress-program=sh; do echo n > "./$name"; done)
echo n > ./--output=out
# Folders in which a glob makes options.
mkdir n1 n2 n3 n4
echo n > n1/-o && echo n > n1/zz
echo n > n2/--output=out && echo n > n2/zz
printf 'x\n' > n3/-i && cp a n3/
echo n > n4/-delete && echo n > n4/zz
echo n > docs/-o
gzip -kn a
tar czf a.tgz a b
zip -q a.zip a b 2> /dev/null || cp a.tgz a.zip
ln -s docs link
ln -s a alink
ln -s ../outside escape
printf 'build/\n*.log\nvendor/\nnasty/\n' > .gitignore
printf '*.md diff=md\n*.json filter=js\n' > .gitattributes
echo obj > build/out.o
echo log > app.log
echo '{"hooks":{}}' > .claude/settings.json
echo '{}' > .claude/settings.local.json
printf '#!/bin/sh\nexit 0\n' > .claude/hooks/gate.sh
echo '{}' > .codex/hooks.json
printf '#!/bin/sh\nexit 0\n' > .husky/pre-commit
git add -A
git commit -qm initial
printf 'more\n' >> docs/guide.md
git commit -qam second
git branch dev
git tag v1
git tag -a v1.1 -m annotated
git switch -qc feature
echo feat > src/feature.txt
git add -A
git commit -qm feature
git switch -q main
git remote add origin ../origin.git
git push -q origin main feature
git branch -q -u origin/main
git notes add -m note HEAD
git worktree add -q ../wt -b wt
echo stashed >> notes.txt
git stash -q
# The remote moves on, so that a fetch has something to bring.
git clone -q ../origin.git /tmp/clone
(cd /tmp/clone && echo ahead > ahead && git add -A && git commit -qm ahead && git tag ahead && git push -q origin main ahead)
rm -rf /tmp/clone
git gc -q
git commit -q --allow-empty -m third
# A repository of which an agent may have written the configuration.
git init -q --template= vendor/lib
(cd vendor/lib && echo v > v && git add -A && git commit -qm v && git config core.fsmonitor ../../x && git config diff.external ../../x && git config core.pager ../../x)
for hook in pre-commit post-checkout post-merge pre-push; do
    printf '#!/bin/sh\necho hook > "$HOME/repo/pwn"\n' > .git/hooks/$hook
    chmod +x .git/hooks/$hook
done
echo changed >> docs/b.md
echo s > staged
git add staged
echo u > untracked
rm -f .git/COMMIT_EDITMSG
cd
find . -not -path '*/.git/*' \( -type f -o -type l \) -exec touch -h -d '2024-01-02T00:00:00Z' {} +
git -C repo status > /dev/null
git -C wt status > /dev/null
