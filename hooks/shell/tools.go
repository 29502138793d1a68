package shell

import "strings"

// tool is a developer's program whose first words say what it does.
type tool struct {
	name    string
	version string // options beside --version and --help that print and end
	flags   string // allowed short options before the command; those in value take a value
	value   string
	long    string // allowed long ones
	reads   string // commands that only read, separated by commas
	deny    string // options that write nevertheless
}

var tools = [...]tool{
	{name: "npm", version: "-v", reads: "view,info,show,ls,list,ll,root,prefix,ping,whoami,search,explain,why,help,config get,config list,outdated", deny: "git userconfig globalconfig node-options script-shell cache logs-dir prefix"},
	{
		name: "docker podman", version: "-v", deny: "o output",
		reads: "ps,images,inspect,logs,version,info,top,port,stats,diff,history,search,events,image ls,image inspect,container ls,container inspect,volume ls,network ls,compose ps,compose logs",
	},
	{
		name: "kubectl", value: "n", long: "namespace= context=", deny: "output-directory cache-dir kubeconfig profile",
		reads: "get,describe,logs,version,explain,api-resources,api-versions,cluster-info,top,events,config view,config current-context,config get-contexts,auth can-i,rollout status,rollout history",
	},
	{
		name: "gh", value: "R", long: "repo=", deny: "X method f F field raw-field input w web",
		reads: "pr list,pr view,pr status,pr diff,pr checks,issue list,issue view,issue status,repo view,repo list,run list,run view,workflow list,workflow view," +
			"release list,release view,label list,gist list,gist view,search issues,search prs,search code,search repos,search commits,auth status,status,api",
	},
	{name: "go", reads: "version,env,doc,help", deny: "w u h"},
	{name: "pip pip3", reads: "list,show,freeze,check,index versions,config list,help", deny: "log cert cache-dir python"},
	{name: "cargo", reads: "version,search,help"},
	{name: "rustup", reads: "show,toolchain list,target list,component list,which,help"},
	{name: "brew", version: "-v", reads: "list,ls,info,search,config,outdated,deps,uses,leaves,desc,services list"},
	{name: "apt", reads: "list,show,search,policy,depends,rdepends", deny: "o option c config-file"},
	{name: "apt-cache", reads: "show,search,policy,madison,depends,rdepends,showpkg,pkgnames,stats", deny: "o option c config-file"},
	{name: "systemctl", flags: "la", long: "no-pager user all full plain", reads: "status,show,cat,help,list-units,list-unit-files,list-timers,list-sockets,is-active,is-enabled,is-failed", deny: "H host M machine"},
	{name: "aws", reads: "sts get-caller-identity,s3 ls,configure list,help", deny: "cli-input-json debug"},
	{name: "redis-cli", value: "hpnu", reads: "get,mget,keys,ttl,type,exists,info,ping,dbsize,llen,lrange,hget,hgetall,smembers,strlen", deny: "eval rdb functions-rdb pipe"},
	{name: "terraform", version: "-v,-version", reads: "version"},
	{name: "helm", reads: "list,ls,status,version,history,repo list,search repo,get values,get manifest", deny: "output-dir kubeconfig registry-config repository-cache repository-config"},
	{name: "make cmake javac ruby perl deno bun npx rustc java php lua sqlite3 psql tsc ruff uv", version: "-v,-version"},
	{name: "ssh-add crontab", version: "-l"},
	{name: "tmux", version: "ls,list-sessions"},
	{name: "ssh"},
	{name: "dpkg", reads: "-l,-L,-s,-S,-p,--list,--listfiles,--status,--search,--print-avail", deny: "pre-invoke post-invoke status-logger log admindir instdir root"},
}

func judgeTool(j *judge, c *call) {
	if c.name == "journalctl" {
		_, ok := c.options("nupgSUbto", func(option string, _ word) bool {
			return !listed("vacuum-size vacuum-time vacuum-files rotate flush sync relinquish-var smart-relinquish-var setup-keys update-catalog cursor-file", option)
		})
		if !ok {
			j.changes(c.src)
		}
		return
	}
	for i := range tools {
		if t := &tools[i]; allowed(t.name, c.name) {
			if !versionOnly(c) && !oneOf(c, strings.Split(t.version, ",")...) && !t.readsOnly(c) {
				j.changes(c.src)
			}
			return
		}
	}
	j.changes(c.src)
}

// readsOnly reports whether the command is one of the readers. Only known
// options may stand before it, since one that takes a value would make the
// reader's name its value.
func (t *tool) readsOnly(c *call) bool {
	rest := c.args
	if c.name != "dpkg" {
		var ok bool
		if rest, ok = c.leading(t.flags, t.value, t.long, ignore); !ok {
			return false
		}
	}
	for _, reader := range strings.Split(t.reads, ",") {
		words := strings.Split(reader, " ")
		if reader == "" || !begins(rest, words) {
			continue
		}
		after := call{args: rest[len(words):]}
		_, ok := after.options("", func(option string, _ word) bool { return !listed(t.deny, option) })
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
