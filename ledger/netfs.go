package ledger

import (
	"os"
	"path/filepath"

	"satelle/internal/fault"
)

// refuseNetwork returns an error if dir lies on a file system whose locks,
// writes and mapped pages other machines share or somebody else answers for.
func refuseNetwork(dir string) error {
	name, err := networkFS(dir)
	if err != nil || name == "" {
		return err
	}
	return fault.New(fault.Refused,
		"%s lies on a network file system (%s), where neither locks nor crash safety hold: set SATELLE_HOME to a folder on a local disk", dir, name)
}

// NetworkFS names the network file system on which dir, or the nearest folder
// above it that exists, lies; "" for a local one. No ledger opens there.
func NetworkFS(dir string) (string, error) { return networkFS(existingDir(dir)) }

// existingDir returns dir or its nearest ancestor that exists.
func existingDir(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
