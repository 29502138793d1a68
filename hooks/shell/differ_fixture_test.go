//go:build differ && linux

package shell

import (
	"fmt"
	"path"
	"strings"
)

// judge judges a text. To panic over one is a failure of its own, for which
// the text passes as one that reads.
func (b *box) judge(text string) (eff Effect) {
	defer func() {
		if p := recover(); p != nil {
			eff = Effect{Why: fmt.Sprint("panic: ", p)}
		}
	}()
	return Judge(text, b.env())
}

// env is what Judge knows of the fixture.
func (b *box) env() Env {
	exported := map[string]bool{"_": true}
	for _, v := range boxEnv() {
		name, _, _ := strings.Cut(v, "=")
		exported[name] = true
	}
	return Env{
		Dir: boxRepo, Home: boxHome, Temp: "/tmp", Tree: boxRepo,
		Exported: func(name string) bool { return exported[name] },
		IsDir:    func(p string) bool { _, ok := b.real(p); return ok },
		Dashed:   func(dir string) bool { p, ok := b.real(dir); return !ok || b.dashed[p] },
		OwnGit: func(dir string) bool {
			real, ok := b.real(dir)
			own := real == boxRepo || strings.HasPrefix(real, boxRepo+"/") || real == boxHome+"/wt" || strings.HasPrefix(real, boxHome+"/wt/")
			return ok && own && !strings.HasPrefix(real+"/", boxRepo+"/vendor/lib/") && !strings.HasPrefix(real+"/", boxRepo+"/.git/")
		},
	}
}

// real follows a path through the links of the fixture, and tells whether a
// folder stands there.
func (b *box) real(p string) (string, bool) {
	if p == "/tmp" || p == "/" || p == "/home" {
		return p, true
	}
	at, steps := "/", 0
	rest := strings.Split(p, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		to, ok := b.dirs[next]
		switch {
		case next == "/home":
		case !ok:
			return "", false
		case to != "":
			if steps++; steps > 20 {
				return "", false
			}
			rest = append(strings.Split(to, "/"), rest...)
			if path.IsAbs(to) {
				at = "/"
			}
			continue
		}
		at = next
	}
	return at, true
}

// nearest follows a path as far as there are folders.
func (b *box) nearest(p string) string {
	if dir, ok := b.real(p); ok || p == "/" || p == "" {
		return dir
	}
	p = strings.TrimRight(p, "/")
	slash := strings.LastIndexByte(p, '/') + 1
	return path.Join(b.nearest(p[:slash]), p[slash:])
}

// fault says what is wrong with a judgement, or "".
func (b *box) fault(eff Effect, changes []string) string {
	switch {
	case strings.HasPrefix(eff.Why, "panic"):
		return eff.Why
	case len(changes) > 0 && !eff.Changes:
		return "it changes files, and is judged to read"
	case eff.Known && b.beyond(eff, changes):
		return "it changes more than its targets"
	}
	return ""
}

// beyond reports whether something else changes than an effect names.
func (b *box) beyond(eff Effect, changes []string) bool {
	for _, c := range changes {
		_, name, _ := strings.Cut(c, " ")
		covered := false
		for _, t := range eff.Targets {
			covered = covered || b.covers(t, "/home/"+name)
		}
		for _, link := range eff.Links {
			covered = covered || b.covers(Target{Path: link, Tree: true}, "/home/"+name)
		}
		if !covered {
			return true
		}
	}
	return false
}

// covers reports whether a target is a path, or holds it. A link is changed
// itself, or where it leads; folders above a target may come into being.
func (b *box) covers(t Target, name string) bool {
	p := strings.TrimRight(t.Path, "/")
	slash := strings.LastIndexByte(p, '/') + 1
	dir := b.nearest(p[:slash])
	at := []string{path.Join(dir, p[slash:])}
	for range 8 { // a link may lead to a file, of which nothing more is known
		last := at[len(at)-1]
		to, link := b.dirs[last]
		if !link || to == "" {
			break
		}
		if !path.IsAbs(to) {
			to = path.Dir(last) + "/" + to
		}
		at = append(at, path.Clean(to))
	}
	for _, p := range at {
		if p == name || t.Tree && strings.HasPrefix(name, p+"/") || strings.HasPrefix(p, name+"/") {
			return true
		}
	}
	return false
}
