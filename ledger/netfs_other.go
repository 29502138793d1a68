//go:build !linux && !darwin

package ledger

// networkFS knows no network file system on this platform.
func networkFS(string) (string, error) { return "", nil }
