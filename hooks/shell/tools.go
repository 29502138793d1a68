package shell

import "strings"

// tools are developers' programs whose first words say what they do.
var tools = []rule{
	{
		name: "npm", programs: "npm", judge: judgeTool, version: "-v",
		commands: "view,info,show,v,ls,list,ll,la,root,prefix,ping,whoami,search,explain,why,help,config get,config list,config ls,outdated,fund,pkg get,query,owner ls,dist-tag ls,audit$,run$,profile get,token list",
		deny:     "git userconfig globalconfig node-options script-shell cache logs-dir prefix w web browser",
		why:      "prints what is installed or published; what it runs is unknown",
		reads:    "npm ls", changes: "npm run build",
	},
	{
		name: "pnpm", programs: "pnpm yarn", check: pnpmReads, own: true,
		why:   "print what is installed or published, in a folder whose settings an agent can't write; yarn runs what they name",
		reads: "pnpm ls", changes: "pnpm build",
	},
	{
		name: "docker", programs: "docker podman nerdctl", judge: judgeTool, version: "-v", value: "H", long: "host= context= log-level=", deny: "o output",
		commands: "ps,images,inspect,logs,version,info,top,port,stats,diff,history,search,events,image ls,image list,image inspect,image history,container ls,container list,container inspect,container logs," +
			"container top,container stats,container port,container diff,volume ls,volume inspect,network ls,network inspect,context ls,context show,context inspect,system df,system info,system events," +
			"buildx ls,buildx version,buildx du,node ls,service ls,stack ls,plugin ls,compose ps,compose logs,compose ls,compose images,compose top,compose version,compose config,compose port",
		why:   "print the state of containers",
		reads: "docker ps", changes: "docker run x",
	},
	{
		name: "docker-compose", programs: "docker-compose", judge: judgeTool, deny: "o output",
		commands: "ps,logs,ls,images,top,version,config,port",
		why:      "prints the state of containers",
		reads:    "docker-compose ps", changes: "docker-compose up",
	},
	{
		name: "kubectl", programs: "kubectl oc", judge: judgeTool,
		value: "n", long: "namespace= context=", deny: "output-directory cache-dir kubeconfig profile server token",
		commands: "get,describe,logs,version,explain,api-resources,api-versions,cluster-info$,top,events,config view,config current-context,config get-contexts,config get-clusters,config get-users,auth can-i,auth whoami," +
			"rollout status,rollout history,options,plugin list",
		why:   "prints the state of a cluster",
		reads: "kubectl get pods", changes: "kubectl apply -f x.yaml",
	},
	{
		name: "gh", programs: "gh", judge: judgeTool,
		value: "R", long: "repo=", deny: "f F field raw-field input w web",
		commands: "pr list,pr view,pr status,pr diff,pr checks,issue list,issue view,issue status,repo view,repo list,run list,run view,run watch,workflow list,workflow view,cache list,secret list,variable list,variable get," +
			"release list,release view,label list,gist list,gist view,search issues,search prs,search code,search repos,search commits,auth status,status,api,ruleset list,ruleset view,ruleset check,project list,project view," +
			"extension list,alias list,config list,config get,org list,ssh-key list,gpg-key list,help",
		why:   "prints what a forge knows; api reads by GET and without fields",
		reads: "gh pr list --limit 5", changes: "gh api repos/o/r -X DELETE",
	},
	{
		name: "glab", programs: "glab", judge: judgeTool,
		value: "R", long: "repo=", deny: "f F field raw-field input w web",
		commands: "mr list,mr view,mr diff,issue list,issue view,ci list,ci status,ci get,pipeline list,repo view,repo list,release list,release view,label list,variable list,variable get,auth status,api,version,help",
		why:      "prints what a forge knows; api reads by GET and without fields",
		reads:    "glab mr list", changes: "glab mr create",
	},
	{
		name: "go", programs: "go", judge: judgeTool, own: true,
		commands: "version,env,doc,help,list,mod graph,mod why,mod verify", deny: "w u h mod modfile overlay toolexec exec vettool export compiled fix C o",
		why:   "print versions, settings, documentation and packages",
		reads: "go list ./...", changes: "go build -o a ./cmd/a",
	},
	{
		name: "cargo", programs: "cargo", check: cargoReads,
		why:   "prints versions, and with --locked or --frozen what a package needs",
		reads: "cargo tree --locked", changes: "cargo build",
	},
	{
		name: "rust", programs: "rustc rustfmt", check: rustReads,
		why:   "print versions, or with --check what would be formatted",
		reads: "rustfmt --check src/main.rs", changes: "rustc a.rs",
	},
	{
		name: "rustup", programs: "rustup", judge: judgeTool, version: "-v",
		commands: "show,toolchain list,target list,component list,which,help,check",
		why:      "prints toolchains",
		reads:    "rustup show", changes: "rustup update",
	},
	{
		name: "versions", programs: "pyenv rbenv nodenv asdf goenv", judge: judgeTool, own: true,
		commands: "versions,version$,version-name,which,whence,root,prefix,current,where,list,plugin list,commands,help,info",
		why:      "print the versions of a language that are there",
		reads:    "pyenv versions", changes: "pyenv install 3.12",
	},
	{
		name: "terraform", programs: "terraform tofu", judge: judgeTool, version: "-v,-version", own: true,
		commands: "version,output,state list,workspace list,workspace show,fmt -check",
		deny:     "write plugin-dir config",
		why:      "print the state, in a folder whose settings an agent can't write",
		reads:    "terraform state list", changes: "terraform apply",
	},
	{
		name: "helm", programs: "helm", judge: judgeTool,
		commands: "list,ls,status,version,history,repo list,search repo,search hub,get values,get manifest,get all,get notes,get hooks,env,plugin list,show chart,show values,show readme,show all,template,lint,dependency list",
		deny:     "output-dir kubeconfig registry-config repository-cache repository-config post-renderer post-renderer-args",
		why:      "prints releases and charts",
		reads:    "helm list", changes: "helm upgrade x",
	},
	{
		name: "aws", programs: "aws", check: awsReads,
		why:   "prints what describe and list commands know; get commands may write a file",
		reads: "aws ec2 describe-instances", changes: "aws s3 rm s3://x",
	},
	{
		name: "gcloud", programs: "gcloud az", judge: judgeTool,
		commands: "version$,info$,config list,auth list,projects list,compute instances list,compute zones list,compute regions list,container clusters list,services list,run services list,functions list," +
			"account show,account list,group list,vm list,aks list",
		why:   "print what they know of a cloud",
		reads: "gcloud projects list", changes: "gcloud compute ssh x",
	},
	{
		name: "redis-cli", programs: "redis-cli", judge: judgeTool, version: "-v",
		value: "hpnu", commands: "get,mget,keys,scan,ttl,pttl,type,exists,info,ping,dbsize,llen,lrange,lindex,hget,hgetall,hkeys,hvals,hlen,smembers,scard,zrange,zcard,zscore,strlen,time,memory usage,config get,client list",
		deny:  "eval rdb functions-rdb pipe x",
		why:   "prints values",
		reads: "redis-cli get k", changes: "redis-cli set k v",
	},
	{
		name: "sqlite3", programs: "sqlite3", check: sqliteReads,
		why:   "with -readonly it prints what a plain query or a command like .tables finds",
		reads: "sqlite3 -readonly a.db 'select count(*) from t'", changes: "sqlite3 a.db 'create table t(x)'",
	},
	{
		name: "svn", programs: "svn", judge: judgeTool,
		commands: "status,st,stat,diff,di,log,info,list,ls,cat,blame,praise,annotate,ann,propget,pget,pg,proplist,plist,pl,help",
		deny:     "diff-cmd diff3-cmd editor-cmd config-dir config-option extensions x",
		why:      "prints the state of a working copy and its history",
		reads:    "svn log -l 3", changes: "svn update",
	},
	{
		name: "formatter", programs: "shfmt yamllint shellcheck hadolint", check: formatterReads,
		why:   "print what is wrong with files; shfmt -w rewrites them",
		reads: "shellcheck build.sh", changes: "shfmt -w build.sh",
	},
	{
		name: "parse-only", programs: "php luac", check: parseOnly,
		why:   "with -l and -p they only parse a file",
		reads: "php -l a.php", changes: "php a.php",
	},
	{
		name: "tool", judge: judgeTool, own: true,
		programs: "cmake ninja meson bazel swift jest vitest corepack uvx black mypy isort ruff nox mongosh vim vi emacs nano cursor zed claude codex grok gemini dotnet elixir ghc stack cabal ocaml dune julia R Rscript " +
			"lldb valgrind perf pandoc protoc buf ansible ansible-playbook vagrant packer pre-commit just task rake golangci-lint staticcheck gopls clangd rust-analyzer wasm-pack dart flutter zig nim crystal hugo jekyll " +
			"ld as gcov llvm-config",
		why:   "run what a file or an option says; only asked for their version they read",
		reads: "cmake --version", changes: "ninja",
	},
	{
		name: "make", judge: judgeTool, own: true, version: "-v",
		programs: "make gmake gradle mvn tsc eslint prettier webpack vite bunx npx bun deno nvim code gdb nginx",
		why:      "run what a file or an option says; only asked for their version they read",
		reads:    "make -v", changes: "make",
	},
	{
		name: "java", judge: judgeTool, version: "-version,-V",
		programs: "java javac kotlin kotlinc scala ant xcodebuild ffmpeg convert magick",
		why:      "run what a file or an option says; only asked for their version they read",
		reads:    "java -version", changes: "java -jar a.jar",
	},
	{
		name: "sql", programs: "psql mysql mariadb", check: sqlReads,
		why:   "print what a plain query finds",
		reads: "psql -c 'select 1'", changes: "psql -c 'drop table t'",
	},
	{
		name: "list-only", programs: "ssh-add crontab atq", judge: judgeTool,
		version: "-l,-L",
		why:     "print a list with -l",
		reads:   "crontab -l", changes: "crontab f",
	},
	{
		name: "tmux", programs: "tmux screen", judge: judgeTool,
		version: "ls,list-sessions,-ls,-list",
		why:     "list sessions",
		reads:   "tmux ls", changes: "tmux kill-server",
	},
	{
		name: "ssh", programs: "ssh", judge: judgeTool, version: "-V",
		why:   "runs commands elsewhere",
		reads: "ssh -V", changes: "ssh host ls",
	},
	{
		name: "ssh-keygen", programs: "ssh-keygen", check: sshKeygenReads,
		why:   "prints fingerprints with -l, and public keys with -y",
		reads: "ssh-keygen -lf key.pub", changes: "ssh-keygen -t ed25519 -f key",
	},
	{
		name: "gpg", programs: "gpg gpg2", check: gpgReads,
		why:   "lists keys, and verifies signatures",
		reads: "gpg --list-keys", changes: "gpg -o a.gpg -c a",
	},
}

