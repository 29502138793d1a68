// Package codexlive shows the installed hook at work under a person's own Codex,
// with their login, configuration and model. It is for a person to run, by `make
// codex-smoke`: its test stands under the build tag codexlive, and nothing that
// runs by itself needs it.
//
// It promises to say what is missing where Codex is absent or not logged in, to
// ask for no key, and to leave the person's configuration as it was.
//
// prerequisite.go looks for Codex, smoke_test.go is the test.
package codexlive
