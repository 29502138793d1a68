package shell

import (
	"errors"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Env is what a judgement needs to know of the machine. Its functions may be
// nil, which answers "no".
type Env struct {
	Dir      string                 // the command's working directory, absolute
	Home     string                 // the user's home, "" if unknown
	Temp     string                 // where mktemp creates its files
	Exported func(name string) bool // whether the command inherits this variable
	IsDir    func(path string) bool // whether a folder stands at this absolute path
	Dashed   func(dir string) bool  // whether a name in the folder begins with a dash
	OwnGit   func(dir string) bool  // whether git finds a configuration that an agent can't write, when run in dir

	Readers [][]string // further commands that count as reading, in words
	Tree    string     // the governed work tree in which they do, "" if there is none
}

// Effect is what a command does.
type Effect struct {
	Changes bool     // it changes files, or can't be known not to
	Why     string   // the part of the command that decided, "" if it only reads
	Rule    string   // the rule of [Rules] that decided, "" if it only reads
	Known   bool     // Targets are all that it changes
	Targets []Target // files that it changes, as far as the text names them
	Copies  []string // absolute paths of which it makes copies elsewhere, of links, too
	Links   []string // absolute paths to which it makes links: who writes by them changes what is there

	Words   []Word       // the words that may name files
	Opaque  bool         // it was not parsed: Words is the whole text
	Bypass  string       // how it switches off a guard of git, "" if it does not
	Satelle []Invocation // calls of satelle itself, which change nothing by this judgement
}

// Target is a path that a command changes.
type Target struct {
	Path string // absolute, not resolved
	Tree bool   // with all below it, or by another name
}

// Word is a word of a command, which may be a path, or hold one.
type Word struct {
	Text  string // parts that are known only when it runs are "*"
	Dir   string // the directory it would start from, "" if unknown
	Glob  bool   // the shell may take it for a pattern
	Quiet bool   // it belongs to a part of the command that only reads
}

// Invocation is a call of satelle. Direct tells that the shell itself runs the
// word, as it is written, and that nothing in the text gives it another
// meaning; Guess that an unknown program is given the word, and may run it.
type Invocation struct {
	Program string
	Args    []string // an argument that is known only when it runs is "*"
	Direct  bool
	Guess   bool
}

// Judge tells what a command text does.
func Judge(text string, env Env) Effect {
	text = shortened(text)
	if rule, what := oversized(text); what != "" {
		return opaque(text, env, rule, what)
	}
	file, err := parse(text)
	if err != nil {
		return opaque(text, env, ruleUnparsable, err.Error())
	}
	j := newJudge(text, env, 0)
	j.survey(file)
	j.stmts(file.Stmts)
	return j.done()
}

// Argv tells what a program does that is started without a shell.
func Argv(argv []string, env Env) Effect {
	j := newJudge(strings.Join(argv, " "), env, 0)
	words := make([]word, len(argv))
	for i, arg := range argv {
		words[i] = literal(arg)
	}
	j.run(words, true)
	return j.done()
}

var (
	errParse   = errors.New("it can't be parsed")
	errComment = errors.New("it holds a comment that ends in a backslash")
	errReturn  = errors.New("it holds a carriage return")
)

// parse reads a text as bash does. In two points the parser differs: it takes a
// carriage return for a blank, which to a shell is part of a word; and it goes
// on with a comment after a backslash at the line's end, where every shell runs
// the next line.
func parse(text string) (*syntax.File, error) {
	if strings.Contains(text, "\r") {
		return nil, errReturn
	}
	continued := strings.Contains(text, "\\\n")
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(continued))
	file, err := parser.Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, errParse
	}
	if continued {
		syntax.Walk(file, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok && strings.Contains(text[c.Pos().Offset():min(int(c.End().Offset())+1, len(text))], "\\\n") {
				err = errComment
			}
			return true
		})
	}
	return file, err
}

func opaque(text string, env Env, rule, why string) Effect {
	return Effect{Changes: true, Why: why, Rule: rule, Opaque: true, Words: []Word{{Text: text, Dir: env.Dir}}}
}

