package shell

import "strings"

// tools are developers' programs whose first words say what they do.
var tools = []rule{
	{
		name: "npm", programs: "npm", judge: judgeTool,
		version: "-v", commands: "view,info,show,ls,list,ll,root,prefix,ping,whoami,search,explain,why,help,config get,config list,outdated", deny: "git userconfig globalconfig node-options script-shell cache logs-dir prefix",
		why:   "prints what is installed or published",
		reads: "npm ls", changes: "npm run build",
	},
	{
		name: "docker", programs: "docker podman", judge: judgeTool,
		version: "-v", deny: "o output",
		commands: "ps,images,inspect,logs,version,info,top,port,stats,diff,history,search,events,image ls,image inspect,container ls,container inspect,volume ls,network ls,compose ps,compose logs",
		why:      "print the state of containers",
		reads:    "docker ps", changes: "docker run x",
	},
	{
		name: "kubectl", programs: "kubectl", judge: judgeTool,
		value: "n", long: "namespace= context=", deny: "output-directory cache-dir kubeconfig profile",
		commands: "get,describe,logs,version,explain,api-resources,api-versions,cluster-info,top,events,config view,config current-context,config get-contexts,auth can-i,rollout status,rollout history",
		why:      "prints the state of a cluster",
		reads:    "kubectl get pods", changes: "kubectl apply -f x.yaml",
	},
	{
		name: "gh", programs: "gh", judge: judgeTool,
		value: "R", long: "repo=", deny: "X method f F field raw-field input w web",
		commands: "pr list,pr view,pr status,pr diff,pr checks,issue list,issue view,issue status,repo view,repo list,run list,run view,workflow list,workflow view," +
			"release list,release view,label list,gist list,gist view,search issues,search prs,search code,search repos,search commits,auth status,status,api",
		why:   "prints what a forge knows; api reads without a method or fields",
		reads: "gh pr list --limit 5", changes: "gh pr create",
	},
	{
		name: "go", programs: "go", judge: judgeTool,
		commands: "version,env,doc,help", deny: "w u h",
		why:   "print versions, settings and documentation",
		reads: "go version", changes: "go build",
	},
	{
		name: "pip", programs: "pip pip3", judge: judgeTool,
		commands: "list,show,freeze,check,index versions,config list,help", deny: "log cert cache-dir python",
		why:   "print what is installed",
		reads: "pip list", changes: "pip install x",
	},
	{
		name: "cargo", programs: "cargo", judge: judgeTool,
		commands: "version,search,help",
		why:      "prints versions",
		reads:    "cargo version", changes: "cargo build",
	},
	{
		name: "rustup", programs: "rustup", judge: judgeTool,
		commands: "show,toolchain list,target list,component list,which,help",
		why:      "prints toolchains",
		reads:    "rustup show", changes: "rustup update",
	},
	{
		name: "brew", programs: "brew", judge: judgeTool,
		version: "-v", commands: "list,ls,info,search,config,outdated,deps,uses,leaves,desc,services list",
		why:   "prints what is installed",
		reads: "brew list", changes: "brew install x",
	},
	{
		name: "apt", programs: "apt", judge: judgeTool,
		commands: "list,show,search,policy,depends,rdepends", deny: "o option c config-file",
		why:   "prints packages",
		reads: "apt list", changes: "apt install x",
	},
	{
		name: "apt-cache", programs: "apt-cache", judge: judgeTool,
		commands: "show,search,policy,madison,depends,rdepends,showpkg,pkgnames,stats", deny: "o option c config-file",
		why:   "prints packages",
		reads: "apt-cache policy x", changes: "apt-cache gencaches",
	},
	{
		name: "systemctl", programs: "systemctl", judge: judgeTool,
		flags: "la", long: "no-pager user all full plain", commands: "status,show,cat,help,list-units,list-unit-files,list-timers,list-sockets,is-active,is-enabled,is-failed", deny: "H host M machine",
		why:   "prints the state of services",
		reads: "systemctl status x", changes: "systemctl stop x",
	},
	{
		name: "aws", programs: "aws", judge: judgeTool,
		commands: "sts get-caller-identity,s3 ls,configure list,help", deny: "cli-input-json debug",
		why:   "prints who one is, and buckets",
		reads: "aws sts get-caller-identity", changes: "aws s3 rm s3://x",
	},
	{
		name: "redis-cli", programs: "redis-cli", judge: judgeTool,
		value: "hpnu", commands: "get,mget,keys,ttl,type,exists,info,ping,dbsize,llen,lrange,hget,hgetall,smembers,strlen", deny: "eval rdb functions-rdb pipe",
		why:   "prints values",
		reads: "redis-cli get k", changes: "redis-cli set k v",
	},
	{
		name: "terraform", programs: "terraform", judge: judgeTool,
		version: "-v,-version", commands: "version",
		why:   "prints its version",
		reads: "terraform version", changes: "terraform apply",
	},
	{
		name: "helm", programs: "helm", judge: judgeTool,
		commands: "list,ls,status,version,history,repo list,search repo,get values,get manifest", deny: "output-dir kubeconfig registry-config repository-cache repository-config",
		why:   "prints releases",
		reads: "helm list", changes: "helm upgrade x",
	},
	{
		name: "tool", programs: "make cmake javac deno bun npx rustc java php sqlite3 psql tsc ruff uv", judge: judgeTool,
		version: "-v,-version",
		why:     "run what a file says; only asked for their version they read",
		reads:   "make --version", changes: "make",
	},
	{
		name: "list-only", programs: "ssh-add crontab", judge: judgeTool,
		version: "-l",
		why:     "print a list with -l",
		reads:   "crontab -l", changes: "crontab f",
	},
	{
		name: "tmux", programs: "tmux", judge: judgeTool,
		version: "ls,list-sessions",
		why:     "lists sessions",
		reads:   "tmux ls", changes: "tmux kill-server",
	},
	{
		name: "ssh", programs: "ssh", judge: judgeTool,
		why:   "runs commands elsewhere",
		reads: "ssh -V", changes: "ssh host ls",
	},
	{
		name: "dpkg", programs: "dpkg", judge: judgeTool,
		commands: "-l,-L,-s,-S,-p,--list,--listfiles,--status,--search,--print-avail", deny: "pre-invoke post-invoke status-logger log admindir instdir root",
		why:   "prints packages",
		reads: "dpkg -l", changes: "dpkg -i x.deb",
	},
	{
		name: "journalctl", programs: "journalctl", judge: judgeJournal,
		why:   "prints the log; some of its options rotate, trim or mark it",
		reads: "journalctl -n 5", changes: "journalctl --rotate",
	},
}

func judgeJournal(j *judge, c *call) {
	_, ok := c.options("nupgSUbto", func(option string, _ word) bool {
		return !listed("vacuum-size vacuum-time vacuum-files rotate flush sync relinquish-var smart-relinquish-var setup-keys update-catalog cursor-file", option)
	})
	if !ok {
		j.changes(c.src)
	}
}

func judgeTool(j *judge, c *call) {
	if !versionOnly(c) && !oneOf(c, strings.Split(c.rule.version, ",")...) && !c.rule.readsOnly(c) {
		j.changes(c.src)
	}
}

// readsOnly reports whether the command is one of the readers. Only known
// options may stand before it, since one that takes a value would make the
// reader's name its value.
func (r *rule) readsOnly(c *call) bool {
	rest := c.args
	if c.name != "dpkg" {
		var ok bool
		if rest, ok = c.leading(r.flags, r.value, r.long, ignore); !ok {
			return false
		}
	}
	for _, reader := range strings.Split(r.commands, ",") {
		words := strings.Split(reader, " ")
		if reader == "" || !begins(rest, words) {
			continue
		}
		after := call{args: rest[len(words):]}
		_, ok := after.options("", func(option string, _ word) bool { return !listed(r.deny, option) })
		return ok
	}
	return false
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
