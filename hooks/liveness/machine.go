package liveness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"satelle/hooks/install"
	"satelle/internal/proc"
	"satelle/ledger"
)

// engine looks at the programs that the hooks run.
func (l *look) engine() {
	o := l.Options.Options
	o.Targets, o.Scope = []string{"all"}, install.User // needs no repository
	states, err := install.Status(o)
	if err != nil || len(l.harnesses()) == 0 {
		return // nobody calls them
	}
	mend := "satelle agents install " + l.harnesses()[0]
	switch {
	case !states[0].Engine:
		l.find(Broken, "engine-missing", "", "", mend, "the hook's engine in %s is missing or not executable: its fallback denies all but plain reading", filepath.Join(l.SatelleHome, "bin"))
	case !states[0].EngineFresh:
		l.find(Open, "engine-outdated", "", "", mend, "the hook's engine in %s is not that of this satelle", filepath.Join(l.SatelleHome, "bin"))
	}
	if !executable(filepath.Join(l.SatelleHome, "bin", "satelle")) {
		l.find(Open, "program-missing", "", "", mend, "%s is missing or leads nowhere; denials name it", filepath.Join(l.SatelleHome, "bin", "satelle"))
	}
}

// machine looks at satelle's own folder and at what starts the harnesses.
func (l *look) machine() {
	info, err := os.Stat(l.SatelleHome)
	access := unix.Access(l.SatelleHome, unix.W_OK|unix.X_OK)
	switch {
	case err != nil:
		if len(l.harnesses()) > 0 && !os.IsNotExist(err) {
			l.find(Broken, "home", "", "", "make it readable", "satelle's folder: %v", err)
		}
		return
	case errors.Is(access, unix.EROFS):
		l.find(Note, "home", "", "", "ask in a terminal outside of it", "%s is read-only from here, as in an agent's sandbox", l.SatelleHome)
	case access != nil:
		l.find(Broken, "home", "", "", "chmod u+rwx "+word(l.SatelleHome), "%s is not writable: no session becomes known, and nothing is noted", l.SatelleHome)
	case info.Mode().Perm()&0o077 != 0:
		l.find(Open, "home", "", "", "chmod 700 "+word(l.SatelleHome), "%s is open to others (mode %04o)", l.SatelleHome, info.Mode().Perm())
	}
	if name, err := ledger.NetworkFS(l.SatelleHome); err == nil && name != "" {
		l.find(Broken, "network", "", "", "export SATELLE_HOME=/a/folder/on/a/local/disk", "%s lies on a network file system (%s), where no ledger opens", l.SatelleHome, name)
	}
	if truthy(l.env["OPENCODE_PURE"]) {
		l.find(Note, "environment", "opencode", "", "unset OPENCODE_PURE", "OPENCODE_PURE is set: opencode starts without plugins")
	}
	l.launchers()
}

// loginTime bounds the start of a login shell, which runs the person's profile.
const loginTime = 5 * time.Second

// login asks a login shell which satelle it finds, since Codex runs an agent's
// commands in one.
func (l *look) login(ctx context.Context) {
	own, err := os.Stat(filepath.Join(l.SatelleHome, "bin", "satelle"))
	if err != nil || len(l.harnesses()) == 0 {
		return
	}
	bin := filepath.Join(l.SatelleHome, "bin")
	mend := `add to ~/.profile: PATH=` + word(bin) + `:"$PATH"`
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{l.Shell, "-lc", "command -v satelle"}, Dir: l.Dir, Env: l.Env, Timeout: loginTime, OutputCap: 4096,
	})
	lines := strings.Split(strings.TrimSpace(string(res.Output)), "\n")
	found := lines[len(lines)-1]
	switch info, serr := os.Stat(found); {
	case err != nil || res.TimedOut:
		l.find(Note, "login-shell", "", "", "look at its profile", "a login shell (%s) does not start within %v", l.Shell, loginTime)
	case !res.OK() || !strings.HasPrefix(found, "/"):
		l.find(Note, "path", "", "", mend, "a login shell finds no satelle; denials name it by its full path")
	case serr != nil || !os.SameFile(info, own):
		l.find(Open, "path", "", "", mend, "a login shell finds another satelle first, %s, which an agent may not call", found)
	}
}

// program finds a harness's program on PATH.
func (l *look) program(name string) string {
	for _, dir := range filepath.SplitList(l.env["PATH"]) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(path) {
			return path
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil
}

// flags are options of the harnesses that start them without hooks.
var flags = []struct{ harness, flag string }{
	{"claude", "--bare"},
	{"claude", "--safe-mode"},
	{"claude", "--setting-sources"},
	{"claude", "--restricted"},
	{"codex", "--disable hooks"},
	{"codex", "--disable=hooks"},
	{"codex", "features.hooks=false"},
	{"codex", "features.codex_hooks=false"},
	{"opencode", "--pure"},
}

// Disarms returns the option with which a command line starts a harness without
// hooks, "" if it has none.
func Disarms(command string) string {
	line := " " + strings.Join(strings.Fields(command), " ") + " "
	for _, f := range flags {
		if i := strings.Index(line, " "+f.flag); i >= 0 {
			after := line[i+1+len(f.flag)]
			if after == ' ' || after == '=' || after == '"' || after == '\'' {
				return f.flag
			}
		}
		if i := strings.Index(line, f.flag); strings.Contains(f.flag, "=") && i > 0 {
			return f.flag
		}
	}
	return ""
}

// launchers looks at what starts the harnesses for others.
func (l *look) launchers() {
	dir := filepath.Join(l.SatelleHome, "agents", "bin")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // none are installed
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		doc, err := load(path)
		if err != nil {
			continue
		}
		if flag := Disarms(string(doc)); flag != "" {
			l.find(Open, "launcher", "", "", "take "+flag+" out of "+path, "the launcher %s starts its agent without hooks (%s)", path, flag)
		}
	}
}

// word is text as a word of a shell command.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
