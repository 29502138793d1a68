package shell

import "strings"

// packages are the managers of packages.
var packages = []rule{
	{
		name: "pip", programs: "pip pip3", judge: judgeTool,
		commands: "list,show,freeze,check,index versions,config list,config get,config debug,help,inspect,debug,cache dir,cache info,cache list,hash", deny: "log cert cache-dir python",
		why:   "print what is installed",
		reads: "pip list", changes: "pip install x",
	},
	{
		name: "uv", programs: "uv", judge: judgeTool, own: true,
		commands: "pip list,pip show,pip freeze,pip check,pip tree,python list,python find,python dir,tool list,tool dir,cache dir,help", deny: "o output-file config-file cache-dir",
		why:   "prints what is installed",
		reads: "uv pip list", changes: "uv sync",
	},
	{
		name: "poetry", programs: "poetry conda mamba pipx", judge: judgeTool, own: true,
		commands: "show,check,about,env info,env list,config --list,list,info,search,help",
		why:      "print what is installed",
		reads:    "conda list", changes: "poetry add x",
	},
	{
		name: "gem", programs: "gem", judge: judgeTool, own: true, version: "-v",
		commands: "list,info,search,env,environment,which,contents,dependency,outdated,specification,help", deny: "config-file",
		why:   "print what is installed",
		reads: "gem list", changes: "gem install x",
	},
	{
		name: "brew", programs: "brew", judge: judgeTool, version: "-v",
		commands: "list,ls,info,search,config,outdated,deps,uses,leaves,desc,services list,doctor,missing,tap$,casks,formulae",
		why:      "prints what is installed",
		reads:    "brew list", changes: "brew install x",
	},
	{
		name: "apt", programs: "apt", judge: judgeTool,
		commands: "list,show,search,policy,depends,rdepends", deny: "o option c config-file",
		why:   "prints packages",
		reads: "apt list", changes: "apt install x",
	},
	{
		name: "apt-cache", programs: "apt-cache apt-mark", judge: judgeTool,
		commands: "show,search,policy,madison,depends,rdepends,showpkg,pkgnames,stats,showauto,showmanual,showhold", deny: "o option c config-file",
		why:   "print packages",
		reads: "apt-cache policy x", changes: "apt-cache gencaches",
	},
	{
		name: "dpkg", programs: "dpkg dpkg-query dpkg-deb", judge: judgeTool,
		commands: "-l,-L,-s,-S,-p,-W,-c,-I,--list,--listfiles,--status,--search,--print-avail,--show,--contents,--info,--print-architecture,--get-selections",
		deny:     "pre-invoke post-invoke status-logger log admindir instdir root",
		why:      "print packages",
		reads:    "dpkg -l", changes: "dpkg -i x.deb",
	},
	{
		name: "rpm", programs: "rpm", check: rpmReads,
		why:   "prints packages with -q; --pipe and macros run programs",
		reads: "rpm -qa", changes: "rpm -i x.rpm",
	},
	{
		name: "yum", programs: "dnf yum zypper", judge: judgeTool,
		commands: "list,info,search,repolist,provides,repoquery,history list,lr,se,if", deny: "c config installroot setopt downloaddir destdir root R",
		why:   "print packages",
		reads: "dnf list", changes: "dnf install x",
	},
	{
		name: "pacman", programs: "pacman", check: pacmanReads,
		why:   "prints packages with -Q, -Ss and -Si",
		reads: "pacman -Qi bash", changes: "pacman -S x",
	},
	{
		name: "apk", programs: "apk snap flatpak port", judge: judgeTool,
		commands: "info,list,search,policy,find,installed,version$,remotes",
		why:      "print packages",
		reads:    "snap list", changes: "apk add x",
	},
	{
		name: "alternatives", programs: "update-alternatives", judge: judgeTool,
		commands: "--display,--list,--query,--get-selections",
		why:      "prints which program a name stands for",
		reads:    "update-alternatives --display editor", changes: "update-alternatives --auto editor",
	},
}

func rpmReads(_ *judge, c *call) bool {
	if len(c.args) == 0 || !c.args[0].known || !strings.HasPrefix(c.args[0].text, "-q") && c.args[0].text != "--query" {
		return false
	}
	_, ok := c.options("", func(option string, _ word) bool {
		return !listed("pipe eval define undefine load macros rcfile root dbpath rebuilddb initdb import", option) && option != "D" && option != "E" && option != "r"
	})
	return ok
}

func pacmanReads(_ *judge, c *call) bool {
	if len(c.args) == 0 || !c.args[0].known {
		return false
	}
	first := c.args[0].text
	if !strings.HasPrefix(first, "-Q") && !allowed("-Ss -Si -Ssq -Fl -Fx", first) || strings.Contains(first, "y") {
		return false
	}
	for _, w := range c.args[1:] {
		if w.open || strings.HasPrefix(w.text, "-") {
			return false
		}
	}
	return true
}
