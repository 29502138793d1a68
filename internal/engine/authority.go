package engine

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"satelle/internal/ancestry"
	"satelle/internal/fault"
	"satelle/internal/place"
	"satelle/ledger"
)

// homeFile lies in the git common dir, where no agent may write, and names the
// $SATELLE_HOME under which the clone was set up.
const homeFile = "satelle-home"

// homes lists the folders in which the session of a process may be registered:
// the $SATELLE_HOME of this command, the one under $HOME, and the one under
// which the clone was set up. A command does not leave its session by being
// told another folder.
func homes(home, commonDir string) []string {
	out := []string{home}
	if h, err := os.UserHomeDir(); err == nil {
		out = append(out, filepath.Join(h, ".satelle"))
	}
	if h := recordedHome(commonDir); h != "" {
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func recordedHome(commonDir string) string {
	if commonDir == "" {
		return ""
	}
	b, err := readBounded(filepath.Join(commonDir, homeFile), 8<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

// elsewhere returns the $SATELLE_HOME, other than this command's, that has a
// ledger of the clone, or "".
func (e *Engine) elsewhere() string {
	home := recordedHome(e.repo.CommonDir())
	if home == "" || home == e.Home {
		return ""
	}
	if _, err := os.Stat(filepath.Join(home, e.Place.RepoKey, filepath.Base(e.cfg.Path))); err != nil {
		return ""
	}
	return home
}

// recordHome notes under which $SATELLE_HOME the clone is governed. One that is
// noted stands as long as it has a ledger of the clone.
func (e *Engine) recordHome() error {
	if e.elsewhere() != "" || recordedHome(e.repo.CommonDir()) == e.Home {
		return nil
	}
	path := filepath.Join(e.repo.CommonDir(), homeFile)
	return fault.Wrap(writeAtomic(path, []byte(e.Home+"\n"), 0o644), nil, "noting where the clone is governed")
}

// session finds the session that this process belongs to, if any.
func session(homes []string) (s ancestry.Session, found bool, err error) {
	for _, home := range homes {
		if s, found, err = ancestry.Find(home); found || err != nil {
			return s, found, err
		}
	}
	return s, false, nil
}

// Actor says who runs this command. An agent that satelle started, among the
// process's ancestors, makes it that worker's, whatever stands nearer; then a
// registered harness session makes it that session's; otherwise it is a person's.
// If the ancestors cannot be read, nothing shows a person, so it is a session's.
func (e *Engine) Actor(ctx context.Context) ledger.Actor {
	homes := homes(e.Home, e.repo.CommonDir())
	c, worker, err := asking(homes)
	if err == nil && worker {
		return e.workerActor(c)
	}
	var s ancestry.Session
	var found bool
	if err == nil {
		s, found, err = session(homes)
	}
	switch {
	case err != nil:
		return ledger.Actor{Kind: ledger.ActorSession, Host: e.host, Auth: ledger.AuthAsserted}
	case found:
		return ledger.Actor{
			Kind: ledger.ActorSession, Name: s.Harness, Session: s.ID, Harness: s.Harness,
			Host: e.host, Auth: ledger.AuthAncestry,
		}
	}
	return ledger.Actor{Kind: ledger.ActorPerson, Name: e.personName(ctx), Host: e.host, Auth: ledger.AuthAncestry}
}

func (e *Engine) personName(ctx context.Context) string {
	if name, err := e.repo.Config(ctx, "user.email"); err == nil && isName(name) {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}

// maxName bounds what git calls a person, in bytes.
const maxName = 200

func isName(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// self is the actor of what satelle does by itself.
func (e *Engine) self() ledger.Actor {
	return ledger.Actor{Kind: ledger.ActorEngine, Name: "satelle", Host: e.host, Auth: ledger.AuthAsserted}
}

// OnlyPerson refuses a verb in an agent's session, before anything is shown
// or asked.
func (e *Engine) OnlyPerson(verb string) error {
	return onlyPerson(homes(e.Home, e.repo.CommonDir()), verb)
}

// OnlyPerson is [Engine.OnlyPerson] where no repository is opened; dir is where
// the verb would take effect.
func OnlyPerson(home, dir, verb string) error {
	p, err := place.Find(home, dir)
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding what governs %s", dir)
	}
	return onlyPerson(homes(home, p.CommonDir), verb)
}

func onlyPerson(homes []string, verb string) error {
	_, found, err := asking(homes)
	if err == nil && !found {
		_, found, err = session(homes)
	}
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding out who asks")
	}
	if found {
		return fault.New(fault.Refused, "%s is a person's: it can't be done from an agent's session", verb)
	}
	return nil
}
