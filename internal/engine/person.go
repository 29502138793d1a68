package engine

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"satelle/internal/ancestry"
	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// sshNamespace keeps a signature for satelle from serving anything else.
const sshNamespace = "satelle"

// person returns the actor of a verb that only a person may use. Where
// approvers are trusted, a person signs a statement of what is done: the
// verb, the log's origin and the parts. An agent's session gets its own actor
// back, which the rules then refuse.
func (e *Engine) person(ctx context.Context, verb string, parts ...string) (ledger.Actor, error) {
	actor := e.Actor(ctx)
	if actor.Kind != workflow.ActorPerson {
		return actor, nil
	}
	var approvers []byte
	var origin string
	err := e.with(ctx, func(log *ledger.Log) error {
		origin = log.Origin()
		return log.View(func(rows ledger.Rows) (err error) {
			ref, _, ok := workflow.NewState(rows).Approvers()
			if ok {
				approvers, err = log.Blob(ref)
			}
			return err
		})
	})
	if err != nil || approvers == nil {
		return actor, err
	}
	keys, err := parseApprovers(approvers)
	if err != nil {
		return actor, err
	}
	signer, name, err := e.signer(ctx, keys)
	if err != nil {
		return actor, err
	}
	text := statement(verb, origin, parts)
	sig, err := sshsig.Sign(bytes.NewReader(text), signer, sshsig.HashSHA512, sshNamespace)
	if err != nil {
		return actor, fault.Wrap(err, fault.Refused, "signing with the ssh key of %s", name)
	}
	if err := sshsig.Verify(bytes.NewReader(text), sig, signer.PublicKey(), sshsig.HashSHA512, sshNamespace); err != nil {
		return actor, fault.Wrap(err, fault.Refused, "checking the ssh signature of %s", name)
	}
	actor.Auth, actor.Name = workflow.AuthSSH, name
	actor.Key, actor.Sig = ssh.FingerprintSHA256(signer.PublicKey()), string(sshsig.Armor(sig))
	return actor, nil
}

// statement is what a person signs; docs/format.md tells how it is rebuilt
// from a record.
func statement(verb, origin string, parts []string) []byte {
	return []byte("satelle " + verb + "\n" + origin + "\n" + strings.Join(parts, "\n") + "\n")
}

type approver struct {
	name string
	key  ssh.PublicKey
}

// parseApprovers reads an allowed_signers file (ssh-keygen(1)): principals,
// options, key. A line that cannot be read is an error, so that nobody is
// left out in silence.
func parseApprovers(content []byte) ([]approver, error) {
	var out []approver
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fault.New(fault.Refused, ".satelle/approvers: line %d: no key after %q", n, name)
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
		if err != nil {
			return nil, fault.New(fault.Refused, ".satelle/approvers: line %d: no ssh key after %q", n, name)
		}
		for _, o := range options {
			if list, is := strings.CutPrefix(o, "namespaces="); !is || !strings.Contains(list, sshNamespace) {
				return nil, fault.New(fault.Refused, ".satelle/approvers: line %d: the option %q is not supported", n, o)
			}
		}
		out = append(out, approver{name, key})
	}
	return out, nil
}

// signer finds a key of an approver: in the ssh agent, then in git's
// user.signingkey, then among the usual files of ~/.ssh.
func (e *Engine) signer(ctx context.Context, approvers []approver) (ssh.Signer, string, error) {
	nameOf := func(key ssh.PublicKey) (string, bool) {
		for _, a := range approvers {
			if bytes.Equal(a.key.Marshal(), key.Marshal()) {
				return a.name, true
			}
		}
		return "", false
	}
	if socket := os.Getenv("SSH_AUTH_SOCK"); socket != "" {
		if conn, err := net.Dial("unix", socket); err == nil {
			if signers, err := agent.NewClient(conn).Signers(); err == nil {
				for _, s := range signers {
					if name, ok := nameOf(s.PublicKey()); ok {
						return s, name, nil
					}
				}
			}
			conn.Close()
		}
	}
	var files []string
	if f, err := e.repo.Config(ctx, "user.signingkey"); err == nil && f != "" {
		files = append(files, strings.TrimSuffix(f, ".pub"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		for _, f := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			files = append(files, filepath.Join(home, ".ssh", f))
		}
	}
	for _, f := range files {
		b, err := readBounded(f, 64<<10)
		if err != nil {
			continue
		}
		s, err := ssh.ParsePrivateKey(b)
		if err != nil {
			continue // a key with a passphrase is used by way of the agent
		}
		if name, ok := nameOf(s.PublicKey()); ok {
			return s, name, nil
		}
	}
	return nil, "", fault.Try(
		fault.New(fault.Refused, "none of your ssh keys is an approver's: this needs one that .satelle/approvers names, in the ssh agent or as git's user.signingkey"),
		"ssh-add")
}

// Approve records a person's verdict on the next step of a story.
func (e *Engine) Approve(ctx context.Context, id string, accept bool, note string) (workflow.Story, error) {
	s, err := e.Story(ctx, id)
	if err != nil {
		return s, err
	}
	tree, err := e.repo.Tree(ctx)
	if err != nil {
		return s, fault.Wrap(err, nil, "hashing the work tree")
	}
	verdict := workflow.Accept
	if !accept {
		verdict = workflow.Reject
	}
	actor, err := e.person(ctx, "approve", id, s.Next(), verdict, tree)
	if err != nil {
		return s, err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		now, err := st.Story(id)
		if err != nil {
			return workflow.Change{}, err
		}
		if now.Last != s.Last {
			return workflow.Change{}, fault.New(fault.Busy, "story %s changed while it was being approved: look again", id)
		}
		return st.Approve(id, accept, note, tree, actor)
	})
	if err != nil {
		return s, err
	}
	return e.Story(ctx, id)
}

