package shell

import (
	"strings"
	"testing"
)

func TestGateReaders(t *testing.T) {
	env := testEnv
	env.Tree = "/repo"
	for _, reader := range []string{"go test ./...", "go vet *", "make test", "npm test **", "./run lint", "* all", "pytest **"} {
		env.Readers = append(env.Readers, strings.Split(reader, " "))
	}
	for _, command := range []string{
		"go test ./...", "go test ./... 2>&1 | tail -5", "cd src && go test ./...", "go vet ./src", "make test", "(make test; make test)",
		"npm test", "npm test a b", "./run lint", "cd src && ls && make test", "bash -lc 'make test'", "if make test; then echo ok; fi",
		"n=1; make test", "make test & wait", "LANG=C; make test", "pytest tests/test_a.py", "time make test",
	} {
		if eff := Judge(command, env); eff.Changes {
			t.Errorf("refused %s: %s (%s)", command, eff.Why, eff.Rule)
		}
		if !Judge(command, testEnv).Changes {
			t.Errorf("reads without a gate: %s", command)
		}
	}
	for _, command := range []string{
		"go test", "go test ./... -o x", "go test ./a", "go vet", "go vet -n", "go vet x=y", "go vet ./a ./b", "go vet /tmp/x", "go vet ../x", "go vet a/../../x", "go vet ~/x",
		"go vet $X", "go vet *", "go vet {a,b}", "go vet file:///tmp/x", "go vet @/tmp/x", "go vet a:/tmp",
		"make", "make test install", "make tests", "make test CC=./x", "npm test -- --outputFile=x", "npm test a -x",
		"make test > log", "make test; rm a", "make test | tee a", "rm all", "run lint", "/repo/run lint",
		"cd /tmp && make test", "cd nowhere; make test", "cd docs; cd ..; make test", "cd src/../../tmp && make test", "cd $X && make test",
		"CC=x make test", "export CC=x; make test", "make test; export CC=x", "declare -x CC=x; make test", "typeset CC; make test", "PATH=.; make test",
		"make() { rm a; }; make test", "alias make=rm\nmake test", "hash -p ./x make; make test",
		"env make test", "timeout 5 make test", "xargs make test", "nohup make test", "command make test", "exec make test",
		"sudo make test", "eval make test", "export CC=x; bash -c 'make test'", "bash -c 'export CC=x; make test'", "CC=x bash -c 'make test'",
		"CC=x; export CC; make test", "set -a; CC=x; make test", "readonly CC=x; make test", "EXPORTED=1; make test", "read EXPORTED; make test",
	} {
		if !Judge(command, env).Changes {
			t.Errorf("let pass %s", command)
		}
	}
	env.Tree = ""
	if !Judge("make test", env).Changes {
		t.Error("counts without a governed tree")
	}
	env.Dir, env.Tree = "/tmp/x", "/repo"
	if !Judge("make test", env).Changes {
		t.Error("counts outside of the governed tree")
	}
}
