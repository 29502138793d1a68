package transport

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxToken is the most that Linux takes as one argument or variable, with
	// the byte that ends it.
	maxToken = 128 << 10
	// darwinTotal is the most that macOS takes of both together.
	darwinTotal = 1 << 20
	// pointer is what each of them costs beyond its bytes, spare what the system
	// wants for itself.
	pointer, spare = 8, 8 << 10
)

// wayOut is what helps against a command that is too long.
const wayOut = "leave {payload} out of the command, since the work item is on standard input too, or shorten the skill"

// tooLong refuses what the system would refuse, and says what to do about it.
func tooLong(argv []string, inv Invocation) *Failure {
	env := inv.Env
	if env == nil {
		env = os.Environ()
	}
	token, total := limits()
	sum := 0
	for i, arg := range argv {
		sum += len(arg) + 1 + pointer
		if len(arg)+1 > token {
			return &Failure{Class: TooLong, Message: fmt.Sprintf("argument %d of the command of [%s] has %d bytes, the system takes %d: %s", i, inv.Binding.Name, len(arg), token-1, inv.shorten(arg))}
		}
	}
	for _, pair := range env {
		sum += len(pair) + 1 + pointer
		if len(pair)+1 > token {
			name, _, _ := strings.Cut(pair, "=")
			return &Failure{Class: TooLong, Message: fmt.Sprintf("the variable %s for [%s] has %d bytes, the system takes %d: shorten it, or unset it for the agent", name, inv.Binding.Name, len(pair), token-1)}
		}
	}
	if sum+spare > total {
		return &Failure{Class: TooLong, Message: fmt.Sprintf("the arguments and variables of [%s] have %d bytes, the system takes %d: %s, or unset large variables", inv.Binding.Name, sum, total-spare, wayOut)}
	}
	return nil
}

// shorten says what makes an argument shorter.
func (inv Invocation) shorten(arg string) string {
	switch {
	case len(inv.Payload) > 0 && strings.Contains(arg, string(inv.Payload)):
		return "leave {payload} out of the command, since the work item is on standard input too"
	case inv.System != "" && strings.Contains(arg, inv.System):
		return "shorten the skill or the principles that {system} stands for, or use a binding with interface = \"acp\""
	}
	return "shorten the command"
}

// limits are the most bytes of one argument or variable, and of all.
func limits() (token, total int) {
	if runtime.GOOS == "darwin" {
		return darwinTotal, darwinTotal
	}
	// A quarter of the stack, within the bounds that the kernel sets.
	total = 6 << 20
	var stack unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &stack) == nil && stack.Cur/4 < uint64(total) {
		total = max(int(stack.Cur/4), maxToken)
	}
	return maxToken, total
}
