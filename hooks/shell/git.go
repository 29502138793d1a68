package shell

import (
	"slices"
	"strings"
)

// gitDocumented are commands of git itself that no rule lets read. It shows
// their page when they are asked for help; a command of somebody else may run.
const gitDocumented = "commit checkout switch restore reset rebase merge pull push cherry-pick revert am init clone gc repack pack-refs update-index update-ref read-tree write-tree commit-tree " +
	"mktree mktag maintenance filter-branch fetch difftool mergetool bisect submodule worktree stash notes remote reflog"

func judgeGit(j *judge, c *call) {
	dir, top := j.dir, j.top
	defer func() { j.dir, j.top = dir, top }()
	rest, ok := j.gitGlobals(c)
	if len(rest) == 0 {
		if !ok {
			j.changes(c.src)
		}
		return // git alone prints its help
	}
	sub := rest[0]
	if !sub.known {
		j.stranger(j.rule, c)
		return
	}
	j.gitGuards(sub.text, c, len(c.args)-len(rest)+1)
	run := &call{name: sub.text, program: sub, args: rest[1:], src: c.src}
	if ok && (oneOf(run, "-h") || oneOf(run, "--help") && allowed(gitDocumented, run.name)) {
		return
	}
	switch r := lookup("git", sub.text); {
	case !ok || r == nil:
		j.changes(c.src)
	case !j.ownGit():
		j.changesBy(ruleElsewhere, c.src)
	default:
		r.apply(j, run)
	}
}

// gitGlobals reads the options before git's command.
func (j *judge) gitGlobals(c *call) (rest []word, ok bool) {
	ok = true
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		if !strings.HasPrefix(w.text, "-") && !w.open {
			return c.args[i:], ok
		}
		switch w.text {
		case "--no-pager", "-P", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs",
			"--icase-pathspecs", "-p", "--paginate", "--no-lazy-fetch", "--no-advice", "--version", "-v", "--help", "-h", "--exec-path", "--html-path", "--man-path", "--info-path":
		case "-C", "-c":
			if i++; i >= len(c.args) {
				return nil, false
			}
			if w.text == "-C" {
				j.dir, _ = j.path(c.args[i])
				j.top = false
				continue
			}
			ok = j.gitSetting(c.args[i]) && ok
		default:
			// --git-dir, --config-env, --exec-path=…: another configuration,
			// or another git. Its value may follow as a word of its own.
			ok = false
			if strings.HasPrefix(w.text, "--config-env") || strings.HasPrefix(w.text, "--exec-path") {
				j.bypass(w.text)
			}
			if w.open {
				return c.args[i:], false
			}
			switch w.text {
			case "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix", "--list-cmds":
				i++
			}
		}
	}
	return nil, ok
}

// gitShown are settings that change nothing but what is printed.
const gitShown = "diff.noprefix diff.mnemonicprefix diff.context diff.interhunkcontext diff.colormoved diff.wordregex diff.submodule diff.ignoresubmodules diff.relative diff.statgraphwidth " +
	"log.abbrevcommit log.follow log.mailmap column.ui column.branch status.branch status.relativepaths status.showuntrackedfiles status.aheadbehind grep.patterntype grep.extendedregexp " +
	"grep.fullname grep.column tag.sort branch.sort versionsort.suffix i18n.logoutputencoding"

// gitSetting judges the value of -c.
func (j *judge) gitSetting(w word) bool {
	key, value, _ := strings.Cut(w.text, "=")
	key = strings.ToLower(key)
	if guardKey(key) {
		j.bypass(w.text)
		return false
	}
	if allowed(gitShown, key) {
		return w.known
	}
	switch key {
	case "core.quotepath", "core.abbrev", "diff.renames", "diff.algorithm", "log.date", "log.decorate", "status.short", "grep.linenumber", "advice.detachedhead", "core.pager", "pager.log", "core.fsmonitor":
		switch key {
		case "core.pager", "pager.log":
			return w.known && (value == "" || value == "cat" || value == "false")
		case "core.fsmonitor":
			return w.known && (value == "false" || value == "")
		}
		return w.known
	}
	return w.known && strings.HasPrefix(key, "color.")
}

