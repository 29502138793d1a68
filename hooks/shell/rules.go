package shell

// A rule says under what conditions a program only reads. What no rule names
// changes files.
type rule struct {
	names string // programs, separated by blanks
	why   string // the reason

	deny    string // options with which it writes; long ones count when shortened, too
	value   string // its short options that take a value
	max     int    // operands, one more would be written to; 0: any number, -1: none
	builtin bool   // only a shell can run it
	state   bool   // it leaves something behind in the shell
	judge   func(j *judge, c *call)

	reads   string // an example that only reads
	changes string // and one that does not; "" if there is none
}

// rules is the list of readers. It is set in init only because the functions
// that judge a program which runs another one refer to it.
var rules []rule

func init() { rules = table[:] }

func lookup(program string) *rule {
	for i := range rules {
		if allowed(rules[i].names, program) {
			return &rules[i]
		}
	}
	return nil
}

func (r *rule) apply(j *judge, c *call) {
	j.state = j.state || r.state
	if r.judge != nil {
		r.judge(j, c)
		return
	}
	if r.deny == "" && r.max == 0 {
		return
	}
	operands, ok := c.options(r.value, func(option string, _ word) bool { return !listed(r.deny, option) })
	n := count(operands)
	if !ok || r.max > 0 && (n < 0 || n > r.max) || r.max < 0 && n != 0 {
		j.changes(c.src)
	}
}