// Untrusted lists what would have to be trusted before it can run.
func (e *Engine) Untrusted(ctx context.Context) ([]workflow.Executable, error) {
	all, err := e.sub.executables()
	if err != nil {
		return nil, err
	}
	var out []workflow.Executable
	err = e.View(ctx, func(st workflow.State, _ Lookup) error {
		out = st.Untrusted(all)
		return nil
	})
	return out, err
}

// Trust records that a person trusts the executables and, if it has changed,
// the list of approvers.
func (e *Engine) Trust(ctx context.Context, executables []workflow.Executable) error {
	approvers, err := readBounded(filepath.Join(e.sub.dir, "approvers"), maxConfig)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if _, err := parseApprovers(approvers); err != nil {
		return err
	}
	parts := []string{workflow.ApproversDigest(approvers)}
	for _, x := range executables {
		parts = append(parts, x.Digest)
	}
	actor, err := e.person(ctx, "trust", parts...)
	if err != nil {
		return err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Trust(executables, approvers, actor)
	})
	return err
}

// Halt denies every edit in every repository of this machine that satelle
// governs, and returns in how many.
func (e *Engine) Halt(ctx context.Context, why string) (int, error) {
	return e.everywhere(ctx, "halt", func(st workflow.State, actor ledger.Actor) (workflow.Change, error) {
		return st.Halt(why, actor)
	}, why)
}

// Resume ends a halt everywhere, and returns in how many repositories.
func (e *Engine) Resume(ctx context.Context) (int, error) {
	return e.everywhere(ctx, "resume", func(st workflow.State, actor ledger.Actor) (workflow.Change, error) {
		return st.Resume(actor)
	})
}

// everywhere decides in each registered repository of the machine, this one
// first. It goes on past one that fails and reports that.
func (e *Engine) everywhere(ctx context.Context, verb string, decide func(workflow.State, ledger.Actor) (workflow.Change, error), parts ...string) (int, error) {
	logs, err := filepath.Glob(filepath.Join(globQuote(e.Home), "*", filepath.Base(e.cfg.Path)))
	if err != nil {
		return 0, fault.Wrap(err, nil, "listing the repositories of this machine")
	}
	n := 0
	var failed error
	for _, path := range append([]string{e.cfg.Path}, logs...) {
		if n > 0 && path == e.cfg.Path {
			continue
		}
		there := *e
		there.cfg.Path = path
		actor, err := there.person(ctx, verb, parts...)
		if err == nil {
			_, err = there.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
				return decide(st, actor)
			})
		}
		if err != nil {
			if n == 0 {
				return 0, err
			}
			failed = firstError(failed, fault.Wrap(err, nil, "%s in %s", verb, filepath.Base(filepath.Dir(path))))
			continue
		}
		n++
	}
	return n, failed
}

// globQuote keeps a path's own special characters out of a pattern.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// OnlyPerson refuses a verb in an agent's session, before anything is shown
// or asked.
func (e *Engine) OnlyPerson(verb string) error {
	return OnlyPerson(e.Home, verb)
}

// OnlyPerson is [Engine.OnlyPerson] where no repository is opened.
func OnlyPerson(home, verb string) error {
	_, session, err := ancestry.Find(home)
	if err != nil {
		return fault.Wrap(err, fault.Refused, "finding out who asks")
	}
	if session {
		return fault.New(fault.Refused, "%s is a person's: it can't be done from an agent's session", verb)
	}
	return nil
}
