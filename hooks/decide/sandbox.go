package decide

import (
	"bytes"
	"os"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"satelle/hooks/dialect"
	"satelle/internal/place"
)

// sandbox is what Codex lets the commands of a session do.
type sandbox struct {
	grants  []grant
	network bool
}

// grant says of a folder, and all below it that no other grant names, whether
// it may be written.
type grant struct {
	path  string // real
	named string // as Codex has it
	write bool
}

// Bounds of the search for what Codex wrote down of a session. A turn in which
// more was said than this is not found.
const (
	maxTranscript = 64 << 20
	maxContext    = 1 << 20 // one entry
	chunk         = 256 << 10
)

// sandboxOf reads, from the transcript that Codex keeps of a session, the
// sandbox of the turn that a call belongs to. It answers only for a sandbox
// that lets commands read everything and write some folders, in a session in
// which such a command runs without a question to anybody: then to carry a
// command out lifts no prompt.
func (w *world) sandboxOf(c dialect.Call) (s sandbox, ok bool) {
	turn, ok := turnContext(c.Transcript, c.Turn)
	if !ok || turn.Get("sandbox_policy.type").Str != "workspace-write" {
		return s, false
	}
	switch turn.Get("approval_policy").Str {
	case "never", "on-request":
	default:
		return s, false // somebody is asked about each command
	}
	profile := turn.Get("permission_profile")
	if profile.Get("type").Str != "managed" || profile.Get("file_system.type").Str != "restricted" {
		return s, false
	}
	s.network = profile.Get("network").Str == "enabled" && turn.Get("sandbox_policy.network_access").Type == gjson.True
	readsAll := false
	profile.Get("file_system.entries").ForEach(func(_, entry gjson.Result) bool {
		named, path, known := w.grantPath(entry.Get("path"))
		access := entry.Get("access").Str
		if ok = known && (access == "read" || access == "write"); !ok {
			return false
		}
		if path != "" {
			s.grants = append(s.grants, grant{path, named, access == "write"})
			readsAll = readsAll || path == "/"
		}
		return true
	})
	return s, ok && readsAll && !s.open() && !w.forgeable(c.Transcript) && !s.steers(c.Transcript)
}

// open reports whether a command in the sandbox could have moved a folder that
// it may write to somewhere else, by a link.
func (s sandbox) open() bool {
	for _, g := range s.grants {
		if _, steered := s.follow(g.named); steered && g.write {
			return true
		}
	}
	return false
}

// forgeable reports whether a transcript lies where a sandbox as a rule lets
// commands write, whatever it says itself.
func (w *world) forgeable(transcript string) bool {
	real, err := place.Resolve(transcript)
	if err != nil {
		return true
	}
	for _, dir := range append([]string{w.started()}, w.temps...) {
		if dir, err := place.Resolve(dir); err == nil && dir != "/" && within(real, dir) {
			return true
		}
	}
	return false
}

// grantPath is the folder that an entry speaks of, as it is named there and
// real; "" for one that there is not.
func (w *world) grantPath(entry gjson.Result) (named, real string, known bool) {
	switch kind := entry.Get("type").Str; {
	case kind == "path":
		named = entry.Get("path").Str
	case kind != "special":
	default:
		switch entry.Get("value.kind").Str {
		case "root":
			return "/", "/", true
		case "slash_tmp":
			named = "/tmp"
		case "tmpdir":
			if len(w.temps) == 0 {
				return "", "", true
			}
			named = w.temps[0]
		}
	}
	if !strings.HasPrefix(named, "/") || strings.ContainsAny(named, "\n\x00") {
		return "", "", false
	}
	real, err := place.Resolve(named)
	return named, real, err == nil
}

// writes reports whether a command in the sandbox may change what stands at a
// real path, or put something else there: a folder above that is not held by a
// grant of its own can be renamed where its folder may be written.
func (s sandbox) writes(real string) bool {
	may, _ := s.at(real)
	for at := real; !may && at != "/"; at = path.Dir(at) {
		if _, held := s.at(at); !held {
			may, _ = s.at(path.Dir(at))
		}
	}
	return may
}

