package shell

import "strings"

// machine are the programs that print, or set, the state of the machine.
var machine = []rule{
	{
		name: "systemctl", programs: "systemctl", judge: judgeTool,
		flags: "la", long: "no-pager user all full plain system", deny: "H host M machine root image",
		commands: "status,show,cat,help,list-units,list-unit-files,list-timers,list-sockets,list-dependencies,list-jobs,is-active,is-enabled,is-failed,is-system-running,get-default,show-environment",
		why:      "prints the state of services",
		reads:    "systemctl status x", changes: "systemctl stop x",
	},
	{
		name: "journalctl", programs: "journalctl", judge: judgeJournal,
		why:   "prints the log; some of its options rotate, trim or mark it",
		reads: "journalctl -n 5", changes: "journalctl --rotate",
	},
	{
		name: "systemd", programs: "hostnamectl timedatectl localectl loginctl resolvectl networkctl systemd-analyze", judge: judgeTool,
		flags: "", long: "no-pager", deny: "H host M machine root image",
		commands: "-,status$,show$,list,list-sessions,list-users,list-timezones,list-locales,session-status,user-status,query,statistics$,blame,critical-chain,time$,timesync-status",
		why:      "print settings of the machine",
		reads:    "timedatectl status", changes: "hostnamectl set-hostname x",
	},
	{
		name: "ip", programs: "ip", check: ipReads,
		why:   "prints addresses, links and routes; its other commands set them, or run a program",
		reads: "ip -br addr show", changes: "ip link set eth0 down",
	},
	{
		name: "socket", programs: "ss", deny: "K kill D diag F filter",
		why:   "prints sockets; -K closes them, -D writes a file",
		reads: "ss -tlnp", changes: "ss -K dst x",
	},
	{
		name: "lsof", programs: "lsof", deny: "D",
		why:   "prints open files; -D writes a cache",
		reads: "lsof -i :8080", changes: "lsof -Db",
	},
	{
		name: "interface", programs: "ifconfig", max: 1,
		why:   "prints interfaces; a second operand sets one",
		reads: "ifconfig -a", changes: "ifconfig eth0 down",
	},
	{
		name: "dmesg", programs: "dmesg", deny: "C clear c read-clear D console-off E console-on n console-level",
		why:   "prints the kernel's messages; -C clears them",
		reads: "dmesg -T", changes: "dmesg -C",
	},
	{
		name: "sysctl", programs: "sysctl", check: sysctlReads,
		why:   "prints settings of the kernel; an assignment or a file sets them",
		reads: "sysctl -n kern.ostype", changes: "sysctl -w a=1",
	},
	{
		name: "mount", programs: "mount swapon losetup", check: noOperands,
		why:   "print a list when nothing is asked of them",
		reads: "mount -l", changes: "mount /dev/sda /mnt",
	},
	{
		name: "arch", programs: "arch", max: -1,
		why:   "prints the kind of machine; on a Mac it runs its operand",
		reads: "arch", changes: "arch -arm64 rm a",
	},
	{
		name: "stty", programs: "stty", check: func(_ *judge, c *call) bool { return len(c.args) == 0 || oneOf(c, "-a", "-g", "size", "speed") },
		why:   "prints the settings of a terminal",
		reads: "stty size", changes: "stty -echo",
	},
	{
		name: "kill", programs: "kill", check: func(_ *judge, c *call) bool {
			return len(c.args) > 0 && c.args[0].known && allowed("-l -L -0", c.args[0].text)
		},
		why:   "lists signals, or with -0 tells whether a process is there",
		reads: "kill -l", changes: "kill 1",
	},
	{
		name: "ldd", programs: "ldd", check: lddReads,
		why:   "prints the libraries of a program of the system; one of an agent's could run",
		reads: "ldd /bin/ls", changes: "ldd ./a.out",
	},
	{
		name: "nc", programs: "nc ncat netcat", check: ncReads,
		why:   "with -z it only tells whether a port is open",
		reads: "nc -zv localhost 80", changes: "nc -l 80",
	},
	{
		name: "mac", programs: "defaults launchctl diskutil plutil scutil networksetup xcode-select sw_vers system_profiler", judge: judgeTool,
		commands: "read,read-type,domains,find,list,print,info,-p,-lint,--dns,--proxy,-listallnetworkservices,-productVersion,-productName,-buildVersion,SPHardwareDataType,SPSoftwareDataType", deny: "o",
		why:   "print settings of a Mac",
		reads: "defaults read com.apple.dock", changes: "defaults write x y z",
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

func ipReads(_ *judge, c *call) bool {
	rest, ok := c.leading("46orsdjphN", "", "brief json pretty oneline details statistics human color br", ignore)
	for ok && len(rest) > 0 && rest[0].known && allowed("-br -brief -json -pretty -4 -6 -o -s -d -c -j", rest[0].text) {
		rest = rest[1:]
	}
	if !ok {
		// ip's options are words after one dash.
		for rest = c.args; len(rest) > 0 && rest[0].known && allowed("-br -brief -json -pretty -4 -6 -o -s -d -c -j -h -p -oneline -details -stats", rest[0].text); rest = rest[1:] {
		}
	}
	if len(rest) == 0 || !rest[0].known || !allowed("a addr address l link r route n neigh neighbor rule maddr", rest[0].text) {
		return oneOf(c, "-V", "-Version")
	}
	return len(rest) == 1 || rest[1].known && allowed("show list ls get s", rest[1].text)
}

func sysctlReads(_ *judge, c *call) bool {
	for _, w := range c.args {
		if w.open || strings.Contains(w.text, "=") || strings.HasPrefix(w.text, "-") && strings.Trim(w.text[1:], "anNeqdAX") != "" {
			return false
		}
	}
	return len(c.args) > 0
}

func noOperands(_ *judge, c *call) bool {
	return len(c.args) == 0 || oneOf(c, "-l", "--show", "-s", "-a", "--list") && !(c.name == "mount" && c.args[0].text == "-a") && !(c.name == "swapon" && c.args[0].text == "-a")
}

func lddReads(_ *judge, c *call) bool {
	for _, w := range c.args {
		if !w.known || !standard(w.text) {
			return false
		}
	}
	return len(c.args) > 0
}

func ncReads(_ *judge, c *call) bool {
	scans := false
	_, ok := c.options("wpsi", func(option string, _ word) bool {
		scans = scans || option == "z"
		return allowed("z v w n u 4 6", option)
	})
	return ok && scans
}
