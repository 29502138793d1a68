package decide

import (
	"os"
	"strings"
	"time"

	"satelle/hooks/dialect"
	"satelle/internal/place"
)

// Codex runs commands in a sandbox in which satelle's folder can't be written,
// and the hook outside of it. So the hook carries out what a command asks of
// satelle, as far as an agent may ask it, and lets the command print what
// satelle said. docs/decisions/carried-verbs.md tells what holds and why.

// carryTime bounds how long a verb is waited for. The hook's entry in Codex's
// settings grants 60 seconds.
const carryTime = 45 * time.Second

// carry carries out a call of satelle that its sandbox would stop, and returns
// the answer by which the command prints the outcome; nothing where the
// command is to run as it is.
func (w *world) carry(c dialect.Call, act Act) []byte {
	if c.Harness != dialect.Codex || c.Event != dialect.PreTool || act.Kind != Command || w.holds == nil || canary(c) {
		return nil
	}
	calls := act.Effect.Satelle
	if len(calls) != 1 || !calls[0].Direct || calls[0].Guess || !w.installed(calls[0].Program) {
		return nil
	}
	call, ok := plainCall(act.What, w.dir)
	if !ok || call.words[0] != calls[0].Program {
		return nil
	}
	args, ok := carried(call.words[1:], call.dir)
	if !ok {
		return nil
	}
	box, ok := w.sandboxOf(c)
	if !ok {
		return nil
	}
	tree, ok := w.carryTree(box, call.dir)
	if !ok || w.registers == nil || w.registers(w.home, c.Session, string(c.Harness)) != nil {
		return nil // satelle could take the agent for a person
	}
	if !w.holds() {
		return nil // it is too late, and answered
	}
	said, ok := carryOut(w.home+"/bin/satelle", args, tree, box.confinement(), carryTime)
	if !ok {
		return nil
	}
	said.merged = call.merged
	return dialect.Rewrite(said.print(args))
}

// carryTree is the work tree in whose root satelle is started for a command
// that runs in dir. It must be one that a person registered, and nothing of
// what satelle and git trust there may be writable from within the sandbox.
func (w *world) carryTree(box sandbox, dir string) (string, bool) {
	real, err := place.Resolve(dir)
	if err != nil {
		return "", false
	}
	p, err := place.Find(w.home, real)
	if err != nil || !p.Registered || p.Root == "" || p.WorkTree == "" {
		return "", false
	}
	for _, kept := range [...]string{w.home, p.Dir, w.home + "/bin/satelle", p.CommonDir, p.WorkTree + "/.git"} {
		if box.steers(kept) {
			return "", false
		}
	}
	return p.WorkTree, true
}

// carriedVerbs are the verbs that are carried out: those that an agent needs
// and that open the ledger, which takes a lock that is written. None of them
// writes a file of the caller's choice.
const carriedVerbs = "status,appeal," +
	"story start,story create,story edit,story set,story wait,story join,story adopt,story attach,story comment," +
	"story list,story get,story route,story diff,story cost,story docs,story doc," +
	"ledger list,ledger show,ledger stats,ledger verify,ledger checkpoint,ledger prove,ledger export,workflow show"

// Options that they may bear. Those in the second list are followed by a value.
const (
	carriedFlags  = "--json --next --dry-run --detach --all --full"
	carriedValues = "--title --body --ac --category --tag --path --priority --due --project --assignee --parent --status --name --type --file --kind " +
		"--story --since --until --limit"
)

