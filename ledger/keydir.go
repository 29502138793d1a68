package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"satelle/internal/fault"
)

// KeyDir is a [KeyStore] in a folder: one file a key, mode 0600, in a folder of
// mode 0700. A key file that others can read is refused, as ssh does.
type KeyDir string

// file names the key's file after the last part of its name and its hash, so
// that logs and epochs never share one.
func (d KeyDir) file(vkey string) (string, error) {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return "", fmt.Errorf("public key %q: %w", vkey, err)
	}
	name := v.Name()[strings.LastIndexByte(v.Name(), '/')+1:]
	return filepath.Join(string(d), fmt.Sprintf("%s-%08x.key", name, v.KeyHash())), nil
}

// Create implements [KeyStore].
func (d KeyDir) Create(name string) (vkey string, err error) {
	skey, vkey, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return "", err
	}
	path, err := d.file(vkey)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(skey + "\n")
	if err = errors.Join(err, f.Sync(), f.Close(), syncDir(string(d))); err != nil {
		return "", err
	}
	return vkey, nil
}

// Signer implements [KeyStore].
func (d KeyDir) Signer(vkey string) (note.Signer, error) {
	path, err := d.file(vkey)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the key that signs this ledger is missing: %s", path)
	}
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err := fault.New(fault.Refused, "the key %s can be read by others (mode %04o)", path, info.Mode().Perm())
		return nil, fault.Try(err, "chmod 600 "+shellQuote(path))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := note.NewSigner(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	if v, err := note.NewVerifier(vkey); err != nil || v.KeyHash() != s.KeyHash() || v.Name() != s.Name() {
		return nil, fmt.Errorf("key file %s holds another key", path)
	}
	return s, nil
}

// Remove implements [KeyStore].
func (d KeyDir) Remove(vkey string) error {
	path, err := d.file(vkey)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncDir(string(d))
}

// shellQuote makes s one word of a POSIX shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
