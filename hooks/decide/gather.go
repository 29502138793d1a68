package decide

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"satelle/hooks/shell"
	"satelle/internal/ancestry"
	"satelle/internal/place"
	"satelle/internal/spool"
	"satelle/ledger/seatread"
)

// maxLooks bounds how many words of a call are looked up among the files: as
// many as the longest command that is parsed can hold.
const maxLooks = 16 << 10

// world is what a call is judged against.
type world struct {
	home      string // satelle's folder
	realHome  string
	user      string // the user's home, real, "" if unknown
	temps     []string
	dir       string        // where the session works
	roots     []string      // the folders that the payload says the session was opened on
	started   func() string // where the process of the hook was started
	variable  func(string) string
	ofHomes   []known // once they were asked for
	path      string  // the PATH on which it looks for programs
	login     bool    // the commands of the session look on another one
	exported  func(string) bool
	now       time.Time
	rows      map[string]row
	registers func(home, session, harness string) error
	holds     func() bool
	observes  func(dir string, l *spool.Line) error
	checks    func(program, dir, harness string, limit time.Duration) string
	deadline  time.Duration
	known     place.Place // the place looked at first, where the session works

	finds  func(home string) (ancestry.Worker, bool, error)
	asked  bool // who and worker are found out
	who    Standing
	worker ancestry.Worker
}

type row struct {
	row seatread.Row
	err error
}

var errNoDir = errors.New("the hook input names no absolute working directory")

func newWorld(env Env, dir string) (*world, error) {
	w := &world{
		home:      env.Home,
		temps:     env.Temps,
		dir:       dir,
		path:      env.Path,
		exported:  env.Exported,
		started:   env.Dir,
		variable:  env.Variable,
		now:       env.Now(),
		rows:      map[string]row{},
		registers: env.Register,
		holds:     env.holds,
		observes:  env.Observe,
		checks:    env.Check,
		deadline:  env.Deadline,
		finds:     env.Worker,
	}
	if w.variable == nil {
		w.variable = func(string) string { return "" }
	}
	if env.HomeErr != nil {
		return w, env.HomeErr
	}
	var err error
	if w.realHome, err = place.Resolve(w.home); err != nil {
		return w, err
	}
	if env.User != "" {
		if w.user, err = place.Resolve(env.User); err != nil {
			return w, err
		}
	}
	if !path.IsAbs(dir) {
		return w, errNoDir
	}
	return w, nil
}

// shell is what a command is judged against.
func (w *world) shell() shell.Env {
	looked := map[string]bool{}
	env := shell.Env{
		Dir: w.dir, Home: w.user, Exported: w.exported,
		IsDir: func(p string) bool {
			info, err := os.Stat(p)
			return err == nil && info.IsDir()
		},
		Dashed: func(dir string) bool {
			if _, ok := looked[dir]; !ok {
				looked[dir] = dashed(dir)
			}
			return looked[dir]
		},
		OwnGit: func(dir string) bool {
			p, err := place.Find(w.home, dir)
			return err == nil && p.Governed() && p.WorkTree != ""
		},
	}
	if len(w.temps) > 0 {
		env.Temp = w.temps[0]
	}
	return env
}

// maxNames bounds how much of a folder is looked through.
const maxNames = 4096

// dashed reports whether a name in a folder begins with a dash, or may: not all
// of a large folder is looked at, and nothing is known of one that can't be read.
func dashed(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return true
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) || len(names) == maxNames {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") })
}

// here describes where the session works; who holds the seat only if that
// matters, since it costs a read of the ledger.
func (w *world) here(seat bool) (Spot, error) {
	s, p, real, err := w.where(w.dir, "", false)
	if err == nil && !s.Governed {
		s, p, real, err = w.openedOn(s, p, real)
	}
	if err == nil && s.Governed && seat {
		w.sit(&s, p, real)
		s.Away = s.Away || inner(real, p.WorkTree)
	}
	return s, err
}

