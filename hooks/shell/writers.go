package shell

import (
	"path/filepath"
	"strings"
)

// writers are the programs that change files which their operands name. To know
// where they write lets a command pass that stays outside of governed trees,
// and stops one that reaches for a protected file.
var writers = []rule{
	{
		name: "remove", programs: "rm rmdir mkdir touch unlink truncate mkfifo shred", judge: judgeOperands, why: "change the files that they are given",
		reads: "rm --help", changes: "rm -rf docs",
	},
	{
		name: "copy", programs: "cp mv ln install", judge: judgeCopy, why: "change their last operand, mv all of them",
		reads: "cp --version", changes: "cp a b",
	},
	{
		name: "mode", programs: "chmod chown chgrp", judge: judgeMode, why: "change the files after the first operand",
		reads: "chmod --help", changes: "chmod +x a",
	},
}

// operandWriters tells the options apart; an option that is not listed makes
// the operands doubtful.
var operandWriters = [...]struct {
	name, value, options string
	tree                 bool
}{
	{"rm", "", "r R f i I v d recursive force verbose dir", true},
	{"rmdir", "", "v verbose", true},
	{"mkdir", "m", "p v m parents verbose mode", false},
	{"touch", "trd", "a c m h t r d no-create no-dereference", false},
	{"truncate", "sr", "s c no-create size", false},
	{"unlink", "", "", false},
	{"mkfifo", "m", "m", false},
	{"shred", "ns", "u z v f n s", false},
}

func judgeOperands(j *judge, c *call) {
	for _, w := range operandWriters {
		if w.name == c.name {
			operands, ok := c.options(w.value, func(option string, _ word) bool { return allowed(w.options, option) })
			j.writeAll(c, operands, ok && !(c.name == "mkdir" && climbs(operands)), w.tree)
		}
	}
}

func judgeMode(j *judge, c *call) {
	tree := false
	operands, ok := c.options("", func(option string, _ word) bool {
		tree = tree || option == "R" || option == "recursive"
		return allowed("R v f c h recursive verbose silent quiet changes", option)
	})
	// A mode like -w looks like an option and is one that is not listed.
	if len(operands) < 2 {
		j.changes(c.src)
		return
	}
	j.writeAll(c, operands[1:], ok, tree)
}

func judgeCopy(j *judge, c *call) {
	link, symbolic, relative, itself := c.name == "ln", false, false, false
	carries := c.name == "mv" // links as they are
	operands, ok := c.options("tSmog", func(option string, _ word) bool {
		itself = itself || option == "T" || option == "no-target-directory" || option == "n" && c.name == "ln"
		symbolic, relative = symbolic || option == "s" || option == "symbolic", relative || option == "r"
		link = link || c.name == "cp" && (symbolic || option == "l")
		carries = carries || allowed("r R a d P recursive archive", option)
		return allowed("r R a f i n p v d L P H u l s T m D recursive archive force verbose no-clobber update no-target-directory symbolic preserve mode", option)
	})
	n := len(operands)
	if n < 2 || count(operands[n-1:]) < 0 {
		j.changes(c.src)
		return
	}
	to := operands[n-1]
	ok = ok && !(c.name == "install" && climbs(operands[n-1:]))
	if c.name == "mv" {
		j.writeAll(c, operands[:n-1], ok, true)
	}
	path, known := j.path(to)
	into := known && (strings.HasSuffix(to.text, "/") || n > 2 || j.env.IsDir != nil && j.env.IsDir(path))
	if link {
		from := j.dir
		switch {
		case !symbolic || relative || c.name == "cp":
		case !known:
			from = ""
		case into:
			from = path
		default:
			from = above(path)
		}
		all, whole := sources(operands[:n-1], from)
		if itself && known {
			more, _ := sources(operands[:n-1], above(path))
			all = append(all, more...)
		}
		if !whole {
			j.changes(c.src)
		}
		j.eff.Links = append(j.eff.Links, all...)
	} else {
		all, _ := sources(operands[:n-1], j.dir)
		j.eff.Copies = append(j.eff.Copies, all...)
	}
	place := func(w word) {
		if path, known := j.path(w); known && (link || carries) {
			j.placed = append(j.placed, path)
		}
		j.writeAll(c, []word{w}, ok, true)
	}
	if !into || itself { // the last operand may be a link that is replaced
		place(to)
	}
	if !into {
		return
	}
	for _, from := range operands[:n-1] {
		name := from.text[strings.LastIndexByte(strings.TrimRight(from.text, "/"), '/')+1:]
		w := from
		w.text = strings.TrimRight(path, "/") + "/" + name
		place(w)
	}
}

// above is the folder that a path lies in, not resolved.
func above(path string) string {
	path = strings.TrimRight(path, "/")
	return path[:strings.LastIndexByte(path, '/')+1] + "."
}

// climbs reports whether one of the operands goes up again. A program that
// creates folders on its way leaves some behind there.
func climbs(operands []word) bool {
	for _, w := range operands {
		if strings.Contains(strings.TrimLeft(w.text, "./"), "..") {
			return true
		}
	}
	return false
}

// sources are the paths that operands name, from a folder on; whole tells that
// all of them are known.
func sources(operands []word, from string) (all []string, whole bool) {
	whole = true
	for _, w := range operands {
		switch {
		case !w.known || w.text == "" || !filepath.IsAbs(w.text) && from == "":
			whole = false
		case filepath.IsAbs(w.text):
			all = append(all, w.text)
		default:
			all = append(all, from+"/"+w.text)
		}
	}
	return all, whole
}

// writeAll records what changes. Where an option was not understood, that is
// not all.
func (j *judge) writeAll(c *call, operands []word, ok, tree bool) {
	if !ok || len(operands) == 0 {
		j.changes(c.src)
	}
	for _, w := range operands {
		j.writes(c.src, w, tree)
	}
}
