package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/pelletier/go-toml/v2"

	"satelle/internal/fault"
	"satelle/workflow"
)

// maxConfig bounds satelle.toml.
const maxConfig = 1 << 20

// Config is the repository's .satelle/satelle.toml.
type Config struct {
	// Project is the project's id, the same in every clone.
	Project string `toml:"project"`
	Checks  struct {
		// Done is the shell command that the gate to done asks.
		Done string `toml:"done"`
		// Timeout bounds it, as a Go duration.
		Timeout string `toml:"timeout"`
		// Watch are globs of files that the checks rest on, below the work tree:
		// test fixtures, build files. A gate at which a check judges a change of
		// them asks a reviewer or a person, too.
		Watch []string `toml:"watch"`
	} `toml:"checks"`
	// Gate is how strict the hook is.
	Gate gateConfig `toml:"gate"`
	// Audit is read from the trusted side of what is audited.
	Audit auditConfig `toml:"audit"`
	// Vars are values for the bindings' environment.
	Vars map[string]string `toml:"vars"`
}

// CheckTimeout is the time that the done check may take.
func (c Config) CheckTimeout() time.Duration {
	d, err := time.ParseDuration(c.Checks.Timeout)
	if err != nil || d <= 0 {
		return workflow.DefaultTimeout
	}
	return d
}

// loadConfig reads a satelle.toml strictly: an unknown or duplicate key is an
// error of class Refused that names its line.
func loadConfig(path string) (Config, error) {
	var c Config
	b, err := readBounded(path, maxConfig)
	if err != nil {
		return c, err
	}
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fault.New(fault.Refused, "%s: %s", path, tomlReason(err))
	}
	if c.Project == "" || strings.ContainsAny(c.Project, "/ +\n\t") || len(c.Project) > 100 {
		return c, fault.New(fault.Refused, "%s: `project` must be a word of at most 100 bytes without `/`, `+` or blanks", path)
	}
	if c.Checks.Timeout != "" {
		if d, err := time.ParseDuration(c.Checks.Timeout); err != nil || d <= 0 {
			return c, fault.New(fault.Refused, "%s: `checks.timeout` must be a duration like \"5m\", not %q", path, c.Checks.Timeout)
		}
	}
	if err := workflow.CheckGlobs(c.Checks.Watch); err != nil {
		return c, fault.Wrap(err, fault.Refused, "%s: `checks.watch`", path)
	}
	if _, err := c.gate(); err != nil {
		return c, fault.Wrap(err, nil, "%s", path)
	}
	return c, nil
}

// tomlReason puts a decoder's error into one line with its place.
func tomlReason(err error) string {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, _ := e.Position()
		return fmt.Sprintf("line %d: unknown key `%s`", row, strings.Join(e.Key(), "."))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		row, col := de.Position()
		return fmt.Sprintf("line %d, column %d: %s", row, col, strings.TrimPrefix(de.Error(), "toml: "))
	}
	return err.Error()
}

// readBounded reads a regular file of at most max bytes; what is larger or no
// file is Refused, what is missing NotFound.
func readBounded(path string, max int64) ([]byte, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s does not exist", path)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "reading %s", filepath.Base(path))
	}
	if !fi.Mode().IsRegular() {
		return nil, fault.New(fault.Refused, "%s is no regular file", path)
	}
	if fi.Size() > max {
		return nil, fault.New(fault.Refused, "%s has %d bytes; at most %d are read", path, fi.Size(), max)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "reading %s", filepath.Base(path))
	}
	if int64(len(b)) > max {
		return nil, fault.New(fault.Refused, "%s grew while it was read", path)
	}
	return b, nil
}