// inner reports whether a folder lies in a repository of its own within the work
// tree that governs it: there satelle, as git does, would speak of the inner one.
func inner(real, workTree string) bool {
	for dir := real; workTree != "" && within(dir, workTree) && dir != workTree; dir = path.Dir(dir) {
		if _, err := os.Lstat(dir + "/.git"); err == nil {
			return true
		}
	}
	return false
}

// projects names the variables in which harnesses tell a hook the folder that
// its session was opened on.
const projects = "CLAUDE_PROJECT_DIR GEMINI_PROJECT_DIR CURSOR_PROJECT_DIR GROK_WORKSPACE_ROOT"

// openedOn is the governed place that a session was opened on, for one that
// works in no governed place just now: what it runs elsewhere can still change
// the files there. Without one it is the place that was given.
func (w *world) openedOn(s Spot, p place.Place, real string) (Spot, place.Place, string, error) {
	dirs := slices.Clone(w.roots)
	for _, name := range strings.Fields(projects) {
		dirs = append(dirs, w.variable(name))
	}
	for _, dir := range append(dirs, w.started()) {
		if dir == w.dir || !path.IsAbs(dir) {
			continue
		}
		there, at, root, err := w.where(dir, "", false)
		if err != nil {
			return s, p, real, err
		}
		if there.Governed {
			there.Away = true
			return there, at, root, nil
		}
	}
	return s, p, real, nil
}

// spot finds out all about a path that changes. shown is how a reason names it.
func (w *world) spot(abs, shown string, tree bool) (Spot, error) {
	s, p, real, err := w.where(abs, shown, tree)
	if err != nil {
		return s, err
	}
	if s.Governed {
		w.sit(&s, p, real)
	} else {
		s.Outside = outside(real, w.user, w.temps)
	}
	if shown != "" && s.Protected == "" && (s.Holding == Held || !s.Governed) {
		s.Protected = w.alias(p, real, tree)
	}
	// All of .satelle holds what is a person's, too.
	s.Substrate = s.Protected == substrate && (!tree || strings.Contains(strings.ToLower(real), "/.satelle/"))
	return s, nil
}

// where finds the place that a path lies in.
func (w *world) where(abs, shown string, tree bool) (s Spot, p place.Place, real string, err error) {
	s = Spot{Path: shown, InScope: true}
	if real, err = place.Resolve(abs); err != nil {
		return s, p, real, err
	}
	if p, err = place.Above(w.home, real, w.known); err != nil {
		return s, p, real, err
	}
	if w.known == (place.Place{}) {
		w.known = p
	}
	if s.Governed = p.Governed(); s.Governed {
		if s.Tree = p.WorkTree; s.Tree == "" {
			s.Tree = p.Root
		}
		if s.TreeID = p.TreeID; p.Registered {
			s.Dir = p.Dir
		}
	}
	if shown != "" {
		s.Protected = w.protect(abs, real, tree)
	}
	return s, p, real, nil
}

// sit finds out who holds the seat of a governed place.
func (w *world) sit(s *Spot, p place.Place, real string) {
	s.NoRoot = p.Root == ""
	if s.NoLedger = !p.Registered; s.NoLedger {
		top := p.WorkTree
		if top == "" {
			top = p.Root
		}
		around, err := place.Find(w.home, path.Dir(top))
		s.Nested = err != nil || around.Governed()
		return
	}
	if s.Row, s.RowErr = w.row(p.LedgerPath()); s.RowErr != nil {
		return
	}
	s.Seat, s.Holding = w.seat(p, s.Row)
	if s.Holding == Held && s.Path != "" {
		s.InScope = inScope(s.Seat.Paths, strings.TrimPrefix(strings.TrimPrefix(real, p.WorkTree), "/"))
	}
}

// row reads a ledger's row, once a call. A ledger in which nothing has been
// started has none yet.
func (w *world) row(ledger string) (seatread.Row, error) {
	r, ok := w.rows[ledger]
	if !ok {
		r.row, r.err = seatread.Read(ledger)
		if errors.Is(r.err, seatread.ErrNoRow) {
			r.err = nil
		}
		w.rows[ledger] = r
	}
	return r.row, r.err
}

