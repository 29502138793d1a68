package codexlive

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"satelle/internal/proc"
)

// loginTime bounds the question whether Codex is logged in.
const loginTime = time.Minute

// Prerequisite returns what a person has to do before Codex can be tried, nil
// if nothing is missing. It changes nothing.
func Prerequisite(ctx context.Context) error {
	r, err := proc.Run(ctx, proc.Spec{Argv: []string{"codex", "login", "status"}, Timeout: loginTime})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("prerequisite: codex is not on the PATH; install it, for example with: npm install -g @openai/codex")
	case err != nil:
		return fmt.Errorf("prerequisite: codex can't be asked for its login: %w", err)
	case !r.OK():
		return fmt.Errorf("prerequisite: codex is not logged in; log in with: codex login (it said: %s)", strings.TrimSpace(string(r.Output)))
	}
	return nil
}
