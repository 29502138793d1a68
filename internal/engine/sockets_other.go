//go:build !linux

package engine

// socketFilter is nil: bubblewrap runs under Linux only.
func socketFilter() []byte { return nil }