// judgeTool accepts the commands that a rule lists, and a question for the
// version.
func judgeTool(j *judge, c *call) {
	version := oneOf(c, strings.Split(c.rule.version, ",")...) || versionOnly(c)
	if !(version && (!c.rule.own || j.ownGit())) && !c.rule.readsOnly(j, c) {
		j.changes(c.src)
	}
}

// readsOnly reports whether the command is one of the readers. Only known
// options may stand before it, since one that takes a value would make the
// reader's name its value.
func (r *rule) readsOnly(j *judge, c *call) bool {
	rest := c.args
	if len(rest) == 0 || !strings.Contains(","+r.commands, ","+rest[0].text) || !strings.HasPrefix(rest[0].text, "-") {
		var ok bool
		if rest, ok = c.leading(r.flags, r.value, r.long, ignore); !ok {
			return false
		}
	}
	if r.own && !j.ownGit() {
		return false
	}
	if len(rest) == 0 {
		return strings.HasPrefix(r.commands, "-,")
	}
	for reader := range strings.SplitSeq(r.commands, ",") {
		reader, alone := strings.CutSuffix(reader, "$")
		words := strings.Split(reader, " ")
		if reader == "" || !begins(rest, words) {
			continue
		}
		after := call{args: rest[len(words):]}
		if c.name == "gh" || c.name == "glab" {
			after.args = withoutGet(after.args)
		}
		operands, ok := after.options("", func(option string, _ word) bool {
			return !listed(r.deny, option) && !((c.name == "gh" || c.name == "glab") && (option == "X" || option == "method"))
		})
		if ok && !(alone && count(operands) != 0) {
			return true
		}
	}
	return false
}