// seat finds who holds the seat of a work tree. One without an entry of its
// own that a harness created inherits the seat of the tree it came from.
func (w *world) seat(p place.Place, r seatread.Row) (seatread.Seat, Holding) {
	if w.standing() != NoWorker {
		return w.lent(p, r)
	}
	s, ok := r.Seats[p.TreeID]
	if !ok {
		if s, ok = w.inherited(p, r); !ok {
			return s, Free
		}
	}
	switch {
	case s.Worker != "":
		return s, Lent
	case s.Suspended || s.IdleAt != 0 && w.now.Unix() >= s.IdleAt:
		return s, Suspended
	}
	return s, Held
}

func (w *world) inherited(p place.Place, r seatread.Row) (seatread.Seat, bool) {
	folder, ok := parentTree(p.WorkTree)
	if p.TreeID == "." || !ok {
		return seatread.Seat{}, false
	}
	parent := "."
	if folder != w.user {
		around, err := place.Find(w.home, folder)
		if err != nil || around.CommonDir != p.CommonDir {
			return seatread.Seat{}, false
		}
		parent = around.TreeID
	}
	s, ok := r.Seats[parent]
	return s, ok
}

// gather finds out what a call to a tool rests on.
func (w *world) gather(act Act, here Spot, err error) (f Facts) {
	f = Facts{Act: act, Here: here, Err: err}
	defer func() {
		if f.Act.changes() {
			f.Who = w.standing()
		}
	}()
	f.Secret = w.secret(act)
	if act.Kind == Command || act.Kind == Strange {
		if f.Here.Governed {
			var changes bool
			f.Verb, f.Foreign, changes = judgeVerbs(act.Effect.Satelle, w.installed, !f.Here.NoLedger || f.Here.Nested)
			if changes {
				f.Act.Effect.Changes, f.Act.Effect.Known = true, false
			}
		}
		for _, t := range act.Effect.Targets {
			w.target(&f, t.Path, t.Path, t.Tree)
		}
	}
	for _, file := range act.Effect.Copies {
		if info, err := os.Lstat(absolute(w.dir, file)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			w.linked(&f, file)
		}
	}
	for _, link := range act.Effect.Links {
		w.linked(&f, link)
	}
	for _, p := range act.Paths {
		for _, abs := range w.spellings(p) {
			w.target(&f, abs, p, act.Kind != Edits)
		}
	}
	if f.Act.changes() {
		w.words(&f)
	}
	for _, p := range act.Maybe {
		for _, abs := range w.spellings(p) {
			if what := w.lookUp(&f, shell.Word{Text: abs}); what != "" && !f.opens(what) && f.Mentioned == "" {
				f.Mentioned = what
			}
		}
	}
	return f
}

func (w *world) target(f *Facts, abs, shown string, tree bool) {
	s, err := w.spot(abs, shown, tree)
	if err != nil && f.Err == nil {
		f.Err = err
	}
	f.Targets = append(f.Targets, s)
}

// linked adds what a link is made to. Whoever writes by it later, with nobody
// looking where it leads by then, changes what is there.
func (w *world) linked(f *Facts, to string) {
	s, err := w.spot(to, to, true)
	if err != nil && f.Err == nil {
		f.Err = err
	}
	if s.Governed || s.Protected != "" {
		s.InScope = true // a change by the link is held to the scopes
		f.Targets = append(f.Targets, s)
	}
}

