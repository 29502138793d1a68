package main

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"satelle/internal/fault"
)

// sandboxed tells a caller whose sandbox keeps it from satelle's folder how its
// call can be carried out. Codex has such a sandbox, outside of which only the
// hook runs (docs/decisions/carried-verbs.md).
func sandboxed(err error, args []string) error {
	inCodex := os.Getenv("CODEX_SANDBOX") != "" || os.Getenv("CODEX_SANDBOX_NETWORK_DISABLED") != ""
	kept := errors.Is(err, syscall.EROFS) || inCodex && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM))
	if !kept || fault.TryOf(err) != "" {
		return err
	}
	words := []string{"satelle"}
	for _, arg := range args {
		words = append(words, shellWord(arg))
	}
	err = fault.Wrap(err, nil, "a sandbox keeps this command from satelle's folder; Codex's hook carries it out if it is a plain call on its own, "+
		"without a pipe, a variable or another command beside it; else a person runs it")
	return fault.Try(err, strings.Join(words, " "))
}

// shellWord is a text as one word of a shell command.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=@:,") == "" && s[0] != '=' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