// guardKey reports whether a setting of git decides which hooks run, or hides
// a command behind another word.
func guardKey(key string) bool {
	key = strings.ToLower(key)
	return key == "core.hookspath" || strings.HasPrefix(key, "include.") || strings.HasPrefix(key, "includeif.") ||
		strings.HasPrefix(key, "alias.") || strings.HasPrefix(key, "hook.")
}

// gitGuards finds what switches git's hooks off, whether or not the command
// changes files otherwise, and the message of a commit, which is prose. at is
// the index of the command's first argument.
func (j *judge) gitGuards(sub string, c *call, at int) {
	for i := at; i < len(c.args); i++ {
		text := c.args[i].text
		switch {
		case text == "--":
			return
		case text == "--no-verify-signatures":
		case strings.HasPrefix(text, "--no-v"):
			j.bypass(text)
		case strings.HasPrefix(text, "--"):
			if text == "--message" && i+1 < len(c.args) {
				i++
				c.prose = append(c.prose, i)
			} else if strings.HasPrefix(text, "--message=") {
				c.prose = append(c.prose, i)
			}
		case strings.HasPrefix(text, "-") && (sub == "commit" || sub == "am" || sub == "tag" || sub == "merge" || sub == "stash" || sub == "notes"):
			flags := text[1:]
			if value := strings.IndexAny(flags, "mFcCtSu"); value >= 0 {
				message := flags[value] == 'm'
				if message && value == len(flags)-1 && i+1 < len(c.args) {
					i++
				}
				if message {
					c.prose = append(c.prose, i)
				}
				flags = flags[:value]
			}
			if strings.Contains(flags, "n") && (sub == "commit" || sub == "am") {
				j.bypass(text)
			}
		}
	}
	if sub == "config" && !gitConfig(j, &call{args: c.args[at:]}) {
		for _, w := range c.args[at:] {
			if w.open || guardKey(w.text) || w.text == "-e" || w.text == "--edit" || w.text == "edit" || strings.EqualFold(w.text, "core") {
				j.bypass("git config " + w.text)
			}
		}
	}
}

func gitLsRemote(_ *judge, c *call) bool {
	operands, ok := c.options("o", func(option string, _ word) bool { return !listed("upload-pack exec o server-option", option) })
	for _, w := range operands {
		ok = ok && w.known && !strings.Contains(w.text, "::")
	}
	return ok
}

// gitForEachRepo: without a setting that lists some there are none.
func gitForEachRepo(j *judge, c *call) bool {
	rest, ok := c.leading("", "", "config= keep-going", ignore)
	if !ok || len(rest) == 0 || !rest[0].known {
		return false
	}
	r := lookup("git", rest[0].text)
	if r == nil || r.name == c.rule.name {
		return false
	}
	r.apply(j, &call{name: rest[0].text, program: rest[0], args: rest[1:], src: c.src})
	return true
}

func gitRequestPull(_ *judge, c *call) bool {
	for _, w := range c.args {
		if !w.known || strings.Contains(w.text, "::") || strings.HasPrefix(w.text, "-") && w.text != "-p" {
			return false
		}
	}
	return true
}

// list reports whether options ask for a list, in which operands are patterns.
func (c *call) list(modes, others, value string) bool {
	list := false
	operands, ok := c.options(value, func(option string, _ word) bool {
		list = list || allowed(modes, option)
		return allowed(modes, option) || allowed(others, option)
	})
	return ok && (list || count(operands) == 0)
}

func gitBranch(_ *judge, c *call) bool {
	return c.list("l list contains no-contains merged no-merged points-at show-current",
		"a r v all remotes verbose sort format color no-color column no-column i ignore-case abbrev no-abbrev", "")
}

func gitTag(_ *judge, c *call) bool {
	return c.list("l list contains no-contains merged no-merged points-at n v verify",
		"sort format color no-color column no-column i ignore-case 0 1 2 3 4 5 6 7 8 9", "")
}