// spellings returns the absolute paths that a tool's path may stand for: some
// tools expand a tilde, cut off blanks, or take a URL.
func (w *world) spellings(p string) []string {
	all := []string{absolute(w.dir, p)}
	if bare := strings.TrimSpace(p); bare != p {
		p = bare
		all = append(all, absolute(w.dir, p))
	}
	if file, ok := fromURL(p); ok {
		all = append(all, file)
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok && w.user != "" {
		all = append(all, w.user+"/"+rest)
	}
	return all
}

// words looks at the words of what changes files: for protected paths, and,
// where the session works in no governed place, for paths into one.
func (w *world) words(f *Facts) {
	looks := 0
	for _, word := range f.Act.Effect.Words {
		if word.Quiet {
			continue
		}
		what := mentioned(w.outOfCopy(word.Text), word.Glob)
		if what == substrate && w.own(word) {
			what = ownFolder
		}
		for _, part := range parts(word.Text) {
			// A story can open the substrate of its own tree, and no more.
			if looks++; (what == "" || what == substrate) && looks <= maxLooks {
				if found := w.lookUp(f, shell.Word{Text: part, Dir: word.Dir, Glob: word.Glob}); found != "" {
					what = found
				}
			}
		}
		if what != "" && !f.opens(what) && f.Mentioned == "" {
			f.Mentioned = what
		}
	}
}

// own reports whether a word that speaks of a .satelle may mean satelle's own
// folder, which has that name, too.
func (w *world) own(word shell.Word) bool {
	abs := absolute(word.Dir, word.Text)
	if i := strings.IndexAny(abs, "*?["); i >= 0 {
		abs = abs[:i]
	}
	for _, home := range [...]string{w.home, w.realHome} {
		if within(path.Clean(abs), home) || strings.Contains(word.Text, home) {
			return true
		}
	}
	return strings.Contains(word.Text, "~/.satelle") || strings.Contains(word.Text, "HOME")
}

// opens reports whether the story that sits here opens what is protected.
func (f *Facts) opens(what string) bool {
	return what == substrate && f.Here.Holding == Held && f.Here.Seat.Substrate
}

// lookUp resolves a word as a path.
func (w *world) lookUp(f *Facts, word shell.Word) string {
	abs := absolute(word.Dir, word.Text)
	if !path.IsAbs(abs) || word.Glob || len(abs) > 4096 || strings.ContainsAny(word.Text, "\n\x00") || f.Act.Effect.Opaque {
		return ""
	}
	real, err := place.Resolve(abs)
	if err != nil {
		return protectedName(abs, false)
	}
	if within(real, w.realHome) && !w.inCopy(real) {
		return ownFolder
	}
	if f.Act.beyond() {
		w.reach(f, abs, real)
	}
	abs, real = w.outOfCopy(abs), w.outOfCopy(real)
	if what := protectedName(abs, false); what != "" {
		return what
	}
	if what := protectedName(real, false); what != "" {
		return what
	}
	return w.ownSetting(real, false)
}

// reach adds a path that lies in another governed work tree than the session,
// and so needs the seat of that one. A program there only runs.
func (w *world) reach(f *Facts, abs, real string) {
	if p, err := place.Above(w.home, real, w.known); err != nil || !p.Governed() || p.WorkTree == f.Here.Tree && f.Here.Tree != "" {
		return
	}
	if info, err := os.Stat(real); f.Here.Governed && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return
	}
	if s, err := w.spot(abs, "", false); err == nil && s.Governed && s.Tree != f.Here.Tree {
		f.Targets = append(f.Targets, s)
	}
}

// parts are what of a word may be a path: all of it, an option's or variable's
// value, and in code each absolute path.
func parts(text string) []string {
	all := []string{text}
	if _, value, ok := strings.Cut(text, "="); ok && value != "" && len(value) <= 4096 {
		all = append(all, value)
	}
	if !strings.ContainsAny(text, "'\"(`\n ") {
		return all
	}
	for _, token := range tokens(text, false) {
		if len(token) > 1 && token[0] == '/' {
			all = append(all, token)
		}
	}
	return all
}

func (w *world) installed(program string) bool {
	return installedAs(program, w.home+"/bin/satelle", w.dir, w.path)
}

// program is how a denial calls satelle: by its name where that leads to the
// installed program, else by its full path.
func (w *world) program() string {
	own := w.home + "/bin/satelle"
	if _, err := os.Stat(own); err != nil || !w.login && w.installed("satelle") {
		return "satelle"
	}
	return shellWord(own)
}