// withoutGet leaves out the option that says what a request does without.
func withoutGet(args []word) []word {
	for i, w := range args {
		switch {
		case (w.text == "-X" || w.text == "--method") && i+1 < len(args) && args[i+1].known && (args[i+1].text == "GET" || args[i+1].text == "HEAD"):
			return append(append([]word(nil), args[:i]...), args[i+2:]...)
		case w.text == "-XGET" || w.text == "--method=GET":
			return append(append([]word(nil), args[:i]...), args[i+1:]...)
		}
	}
	return args
}

func begins(args []word, words []string) bool {
	if len(args) < len(words) {
		return false
	}
	for i, text := range words {
		if !args[i].known || args[i].text != text {
			return false
		}
	}
	return true
}

// cargoReads: without --locked or --frozen, cargo may write Cargo.lock.
func cargoReads(j *judge, c *call) bool {
	if len(c.args) == 0 || oneOf(c, "-V") {
		return true
	}
	locked := false
	for _, w := range c.args {
		if w.open || !w.known && strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "--config") || strings.HasPrefix(w.text, "-Z") || strings.HasPrefix(w.text, "-C") {
			return false
		}
		locked = locked || w.text == "--locked" || w.text == "--frozen"
	}
	switch first := c.args[0]; {
	case !first.known:
		return false
	case allowed("version search help info", first.text):
		return true
	case allowed("locate-project read-manifest", first.text):
		return j.ownGit()
	case allowed("tree metadata pkgid", first.text):
		return locked && j.ownGit()
	}
	return false
}

