package place

import (
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
)

// HomeEnv names the environment variable that moves satelle's machine-wide folder.
const HomeEnv = "SATELLE_HOME"

// HomeDir returns satelle's machine-wide folder: $SATELLE_HOME, else ~/.satelle.
// It is absolute and clean, and need not exist. A relative value is refused,
// since it would name another folder in each working directory.
func HomeDir() (string, error) {
	if dir := os.Getenv(HomeEnv); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", errors.New("$SATELLE_HOME is not an absolute path")
		}
		return filepath.Clean(dir), nil
	}
	home := os.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("neither $SATELLE_HOME nor $HOME names a folder")
	}
	return filepath.Join(home, ".satelle"), nil
}

// maxBase bounds the readable half of a repository key.
const maxBase = 40

// RepoKey names a clone under $SATELLE_HOME: the repository folder's name, made
// safe for a file name, and a digest of the common dir's real path. Every work
// tree of a clone has the same key; a clone that is moved gets another one.
func RepoKey(commonDir string) string {
	name := filepath.Base(commonDir)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(commonDir))
	}
	name = strings.TrimSuffix(name, ".git")
	base := make([]byte, 0, maxBase)
	for i := 0; i < len(name) && len(base) < maxBase; i++ {
		c := name[i]
		safe := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' && len(base) > 0
		if !safe {
			c = '-'
		}
		base = append(base, c)
	}
	if len(base) == 0 {
		base = append(base, "repo"...)
	}
	h := fnv.New128a()
	h.Write([]byte(commonDir))
	const digits = "0123456789abcdef"
	key := append(base, '-')
	for _, b := range h.Sum(nil) {
		key = append(key, digits[b>>4], digits[b&15])
	}
	return string(key)
}