func gitConfig(_ *judge, c *call) bool {
	get, other := false, false
	operands, ok := c.options("f", func(option string, _ word) bool {
		get = get || allowed("get get-all get-regexp get-urlmatch get-color get-colorbool l list", option)
		if allowed("get get-all get-regexp get-urlmatch get-color get-colorbool l list show-origin show-scope z null global system local worktree type bool int path name-only includes "+
			"no-includes default f file blob all regexp", option) {
			return true
		}
		other = true
		return false
	})
	if !ok || other {
		return false
	}
	n := count(operands)
	sub := n > 0 && operands[0].known && (operands[0].text == "get" || operands[0].text == "list")
	return get || sub || n >= 0 && n <= 1
}

func gitSymbolicRef(_ *judge, c *call) bool {
	operands, ok := c.options("m", func(option string, _ word) bool { return allowed("q quiet short recurse no-recurse", option) })
	n := count(operands)
	return ok && n >= 0 && n <= 1
}

func gitMergeFile(_ *judge, c *call) bool {
	print := false
	_, ok := c.options("L", func(option string, _ word) bool {
		print = print || option == "p" || option == "stdout"
		return allowed("p stdout L q quiet diff3 zdiff3 ours theirs union", option)
	})
	return ok && print
}

func gitApply(_ *judge, c *call) bool {
	shows := false
	_, ok := c.options("pC", func(option string, _ word) bool {
		shows = shows || allowed("stat numstat summary check", option)
		return allowed("stat numstat summary check p C R reverse v verbose recount z", option)
	})
	return ok && shows
}

func gitFormatPatch(_ *judge, c *call) bool {
	print := false
	_, ok := c.options("v", func(option string, _ word) bool {
		print = print || option == "stdout"
		return allowed("stdout k n N s root no-stat no-signature subject-prefix 0 1 2 3 4 5 6 7 8 9", option)
	})
	return ok && print
}

func gitDryRun(_ *judge, c *call) bool {
	dry := false
	_, ok := c.options("e", func(option string, _ word) bool {
		dry = dry || option == "n" || option == "dry-run"
		return allowed("n dry-run v verbose A all u update f force r recursive cached x X d q quiet k exclude ignore-errors", option) ||
			option == "e" && c.name == "clean" // to add, it opens an editor
	})
	return ok && dry
}

// gitGroup judges a command that has commands of its own.
func gitGroup(j *judge, c *call) bool {
	r := c.rule
	if c.name == "reflog" && len(c.args) == 1 && c.args[0].known && isNumber(c.args[0].text) {
		return true
	}
	if len(c.args) == 0 || c.args[0].known && (c.args[0].text == "-v" || c.args[0].text == "--verbose") && len(c.args) == 1 {
		return strings.HasPrefix(r.commands, "-")
	}
	if !c.args[0].known || strings.HasPrefix(c.args[0].text, "-") || !slices.Contains(strings.Split(r.commands, ","), c.args[0].text) {
		return c.name == "worktree" && c.args[0].known && c.args[0].text == "prune" && gitDryRun(j, &call{name: "prune", args: c.args[1:]})
	}
	rest := call{args: c.args[1:], dashes: true}
	if c.name == "stash" { // it takes a -- away, and log reads what is left
		rest.args = slices.DeleteFunc(slices.Clone(rest.args), func(w word) bool { return w.text == "--" })
	}
	_, ok := rest.options("n", func(option string, _ word) bool { return !listed(r.deny, option) })
	return ok
}

// gitBlame reads options behind a -- as well, as blame does: it takes the --
// away and hands on what is left.
func gitBlame(_ *judge, c *call) bool {
	rest := call{args: slices.DeleteFunc(slices.Clone(c.args), func(w word) bool { return w.text == "--" })}
	_, ok := rest.options("", func(option string, _ word) bool { return !listed(c.rule.deny, option) })
	return ok
}
