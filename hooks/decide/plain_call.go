package decide

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainWords is a command that is one call and nothing else: literal words, nothing
// before or behind it, in a folder that is known.
type plainWords struct {
	words  []string
	dir    string // absolute; where it runs
	merged bool   // 2>&1
}

// maxPlain bounds the text of a command that is looked at.
const maxPlain = 64 << 10

// plainCall reads a command that is one call of a program, perhaps behind
// `cd DIR &&`, as the denials print it. Whatever a shell could make more of is
// none.
func plainCall(text, dir string) (p plainWords, ok bool) {
	if len(text) > maxPlain || strings.ContainsAny(text, "\r\x00") {
		return p, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return p, false
	}
	stmt := file.Stmts[0]
	p.dir = dir
	if both, is := stmt.Cmd.(*syntax.BinaryCmd); is {
		if both.Op != syntax.AndStmt || !bare(stmt) || len(stmt.Redirs) > 0 || !bare(both.X) || len(both.X.Redirs) > 0 {
			return p, false
		}
		cd, ok := literals(both.X.Cmd)
		if !ok || len(cd) != 2 || cd[0] != "cd" || cd[1] == "" || cd[1][0] == '-' {
			return p, false
		}
		p.dir, stmt = absolute(dir, cd[1]), both.Y
		if !strings.HasPrefix(cd[1], "/") && !strings.HasPrefix(cd[1], ".") {
			return p, false // CDPATH may lead elsewhere
		}
	}
	if !bare(stmt) || len(stmt.Redirs) > 1 {
		return p, false
	}
	for _, r := range stmt.Redirs {
		target, ok := literal(r.Word)
		if r.Op != syntax.DplOut || r.N == nil || r.N.Value != "2" || !ok || target != "1" {
			return p, false
		}
		p.merged = true
	}
	p.words, ok = literals(stmt.Cmd)
	return p, ok && len(p.words) > 0
}

// bare reports whether nothing but redirections belongs to a statement.
func bare(s *syntax.Stmt) bool {
	return len(s.Comments) == 0 && !s.Negated && !s.Background && !s.Coprocess && !s.Disown
}

func literals(cmd syntax.Command) (words []string, ok bool) {
	call, is := cmd.(*syntax.CallExpr)
	if !is || len(call.Assigns) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		text, ok := literal(w)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// literal is a word's text, if every shell takes it for the same.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[]{}~^#=!\\") && !plainLit(part.Value) {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", false
			}
			for _, in := range part.Parts {
				lit, is := in.(*syntax.Lit)
				if !is {
					return "", false
				}
				b.WriteString(unescaped(lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// plainLit reports whether an unquoted text is one option with its value.
func plainLit(text string) bool {
	name, value, ok := strings.Cut(text, "=")
	return ok && strings.HasPrefix(name, "--") && !strings.ContainsAny(name+value, "*?[]{}~^#=!\\")
}

// unescaped is a text between double quotes as the shell takes it.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case '\n':
				i++
				continue
			case '$', '`', '"', '\\':
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