// judge is one pass over a command.
type judge struct {
	text string
	env  Env
	eff  Effect
	rule string // that is being applied

	input *word // what a program reads from its standard input, nil if that is not redirected

	unknown bool     // something changes that Targets does not name
	placed  []string // paths at which links come to stand
	dir     string   // the working directory at this point, "" if unknown
	unsure  bool     // dir holds only if the last cd succeeded
	top     bool     // dir is unknown, but lies in the work tree that the text began in
	dirs    []string
	names   map[string]*name
	vars    map[string]word
	funcs   map[string][]*syntax.Stmt
	defined map[string]bool // functions that are sure to be there at this point
	filled  map[string]bool // variables that the survey saw a builtin fill

	steps   *int             // what is left of maxSteps
	quiet   [2]int           // words that are all quiet: from, to
	index   map[string]*rule // of programs, once many are looked up
	finds   int              // programs that were looked up
	cond    int              // inside of something that may not run, or run again
	inner   int              // inside of a substitution
	base    int              // the least that inner is
	calls   int              // inside of functions
	texts   int              // inside of texts that are judged in turn (sh -c)
	state   bool
	exports bool // the text hands variables on to programs
	taint   bool // words may have another meaning from here on
}

func newJudge(text string, env Env, texts int) *judge {
	steps := maxSteps
	return &judge{text: text, env: env, dir: env.Dir, texts: texts, steps: &steps, names: map[string]*name{}, vars: map[string]word{}, defined: map[string]bool{}, filled: map[string]bool{}}
}

func (j *judge) done() Effect {
	if j.eff.Changes && !j.unknown && j.throughPlaced() {
		j.unknown = true
	}
	j.eff.Known = j.eff.Changes && !j.unknown
	if !j.eff.Known && !j.eff.Changes {
		j.eff.Targets = nil
	}
	return j.eff
}

// throughPlaced reports whether the text writes at or below a path at which it
// puts a link itself, or what may be one or hold some: where that leads is not
// to be seen before it runs.
func (j *judge) throughPlaced() bool {
	if len(j.placed) == 0 {
		return false
	}
	placed := map[string]bool{}
	for _, p := range j.placed {
		placed[filepath.Clean(p)] = true
	}
	once := map[string]bool{}
	for _, t := range j.eff.Targets {
		p := filepath.Clean(t.Path)
		if placed[p] && once[p] || strings.Contains(t.Path, "/..") {
			return true
		}
		once[p] = true
		for dir := filepath.Dir(p); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
			if placed[dir] {
				return true
			}
		}
	}
	return false
}

// maxWhy bounds the part of a command that a denial quotes.
const maxWhy = 80

func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxWhy {
		return s
	}
	return strings.ToValidUTF8(s[:maxWhy], "") + "…"
}

// changes records that something changes which the text does not name.
func (j *judge) changes(why string) { j.changesBy(j.rule, why) }

// changesBy does so by another rule than the one that is being applied.
func (j *judge) changesBy(rule, why string) {
	j.unknown = true
	j.mark(rule, why)
}

// writes records that the file at w changes.
func (j *judge) writes(why string, w word, tree bool) {
	path, ok := j.path(w)
	if !ok {
		j.changes(why)
		return
	}
	j.mark(j.rule, why)
	j.eff.Targets = append(j.eff.Targets, Target{Path: path, Tree: tree})
}

func (j *judge) mark(rule, why string) {
	if !j.eff.Changes {
		if why = clip(why); why == "" {
			why = "a word of blanks"
		}
		j.eff.Changes, j.eff.Why, j.eff.Rule = true, why, rule
	}
}

// path is the absolute path that a word names, if it can be known. It is
// joined and not cleaned: ".." after a symbolic link is not for us to resolve.
func (j *judge) path(w word) (string, bool) {
	if !w.known || w.text == "" {
		return "", false
	}
	path := w.text
	if !filepath.IsAbs(path) {
		if j.dir == "" {
			return "", false
		}
		path = j.dir + "/" + path
	}
	// What these lead to differs from process to process.
	if clean := filepath.Clean(path); strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/dev/fd/") {
		return "", false
	}
	return path, true
}

// mention records a word that may name a file.
func (j *judge) mention(w word) {
	if w.text == "" || w.text == "*" || strings.HasPrefix(w.text, "--exclude") || j.eff.Opaque {
		return
	}
	if len(j.eff.Words) >= maxWords {
		j.overrun(ruleTooLong)
		return
	}
	j.eff.Words = append(j.eff.Words, Word{Text: w.text, Dir: j.dir, Glob: !w.known})
}

// src is the text of a node, for the reason of a denial.
func (j *judge) src(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from >= to || to > uint(len(j.text)) {
		return clip(j.text)
	}
	return clip(j.text[from:to])
}
