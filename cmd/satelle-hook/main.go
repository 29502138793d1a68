package main

import (
	"os"

	"satelle/hooks/decide"
)

func main() {
	os.Exit(decide.Run(os.Stdin, os.Stdout, os.Stderr, decide.System()))
}
