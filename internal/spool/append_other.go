//go:build !unix

package spool

import "errors"

// Append is there where the hook runs.
func Append(string, *Line) error { return errors.ErrUnsupported }
