package snippet

import "strings"

// luaTables are the tables of Lua's library, which stand only before a dot.
var luaTables = [...]struct{ name, members string }{
	{"string", "format rep sub gsub gmatch match find upper lower len reverse byte char"},
	{"table", "concat insert remove sort unpack pack"},
	{"math", "floor ceil abs max min sqrt pi huge random randomseed fmod tointeger type sin cos tan log exp pow maxinteger mininteger"},
	{"os", "time date clock getenv"},
	{"io", "read write lines"},
	{"utf8", "char codepoint len codes"},
}

const (
	luaNames    = "print tostring tonumber ipairs pairs next type select unpack error assert pcall arg _VERSION"
	luaKeywords = "and break do else elseif end false for function if in local nil not or repeat return then true until while"
	luaMembers  = "format rep sub gsub gmatch match find upper lower len reverse byte char read lines"
	// luaNever are the other names of the library. Names that are in no list
	// are the program's own, or nothing.
	luaNever = "load loadstring loadfile dofile require module package debug coroutine getmetatable setmetatable rawget rawset rawequal rawlen getfenv setfenv newproxy collectgarbage " +
		"_G _ENV goto jit bit bit32 ffi warn xpcall"
)

// Lua reports whether a program in Lua only reads.
func Lua(code string) bool {
	if !plain(code) {
		return false
	}
	p, ok := luaScan(code)
	if !ok || !p.pair() {
		return false
	}
	for i, t := range p {
		if t.kind != name {
			continue
		}
		members := luaTable(t.s)
		switch {
		case p.is(i-1, ".") && !p.is(i-2, "."):
			// Of a table of the library it was judged with the table's name.
		case p.is(i-1, ":"):
			ok = listed(luaMembers, t.s)
		case members != "":
			ok = p.is(i+1, ".") && p.at(i+2).kind == name && listed(members, p.at(i+2).s) && !p.is(i+3, "=")
		case listed(luaNever, t.s):
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

func luaTable(name string) string {
	for _, t := range luaTables {
		if t.name == name {
			return t.members
		}
	}
	return ""
}

func luaScan(code string) (p program, ok bool) {
	for code != "" {
		t := token{}
		switch c := code[0]; {
		case c == ' ' || c == '\t' || c == '\n':
			code = code[1:]
			continue
		case strings.HasPrefix(code, "--"):
			comment, _, _ := strings.Cut(code, "\n")
			if strings.HasPrefix(comment, "--[") {
				return nil, false
			}
			code = code[len(comment):]
			continue
		case strings.HasPrefix(code, "[[") || strings.HasPrefix(code, "[="):
			return nil, false
		case c == '"' || c == '\'':
			i := 1
			for i < len(code) && code[i] != c {
				if code[i] == '\n' {
					return nil, false
				}
				if code[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(code) {
				return nil, false
			}
			t.kind, t.s, code = text, code[1:i], code[i+1:]
		case isDigit(c):
			n := numeral(code)
			if i := strings.Index(n, ".."); i >= 0 {
				n = n[:i]
			}
			if n == "" {
				return nil, false
			}
			t.kind, t.s, code = number, n, code[len(n):]
		case isLetter(c):
			t.kind, t.s = name, word(code)
			code = code[len(t.s):]
		case c >= 0x80 || strings.IndexByte("`\\@$?!", c) >= 0:
			return nil, false
		default:
			t.kind, t.s, code = sign, code[:1], code[1:]
		}
		p = append(p, t)
	}
	return p, true
}