// carried returns the arguments with which a call is carried out from the root
// of the work tree: files that it reads are named by their full path. A call
// that reads its input is not carried out, since it has none here.
func carried(args []string, dir string) ([]string, bool) {
	verb := verbIn(carriedVerbs, args)
	words := strings.Split(verb, " ")
	if verb == "" || len(args) < len(words) {
		return nil, false
	}
	for i, word := range words {
		if args[i] != word {
			return nil, false // an option stands before the verb
		}
	}
	all := append([]string(nil), words...)
	input := verb == "story attach" // unless a file is named
	for i := len(words); i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || listed(carriedFlags, arg) {
			all = append(all, arg)
			continue
		}
		name, value, joined := strings.Cut(arg, "=")
		if !listed(carriedValues, name) {
			return nil, false
		}
		if !joined {
			if i++; i == len(args) {
				return nil, false
			}
			value = args[i]
		}
		switch {
		case name == "--file":
			input = value == "-" || value == ""
			value = absolute(dir, value)
		case name == "--body" && value == "-":
			return nil, false
		case name == "--body" && strings.HasPrefix(value, "@"):
			value = "@" + absolute(dir, value[1:])
		}
		all = append(all, name+"="+value)
	}
	return all, !input
}

// outcome is what a program said and how it ended.
type outcome struct {
	stdout, stderr []byte
	code           int
	merged         bool // standard error goes where standard output does
}

// carryOut runs satelle with nothing on its input, in a group of its own. One
// that takes too long is ended, which loses nothing: a record is written whole
// or not at all, and a gate is asked by a process that goes on.
func carryOut(program string, args []string, dir string, box place.Confinement, limit time.Duration) (o outcome, ok bool) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return o, false
	}
	defer null.Close()
	out, outEnd, err := os.Pipe()
	if err != nil {
		return o, false
	}
	defer out.Close()
	errs, errsEnd, err := os.Pipe()
	if err != nil {
		outEnd.Close()
		return o, false
	}
	defer errs.Close()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Dir: dir, Env: carryEnv(os.Environ(), box), Files: []*os.File{null, outEnd, errsEnd}, Sys: ownGroup(),
	})
	outEnd.Close()
	errsEnd.Close()
	if err != nil {
		return o, false
	}
	late := time.AfterFunc(limit, func() { killGroup(p.Pid) })
	heard := make(chan []byte, 1)
	go func() { heard <- drain(errs, maxAside) }()
	o.stdout = drain(out, maxPrinted)
	o.stderr = <-heard
	state, err := p.Wait()
	inTime := late.Stop()
	switch {
	case !inTime:
		o.code = 5
		o.stderr = append(o.stderr, "satelle: this takes longer than a command of this session may; nothing is lost\ntry: "+followUp(program, args)+"\n"...)
	case err != nil || state.ExitCode() < 0:
		o.code = 1
		o.stderr = append(o.stderr, "satelle: it ended before it was done\ntry: satelle status\n"...)
	default:
		o.code = state.ExitCode()
	}
	return o, true
}

// carryEnv is the environment of what is carried out. Whatever it starts of
// the repository's stays within the sandbox.
func carryEnv(env []string, box place.Confinement) []string {
	all := make([]string, 0, len(env)+2)
	for _, kv := range env {
		if !strings.HasPrefix(kv, place.ConfineEnv+"=") {
			all = append(all, kv)
		}
	}
	return append(all, "NO_COLOR=1", place.ConfineEnv+"="+box.String())
}

// followUp is the command that tells how a verb went on.
func followUp(program string, args []string) string {
	if len(args) > 2 && (args[1] == "set" || args[1] == "wait") {
		for _, arg := range args[2:] {
			if strings.HasPrefix(arg, "sty_") {
				return shellWord(program) + " story wait " + plain(arg)
			}
		}
	}
	return shellWord(program) + " status"
}

// drain reads to the end and keeps the first bytes, one more than fit, so that
// it shows that there were more.
func drain(from *os.File, most int) []byte {
	var kept []byte
	buf := make([]byte, 8<<10)
	for {
		n, err := from.Read(buf)
		if room := most + 1 - len(kept); room > 0 {
			kept = append(kept, buf[:min(n, room)]...)
		}
		if err != nil || n == 0 {
			return kept
		}
	}
}