var table = [...]rule{
	{
		names: "cat tac nl head tail wc cut paste tr rev fold fmt pr expand unexpand column comm join cmp diff diff3 look tsort od hexdump strings " +
			"cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum shasum md5 zcat bzcat xzcat zstdcat lz4cat zgrep zipinfo",
		why:   "filters that print what they read; none of their options names an output file",
		reads: "cat a | tr a-z A-Z | cut -c 1-3", changes: "cat a > b",
	},
	{
		names: "grep egrep fgrep jq",
		why:   "search and print",
		reads: "grep -rniE 'rm|mv' --include='*.py' .", changes: "grep x a >> b",
	},
	{
		names: "rg", deny: "pre hostname-bin",
		why:   "searches and prints; --pre runs a program on each file",
		reads: `rg "=>" src`, changes: "rg --pre ./x y",
	},
	{
		names: "ag", deny: "pager",
		why:   "searches and prints; --pager runs a program",
		reads: "ag todo src", changes: "ag --pager ./x todo",
	},
	{
		names: "fd fdfind", deny: "x X exec exec-batch", value: "etEdcj",
		why:   "lists files; -x and -X run a program on each",
		reads: "fd -e md", changes: "fd -e md -x rm",
	},
	{
		names: "ls dir vdir stat du df readlink realpath basename dirname pathchk locate which whereis whatis apropos",
		why:   "print names and properties of files",
		reads: "ls -la docs | head", changes: "ls > list.txt",
	},
	{
		names: "file", deny: "C compile", value: "mFfeP",
		why:   "prints types; -C writes a compiled list of them",
		reads: "file src/main.c", changes: "file -C -m magic",
	},
	{
		names: "id whoami groups users who w last uptime uname arch nproc free vmstat iostat ps pgrep pidof pstree lsof ss netstat lsblk lscpu lsmod lspci lsusb " +
			"printenv locale getconf tty tput cal ncal factor seq numfmt expr sleep true false yes pwd",
		why:   "print the state of the machine, or compute",
		reads: "ps aux | grep -c python", changes: "seq 3 > n",
	},
	{
		names: "echo", why: "prints its arguments",
		reads: `echo "run: git commit"`, changes: "echo x > f",
	},
	{
		names: "sort", deny: "o output compress-program T temporary-directory", value: "kStT",
		why:   "prints in order; -o names an output file, --compress-program a program",
		reads: "sort -t, -k2 -n data.csv", changes: "sort --output=s data.csv",
	},
	{
		names: "uniq", max: 1, value: "fsw",
		why:   "its second operand is an output file",
		reads: "uniq -c notes.txt", changes: "uniq notes.txt out.txt",
	},
	{
		names: "xxd", judge: judgeXxd,
		why:   "its second operand is an output file",
		reads: "xxd -l 16 a", changes: "xxd a b",
	},
	{
		names: "tree", deny: "o R output",
		why:   "prints names; -o and -R write files",
		reads: "tree -a -I .git -L 2", changes: "tree -o t docs",
	},
	{
		names: "shuf", deny: "o output", value: "in",
		why:   "prints in disorder; -o names an output file",
		reads: "shuf -n 3 a", changes: "shuf -n 3 -o b a",
	},
	{
		names: "gofmt", judge: judgeGofmt, why: "prints; -w rewrites, a profile is written",
		reads: "gofmt -l -d .", changes: "gofmt -l -w .",
	},
	{
		names: "nm size readelf objdump", judge: judgeObject, why: "print what an object file holds; a plugin is a program, and @ names a file of options",
		reads: "nm -g a.o", changes: "nm --plugin ./x.so a.o",
	},
	{
		names: "ping dig host getent", why: "ask the network, or the system's lists, and print",
		reads: "getent hosts localhost", changes: "dig a > b",
	},
	{
		names: "wget", judge: judgeWget, why: "prints what it fetches if told to; all else writes files",
		reads: "wget -qO- http://127.0.0.1/", changes: "wget http://127.0.0.1/a",
	},
	{
		names: "history", judge: judgeHistory, builtin: true, why: "lists earlier commands; its options write files",
		reads: "history 20", changes: "history -w f",
	},
	{
		names: "iconv", deny: "o output", value: "ft",
		why:   "converts and prints; -o names an output file",
		reads: "iconv -c -f utf8 -t ascii a", changes: "iconv -c -o b a",
	},
	{
		names: "base32 base64 basenc", deny: "o output",
		why:   "convert and print; -o names an output file",
		reads: "base64 -w0 a", changes: "base64 -D -o b -i a",
	},
	{
		names: "yq", deny: "i inplace in-place s split-exp", value: "opI",
		why:   "queries and prints; -i edits, -s splits into files",
		reads: "yq .key config.yaml", changes: "yq -i .key=1 config.yaml",
	},
	{
		names: "bc", why: "calculates; it has no way to files",
		reads: "echo '5 > 3' | bc", changes: "echo 1 | bc > n",
	},
	{
		names: "less more most", judge: judgePager, why: "print when the output is no terminal; -o copies into a file, + runs a command",
		reads: "cat a | less -F", changes: "less -o log a",
	},
	{
		names: "bat batcat", deny: "pager build clear generate-config-file",
		why:   "prints; --pager runs a program",
		reads: "bat -p a", changes: "bat --pager=./x a",
	},
	{
		names: "man", deny: "P H C B X pager html config-file", value: "sMSL",
		why:   "prints a page; -P and -H run a program",
		reads: "man ls | head", changes: "man -P ./x ls",
	},
	{
		names: "sdiff", deny: "o output", max: 2, value: "wI",
		why:   "prints two files side by side; -o merges into a file",
		reads: "sdiff -s a b", changes: "sdiff -o m a b",
	},
	{
		names: "date", judge: judgeDate, why: "prints the time; -s and a bare operand set it",
		reads: "date +%F", changes: "date -s tomorrow",
	},
	{
		names: "hostname domainname", max: -1, deny: "F file b boot", why: "prints the name; an operand or a file sets it",
		reads: "hostname -f", changes: "hostname evil",
	},
	{
		names: "dd", judge: judgeDD, why: "copies to standard output without of=",
		reads: "dd if=a bs=8 count=1", changes: "dd if=a of=b",
	},
	{
		names: "tee", judge: judgeTee, why: "writes to the files that it is given",
		reads: "cat a | tee /dev/null", changes: "cat a | tee b",
	},
	{
		names: "mktemp", judge: judgeMktemp, why: "creates a file, with -u only a name",
		reads: "mktemp -u", changes: "mktemp -p .",
	},
	{
		names: "curl", judge: judgeCurl, why: "prints what it fetches; most of its options can write or send",
		reads: "curl -sI http://127.0.0.1/", changes: "curl -sO http://127.0.0.1/a",
	},
	{
		names: "tar bsdtar gtar", judge: judgeTar, why: "lists an archive, or extracts to standard output",
		reads: "tar tzf a.tgz", changes: "tar xzf a.tgz",
	},
	{
		names: "unzip", judge: judgeUnzip, why: "lists an archive, or extracts to standard output",
		reads: "unzip -l a.zip", changes: "unzip a.zip",
	},
	{
		names: "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma unlzma", judge: judgeGzip, why: "replace the file, but with -c, -l or -t",
		reads: "gunzip -c a.gz", changes: "gunzip -k a.gz",
	},
	{
		names: "openssl", judge: judgeOpenssl, why: "dgst and version print, unless -out names a file",
		reads: "openssl dgst -sha256 a", changes: "openssl rand -out r 8",
	},
	{
		names: "patch", judge: judgePatch, why: "only shows what it would do with --dry-run",
		reads: "patch -p1 --dry-run < a", changes: "patch -p1 < a",
	},
	{
		names: "rsync", judge: judgeRsync, why: "only shows what it would do with -n",
		reads: "rsync -an a/ b/", changes: "rsync -a a/ b/",
	},
	{
		names: "sed gsed", judge: judgeSed, why: "prints what its script makes of the input; -i, w and e write or run",
		reads: "sed -n '1,3p' a", changes: "sed -n 'w b' a",
	},
	{
		names: "awk gawk mawk nawk", judge: judgeAwk, why: "prints what its program computes; the program can also write and run commands",
		reads: "awk '$2 > 4 { print $1 }' a", changes: `awk '{ print > "b" }' a`,
	},
	{
		names: "git", judge: judgeGit, why: "see git.go",
		reads: "git status --short", changes: "git add a",
	},
	{
		names: "find", judge: judgeFind, why: "lists files; some of its actions write or run programs",
		reads: "find . -name '*.md' -exec grep -n x {} +", changes: "find . -name '*.md' -delete",
	},
	{
		names: "xargs", judge: judgeXargs, why: "runs a program, which decides",
		reads: "find . -print0 | xargs -0 wc -l", changes: "echo a | xargs rm",
	},
	{
		names: "env", judge: judgeEnv, why: "runs a program, which decides, with variables",
		reads: "env LC_ALL=C sort a", changes: "env PATH=. ls",
	},
	{
		names: "timeout", judge: judgeTimeout, why: "runs a program, which decides",
		reads: "timeout 5 ls", changes: "timeout 5 rm a",
	},
	{
		names: "nice ionice stdbuf setsid", judge: judgeNice, why: "run a program, which decides",
		reads: "nice -n 10 du -sh src", changes: "stdbuf -oL rm a",
	},
	{
		names: "time", judge: judgeTime, why: "runs a program, which decides",
		reads: "command time -p ls", changes: "command time -o log ls",
	},
	{
		names: "busybox", judge: func(j *judge, c *call) { j.run(c.args, false) }, why: "runs one of its programs, which decides",
		reads: "busybox ls", changes: "busybox rm a",
	},
	{
		names: "sh bash dash zsh ksh", judge: judgeSh, why: "run a text, which decides; with -n nothing",
		reads: "bash -lc 'git status'", changes: "sh -c 'rm a'",
	},
	{
		names: "cd chdir pushd popd", judge: judgeCd, builtin: true, state: true, why: "change where the shell is",
		reads: "cd docs && ls", changes: "cd docs && touch a",
	},
	{
		names: ": break continue return exit shift times dirs umask ulimit logout", builtin: true, state: true, why: "steer the shell",
		reads: "ulimit -a | head -1; exit 0", changes: ": > f",
	},
	{
		names: "jobs wait", judge: judgeJobs, builtin: true, state: true, why: "tell of background commands; jobs -x runs one, wait -p evaluates a subscript",
		reads: "ls & wait", changes: "jobs -x rm a",
	},
	{
		names: "type hash", judge: judgeHash, builtin: true, state: true, why: "tell where programs are; hash -p redirects one",
		reads: "type ls", changes: "hash -p ./x ls",
	},
	{
		names: "command", judge: judgeCommand, builtin: true, why: "tells where a program is, or runs it, which decides",
		reads: "command -v node", changes: "command rm a",
	},
	{
		names: "builtin", judge: func(j *judge, c *call) { j.runAs(c.args, c.src, true, true) }, builtin: true, state: true, why: "runs a builtin, which decides",
		reads: "builtin echo a", changes: `builtin eval "rm a"`,
	},
	{
		names: "exec", judge: judgeExec, builtin: true, state: true, why: "opens files, or runs a program, which decides",
		reads: "exec 3< a; cat <&3", changes: "exec 3> a",
	},
	{
		names: "alias", judge: judgeAlias, builtin: true, state: true, why: "lists aliases; a new one gives a word another meaning",
		reads: "alias", changes: "alias ls=rm",
	},
	{
		names: "trap", judge: judgeTrap, builtin: true, state: true, why: "runs a text later, which decides",
		reads: "trap - EXIT", changes: "trap 'touch a' EXIT",
	},
	{
		names: "set", judge: judgeSet, builtin: true, state: true, why: "switches options of the shell",
		reads: "set -euo pipefail; ls", changes: "set -a",
	},
	{
		names: "shopt", judge: judgeShopt, builtin: true, state: true, why: "switches options of the shell; some change what words mean",
		reads: "shopt -s globstar; ls", changes: "shopt -s expand_aliases",
	},
	{
		names: "read mapfile readarray getopts unset", judge: judgeNames, builtin: true, state: true, why: "fill variables; a computed subscript is evaluated",
		reads: "read -r a < b", changes: "unset 'a[$(touch b)]'",
	},
	{
		names: "printf", judge: judgePrintf, state: true, why: "prints; -v fills a variable, whose subscript is evaluated",
		reads: `printf '%s\n' a`, changes: `printf -v "$x" a`,
	},
	{
		names: "test [", judge: judgeTest, why: "compare; -v evaluates a subscript",
		reads: "test -f a && echo yes", changes: `[ -v 'a[$(touch b)]' ]`,
	},
	{
		names: "python python3", judge: judgePython, why: "run a program; json.tool prints",
		reads: "python3 -m json.tool a.json", changes: "python3 a.py",
	},
	{
		names: "node", judge: judgeNode, why: "runs a program; --check only parses it",
		reads: "node --check a.js", changes: "node a.js",
	},
	{
		names: "gcc g++ cc c++ clang clang++", judge: judgeCompiler, why: "compile; -fsyntax-only only parses",
		reads: "gcc -fsyntax-only a.c", changes: "gcc -o a a.c",
	},
	{
		names: "rm rmdir mkdir touch unlink truncate mkfifo shred", judge: judgeOperands, why: "change the files that they are given",
		changes: "rm -rf docs",
	},
	{
		names: "cp mv ln install", judge: judgeCopy, why: "change their last operand, mv all of them",
		changes: "cp a b",
	},
	{
		names: "chmod chown chgrp", judge: judgeMode, why: "change the files after the first operand",
		changes: "chmod +x a",
	},
	{
		names: "npm docker podman kubectl gh go pip pip3 cargo rustup rustc brew apt apt-cache dpkg systemctl journalctl aws redis-cli terraform helm " +
			"make cmake java javac ruby perl deno bun npx php lua sqlite3 psql ssh ssh-add crontab tmux tsc ruff uv",
		judge: judgeTool, why: "see tools.go",
		reads: "gh pr list --limit 5", changes: "npm run build",
	},
}
