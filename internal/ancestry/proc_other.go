//go:build !linux && !darwin

package ancestry

import "errors"

// errUnsupported makes authority fail closed where ancestors can't be told.
var errUnsupported = errors.New("the ancestors of a process can't be told on this system")

func lookup(int) (process, error) { return process{}, errUnsupported }
func parent() (int, error)        { return 0, errUnsupported }
func runsHook(int) (bool, error)  { return false, errUnsupported }
func gone(error) bool             { return false }
func terminal(int) bool           { return false }
func wholeMachine() bool          { return true }
func alone() bool                 { return false }
func hold(string) (func(), error) { return func() {}, nil }
func held(string) bool            { return false }

// TakeMark does nothing here.
func TakeMark(string) error { return nil }
