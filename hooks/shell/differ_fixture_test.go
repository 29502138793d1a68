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
