package engine

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
)

// sshNamespace keeps a signature for satelle from serving anything else.
const sshNamespace = "satelle"

// person is [Engine.signed] for verbs that wait until a list of approvers that
// lies in the repository has been trusted: before, nobody could sign, and the
// verdict would lack what the list asks for.
func (e *Engine) person(ctx context.Context, verb string, parts ...string) (ledger.Actor, error) {
	content, err := e.approvers()
	if err != nil {
		return ledger.Actor{}, err
	}
	err = e.View(ctx, func(st workflow.State, _ Lookup) error {
		if _, _, set := st.Approvers(); !set && st.NewApprovers(content) != "" {
			return fault.Try(fault.New(fault.Refused, "%s needs the signature of an approver, and nobody has trusted .satelle/approvers on this machine yet", verb),
				"satelle trust")
		}
		return nil
	})
	if err != nil {
		return ledger.Actor{}, err
	}
	return e.signed(ctx, verb, parts...)
}

// approvers reads the list that lies in the repository; a missing one is empty.
func (e *Engine) approvers() ([]byte, error) {
	content, err := readBounded(filepath.Join(e.sub.dir, "approvers"), maxConfig)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return content, err
}

// signed returns the actor of a verb that only a person may use. Where
// approvers are trusted, a person signs a [statement] of what is done. An
// agent's session gets its own actor back, which the rules then refuse.
func (e *Engine) signed(ctx context.Context, verb string, parts ...string) (ledger.Actor, error) {
	actor := e.Actor(ctx)
	if actor.Kind != ledger.ActorPerson {
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
	text, err := statement(verb, origin, parts)
	if err != nil {
		return actor, err
	}
	sig, err := sshsig.Sign(bytes.NewReader(text), signer, sshsig.HashSHA512, sshNamespace)
	if err != nil {
		return actor, fault.Wrap(err, fault.Refused, "signing with the ssh key of %s", name)
	}
	if err := sshsig.Verify(bytes.NewReader(text), sig, signer.PublicKey(), sshsig.HashSHA512, sshNamespace); err != nil {
		return actor, fault.Wrap(err, fault.Refused, "checking the ssh signature of %s", name)
	}
	actor.Auth, actor.Name = ledger.AuthSSH, name
	actor.Key, actor.Sig = ssh.FingerprintSHA256(signer.PublicKey()), string(sshsig.Armor(sig))
	return actor, nil
}

// statement is what a person signs: the verb, the log and what is decided, a
// line each. Each part stands in the record that bears the signature, so the
// statement can be rebuilt from the record and the log's origin alone:
//
//	approve     story, to, accept or reject, tree, edits, after
//	restamp     story, plan.lane, after
//	trust       the digest of each record that bears this signature, in order
//	halt        why
//	resume      nothing
//	redact      blob.digest, reason
//	rotate-key  nothing
//
// The position `after` binds a verdict to one point in the story's life.
func statement(verb, origin string, parts []string) ([]byte, error) {
	lines := append([]string{"satelle " + verb, origin}, parts...)
	for _, l := range lines {
		if strings.ContainsAny(l, "\r\n") {
			return nil, fault.New(fault.Usage, "what is signed is put into lines, and %q is more than one", l)
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

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
			list, is := strings.CutPrefix(o, "namespaces=")
			if !is || !slices.Contains(strings.Split(strings.Trim(list, `"`), ","), sshNamespace) {
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