func rustReads(_ *judge, c *call) bool {
	if oneOf(c, "-V", "-vV", "-v") {
		return true
	}
	check := false
	for _, w := range c.args {
		check = check || w.text == "--check"
		if w.open || strings.HasPrefix(w.text, "-") && !allowed("--check -l --edition=2021 --edition=2024 --edition=2018", w.text) {
			return false
		}
	}
	return check && c.name == "rustfmt"
}

// awsReads: the commands of a service are called after what they do, and only
// some of those that get something take a file to write it to.
func awsReads(_ *judge, c *call) bool {
	if len(c.args) < 2 || !c.args[0].known || !c.args[1].known || strings.HasPrefix(c.args[0].text, "-") {
		return len(c.args) == 1 && c.args[0].text == "help"
	}
	rest := call{args: c.args[2:]}
	_, ok := rest.options("", func(option string, _ word) bool {
		return !listed("cli-input-json cli-input-yaml debug endpoint-url", option)
	})
	service, verb := c.args[0].text, c.args[1].text
	return ok && (strings.HasPrefix(verb, "describe-") || strings.HasPrefix(verb, "list-") ||
		service == "sts" && verb == "get-caller-identity" || service == "s3" && verb == "ls" || service == "configure" && (verb == "list" || verb == "get"))
}

// pnpmReads: yarn runs the file that a folder's settings name, and pnpm may
// fetch another version of itself.
func pnpmReads(j *judge, c *call) bool {
	if !j.ownGit() {
		return false
	}
	if versionOnly(c) || oneOf(c, "-v") {
		return true
	}
	if c.name != "pnpm" || len(c.args) == 0 || !c.args[0].known || !allowed("list ls ll why outdated view info licenses root bin", c.args[0].text) {
		return false
	}
	_, ok := c.options("", func(option string, _ word) bool {
		return allowed("json long parseable depth prod dev r recursive g global P D", option)
	})
	return ok
}

func formatterReads(_ *judge, c *call) bool {
	for _, w := range c.args {
		option, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		if w.open || strings.HasPrefix(w.text, "-") && (!w.known || option == "w" || option == "write" || option == "apply-ignore") {
			return false
		}
	}
	return true
}

func parseOnly(_ *judge, c *call) bool {
	if oneOf(c, "-v") {
		return true
	}
	option := "-l"
	if c.name == "luac" {
		option = "-p"
	}
	return len(c.args) == 2 && c.args[0].known && c.args[0].text == option && c.args[1].known && !strings.HasPrefix(c.args[1].text, "-")
}

func sshKeygenReads(_ *judge, c *call) bool {
	prints := false
	operands, ok := c.options("fEF", func(option string, _ word) bool {
		prints = prints || option == "l" || option == "y" || option == "F"
		return allowed("l y f E F v", option)
	})
	return ok && prints && count(operands) == 0
}

func gpgReads(_ *judge, c *call) bool {
	lists := false
	_, ok := c.options("", func(option string, _ word) bool {
		action := allowed("k K list-keys list-secret-keys list-public-keys list-sigs fingerprint show-keys verify", option)
		lists = lists || action
		return action || allowed("with-colons with-fingerprint keyid-format batch no-tty with-subkey-fingerprint", option)
	})
	return ok && lists
}