// at tells what holds for a real path: the nearest grant above it counts, and
// of two the one that keeps. held tells that it is a grant's own.
func (s sandbox) at(real string) (may, held bool) {
	best := -1
	for _, g := range s.grants {
		if g.path != "/" && !within(real, g.path) {
			continue
		}
		held = held || g.path == real
		switch n := len(g.path); {
		case n > best:
			best, may = n, g.write
		case n == best:
			may = may && g.write
		}
	}
	return may, held
}

// steers reports whether a command in the sandbox may change what a path leads
// to, or where it leads.
func (s sandbox) steers(name string) bool {
	real, steered := s.follow(name)
	return steered || s.writes(real)
}

// follow follows a path. steered tells that a command in the sandbox may
// replace one of the links on the way.
func (s sandbox) follow(name string) (real string, steered bool) {
	const most = 40 // as many as the kernel follows
	real = "/"
	for links := 0; name != ""; {
		var part string
		switch part, name, _ = strings.Cut(name, "/"); part {
		case "", ".":
			continue
		case "..":
			real = path.Dir(real)
			continue
		}
		next := path.Join(real, part)
		target, err := os.Readlink(next)
		if err != nil {
			real = next // no link
			continue
		}
		if links++; links > most || s.writes(next) {
			return next, true
		}
		if strings.HasPrefix(target, "/") {
			real = "/"
		}
		name = target + "/" + name
	}
	return real, false
}

// confinement is the sandbox as satelle puts it around a check.
func (s sandbox) confinement() place.Confinement {
	c := place.Confinement{Network: s.network}
	for _, g := range s.grants {
		switch {
		case g.write && !s.covered(g):
			c.Write = append(c.Write, g.path)
		case !g.write && g.path != "/":
			c.Keep = append(c.Keep, g.path)
		}
	}
	return c
}

// covered reports whether a folder lies in another that may be written, and
// nothing in it is kept. Named on its own, it could be replaced by a link before
// the check begins.
func (s sandbox) covered(g grant) bool {
	var rest sandbox
	for _, other := range s.grants {
		if !other.write && within(other.path, g.path) {
			return false
		}
		if other.path != g.path {
			rest.grants = append(rest.grants, other)
		}
	}
	may, _ := rest.at(g.path)
	return may
}

// turnContext finds the entry of a turn in a transcript. The newest turn's is
// near the end, so it is looked for from there.
func turnContext(transcript, turn string) (gjson.Result, bool) {
	var none gjson.Result
	if turn == "" || !strings.HasPrefix(transcript, "/") {
		return none, false
	}
	f, err := os.Open(transcript)
	if err != nil {
		return none, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return none, false
	}
	marker := []byte(`"type":"turn_context"`)
	var rest []byte // the end of a line that begins further above
	for end := info.Size(); end > 0 && info.Size()-end < maxTranscript; {
		n := min(end, chunk)
		block := make([]byte, n, int(n)+len(rest))
		if _, err := f.ReadAt(block, end-n); err != nil {
			return none, false
		}
		end -= n
		block = append(block, rest...)
		from := 0
		if end > 0 {
			if from = bytes.IndexByte(block, '\n') + 1; from == 0 {
				from = len(block)
			}
		}
		lines := block[from:]
		for len(lines) > 0 {
			i := bytes.LastIndexByte(lines[:len(lines)-1], '\n') + 1
			line := lines[i:]
			lines = lines[:i]
			if len(line) > maxContext || !bytes.Contains(line, marker) || !gjson.ValidBytes(line) {
				continue
			}
			if entry := gjson.ParseBytes(line); entry.Get("type").Str == "turn_context" && entry.Get("payload.turn_id").Str == turn {
				return entry.Get("payload"), true
			}
		}
		if rest = block[:from]; len(rest) > 4*maxContext {
			return none, false
		}
	}
	return none, false
}
