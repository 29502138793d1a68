package shell

import "strings"

// readers are the programs that print.
var readers = []rule{
	{
		name: "filter", programs: "cat tac nl head tail wc cut paste tr rev fold fmt pr expand unexpand column comm join cmp diff look tsort od hexdump strings " +
			"cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum shasum md5 zgrep zipinfo",
		why:   "filters that print what they read; none of their options names an output file",
		reads: "cat a | tr a-z A-Z | cut -c 1-3", changes: "cat a > b",
	},
	{
		name: "search", programs: "grep egrep fgrep jq",
		why:   "search and print",
		reads: "grep -rniE 'rm|mv' --include='*.py' .", changes: "grep x a >> b",
	},
	{
		name: "rg", programs: "rg", deny: "pre hostname-bin",
		why:   "searches and prints; --pre runs a program on each file",
		reads: `rg "=>" src`, changes: "rg --pre ./x y",
	},
	{
		name: "ag", programs: "ag", deny: "pager",
		why:   "searches and prints; --pager runs a program",
		reads: "ag todo src", changes: "ag --pager ./x todo",
	},
	{
		name: "fd", programs: "fd fdfind", deny: "x X exec exec-batch", value: "etEdcj",
		why:   "lists files; -x and -X run a program on each",
		reads: "fd -e md", changes: "fd -e md -x rm",
	},
	{
		name: "list", programs: "ls dir vdir eza exa lsd stat du df readlink realpath basename dirname pathchk locate which whereis whatis apropos",
		why:   "print names and properties of files",
		reads: "ls -la docs | head", changes: "ls > list.txt",
	},
	{
		name: "file", programs: "file", deny: "C compile", value: "mFfeP",
		why:   "prints types; -C writes a compiled list of them",
		reads: "file src/main.c", changes: "file -C -m magic",
	},
	{
		name: "system", programs: "id whoami logname hostid groups users who w last uptime uname nproc free vmstat iostat ps pgrep pidof pstree netstat lsblk lscpu lsmod lspci lsusb " +
			"printenv locale getconf tty tput clear uuidgen lsb_release envsubst getopt tokei cal ncal factor seq numfmt expr sleep true false yes pwd",
		why:   "print the state of the machine, or compute",
		reads: "ps aux | grep -c python", changes: "seq 3 > n",
	},
	{
		name: "echo", programs: "echo", why: "prints its arguments",
		reads: `echo "run: git commit"`, changes: "echo x > f",
	},
	{
		name: "sort", programs: "sort", deny: "o output compress-program T temporary-directory", value: "kStT",
		why:   "prints in order; -o names an output file, --compress-program a program",
		reads: "sort -t, -k2 -n data.csv", changes: "sort --output=s data.csv",
	},
	{
		name: "uniq", programs: "uniq", max: 1, value: "fsw",
		why:   "its second operand is an output file",
		reads: "uniq -c notes.txt", changes: "uniq notes.txt out.txt",
	},
	{
		name: "xxd", programs: "xxd", judge: judgeXxd,
		why:   "its second operand is an output file",
		reads: "xxd -l 16 a", changes: "xxd a b",
	},
	{
		name: "tree", programs: "tree", deny: "o R output",
		why:   "prints names; -o and -R write files",
		reads: "tree -a -I .git -L 2", changes: "tree -o t docs",
	},
	{
		name: "shuf", programs: "shuf", deny: "o output", value: "in",
		why:   "prints in disorder; -o names an output file",
		reads: "shuf -n 3 a", changes: "shuf -n 3 -o b a",
	},
	{
		name: "gofmt", programs: "gofmt", judge: judgeGofmt, why: "prints; -w rewrites, a profile is written",
		reads: "gofmt -l -d .", changes: "gofmt -l -w .",
	},
	{
		name: "object-file", programs: "nm size readelf objdump c++filt addr2line", judge: judgeObject, why: "print what an object file holds; a plugin is a program, and @ names a file of options",
		reads: "nm -g a.o", changes: "nm --plugin ./x.so a.o",
	},
	{
		name: "network", programs: "ping ping6 dig host nslookup whois traceroute tracepath getent", why: "ask the network, or the system's lists, and print",
		reads: "getent hosts localhost", changes: "dig a > b",
	},
	{
		name: "wget", programs: "wget", judge: judgeWget, why: "prints what it fetches if told to; all else writes files",
		reads: "wget -qO- http://127.0.0.1/", changes: "wget http://127.0.0.1/a",
	},
	{
		name: "iconv", programs: "iconv", deny: "o output", value: "ft",
		why:   "converts and prints; -o names an output file",
		reads: "iconv -c -f utf8 -t ascii a", changes: "iconv -c -o b a",
	},
	{
		name: "base64", programs: "base32 base64 basenc", deny: "o output",
		why:   "convert and print; -o names an output file",
		reads: "base64 -w0 a", changes: "base64 -D -o b -i a",
	},
	{
		name: "yq", programs: "yq", deny: "i inplace in-place s split-exp", value: "opI",
		why:   "queries and prints; -i edits, -s splits into files",
		reads: "yq .key config.yaml", changes: "yq -i .key=1 config.yaml",
	},
	{
		name: "bc", programs: "bc", why: "calculates; it has no way to files",
		reads: "echo '5 > 3' | bc", changes: "echo 1 | bc > n",
	},
	{
		name: "pager", programs: "less more most", judge: judgePager, why: "print when the output is no terminal; -o copies into a file, + runs a command",
		reads: "cat a | less -F", changes: "less -o log a",
	},
	{
		name: "bat", programs: "bat batcat", deny: "pager build clear generate-config-file",
		why:   "prints; --pager runs a program",
		reads: "bat -p a", changes: "bat --pager=./x a",
	},
	{
		name: "man", programs: "man", deny: "P H C B X pager html config-file", value: "sMSL",
		why:   "prints a page; -P and -H run a program",
		reads: "man ls | head", changes: "man -P ./x ls",
	},
	{
		name: "sdiff", programs: "sdiff", deny: "o output diff-program", max: 2, value: "wI",
		why:   "prints two files side by side; -o merges into a file, --diff-program runs a program",
		reads: "sdiff -s a b", changes: "sdiff -o m a b",
	},
	{
		name: "diff3", programs: "diff3", deny: "diff-program",
		why:   "compares and prints; --diff-program runs a program",
		reads: "diff3 -m a b c", changes: "diff3 --diff-program=./x a b c",
	},
	{
		name: "date", programs: "date", judge: judgeDate, why: "prints the time; -s and a bare operand set it",
		reads: "date +%F", changes: "date -s tomorrow",
	},
	{
		name: "hostname", programs: "hostname domainname", max: -1, deny: "F file b boot", why: "prints the name; an operand or a file sets it",
		reads: "hostname -f", changes: "hostname evil",
	},
	{
		name: "dd", programs: "dd", judge: judgeDD, why: "copies to standard output without of=",
		reads: "dd if=a bs=8 count=1", changes: "dd if=a of=b",
	},
	{
		name: "tee", programs: "tee", judge: judgeTee, why: "writes to the files that it is given",
		reads: "cat a | tee /dev/null", changes: "cat a | tee b",
	},
	{
		name: "mktemp", programs: "mktemp", judge: judgeMktemp, why: "creates a file, with -u only a name",
		reads: "mktemp -u", changes: "mktemp -p .",
	},
	{
		name: "curl", programs: "curl", judge: judgeCurl, why: "prints what it fetches; most of its options can write or send",
		reads: "curl -sI http://127.0.0.1/", changes: "curl -sO http://127.0.0.1/a",
	},
	{
		name: "tar", programs: "tar bsdtar gtar", judge: judgeTar, why: "lists an archive, or extracts to standard output",
		reads: "tar tzf a.tgz", changes: "tar xzf a.tgz",
	},
	{
		name: "unzip", programs: "unzip", judge: judgeUnzip, why: "lists an archive, or extracts to standard output",
		reads: "unzip -l a.zip", changes: "unzip a.zip",
	},
	{
		name: "compress", programs: "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma unlzma zcat bzcat xzcat zstdcat lz4cat", judge: judgeGzip, why: "replace the file, but with -c, -l or -t",
		reads: "gunzip -c a.gz", changes: "gunzip -k a.gz",
	},
	{
		name: "archive", programs: "ar cpio", judge: judgeArchive,
		why:   "list an archive with t",
		reads: "ar t a.a", changes: "ar r a.a b.o",
	},
	{
		name: "7z", programs: "7z 7za 7zr", judge: judgeTool, commands: "l,t", deny: "o w",
		why:   "lists an archive with l, and tests it with t",
		reads: "7z l a.7z", changes: "7z x a.7z",
	},
	{
		name: "xmllint", programs: "xmllint", judge: judgeXMLLint,
		why:   "prints what it parses; --output names a file, --shell takes commands",
		reads: "xmllint --format a.xml", changes: "xmllint --output b a.xml",
	},
	{
		name: "pdf", programs: "pdftotext pdfinfo pdffonts", judge: judgePDF,
		why:   "print what a document holds, with - for an output file",
		reads: "pdftotext a.pdf -", changes: "pdftotext a.pdf",
	},
	{
		name: "top", programs: "top", check: func(_ *judge, c *call) bool {
			return len(c.args) > 0 && c.args[0].known && strings.HasPrefix(c.args[0].text, "-") && strings.Contains(c.args[0].text, "b")
		},
		why:   "prints processes with -b; else it takes commands",
		reads: "top -bn1", changes: "top",
	},
	{
		name: "openssl", programs: "openssl", judge: judgeOpenssl, why: "dgst and version print, unless -out names a file",
		reads: "openssl dgst -sha256 a", changes: "openssl rand -out r 8",
	},
	{
		name: "patch", programs: "patch", judge: judgePatch, why: "only shows what it would do with --dry-run",
		reads: "patch -p1 --dry-run < a", changes: "patch -p1 < a",
	},
	{
		name: "rsync", programs: "rsync", judge: judgeRsync, why: "only shows what it would do with -n",
		reads: "rsync -an a/ b/", changes: "rsync -a a/ b/",
	},
	{
		name: "sed", programs: "sed gsed", judge: judgeSed, why: "prints what its script makes of the input; -i, w and e write or run",
		reads: "sed -n '1,3p' a", changes: "sed -n 'w b' a",
	},
	{
		name: "awk", programs: "awk gawk mawk nawk", judge: judgeAwk, why: "prints what its program computes; the program can also write and run commands",
		reads: "awk '$2 > 4 { print $1 }' a", changes: `awk '{ print > "b" }' a`,
	},
	{
		name: "git", programs: "git", judge: judgeGit, why: "see git.go",
		reads: "git status --short", changes: "git add a",
	},
	{
		name: "compiler", programs: "gcc g++ cc c++ clang clang++", judge: judgeCompiler, why: "compile; -fsyntax-only only parses",
		reads: "gcc -fsyntax-only a.c", changes: "gcc -o a a.c",
	},
}
