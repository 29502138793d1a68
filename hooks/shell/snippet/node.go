package snippet

import "strings"

// jsModules are Node's modules that a program may use, with their members that
// read or compute. Node knows them by their names, too, without a require.
var jsModules = [...]struct{ name, members string }{
	{"fs", "readFileSync readdirSync existsSync statSync lstatSync realpathSync readlinkSync accessSync"},
	{"os", "platform arch cpus totalmem freemem hostname homedir tmpdir type release uptime EOL userInfo version"},
	{"path", "join resolve basename dirname extname relative normalize parse format isAbsolute sep delimiter"},
	{"url", "parse format fileURLToPath pathToFileURL URL"},
	{"querystring", "parse stringify escape unescape"},
	{"util", "inspect format isDeepStrictEqual types"},
	{"crypto", "createHash randomUUID randomBytes"},
}

// jsObjects are global objects that stand only before a dot.
var jsObjects = [...]struct{ name, members string }{
	{"console", "log error warn info debug table dir count assert group groupEnd time timeEnd"},
	{"JSON", "parse stringify"},
	{"Math", "max min floor ceil round abs pow sqrt random PI E log log2 log10 exp sin cos tan atan atan2 trunc sign hypot cbrt"},
	{"Object", "keys values entries assign fromEntries freeze is"},
	{"process", "version versions argv env platform arch cwd pid uptime exit memoryUsage stdout stderr hrtime release execPath"},
	{"Buffer", "from byteLength concat alloc isBuffer"},
	{"Intl", "NumberFormat DateTimeFormat"},
	{"performance", "now"},
}

const (
	jsGlobals = "Array String Number Boolean Date Set Map RegExp BigInt Error TypeError RangeError URL URLSearchParams parseInt parseFloat isNaN isFinite " +
		"encodeURIComponent decodeURIComponent encodeURI decodeURI structuredClone Promise undefined NaN Infinity setTimeout"
	jsKeywords = "const let var function return if else for of in while do break continue true false null new typeof throw try catch finally switch case default delete void instanceof async await"
	// jsOperators are words after which a slash begins a pattern.
	jsOperators = "return typeof case in delete void throw new else do instanceof break continue"
	// jsNever are names that lead to what makes code of text, or to modules that
	// do more than read.
	jsNever = "eval Function globalThis global window self this super arguments import export with debugger class Reflect Proxy WebAssembly Worker fetch module exports " +
		"child_process cluster worker_threads vm repl inspector v8 dgram net tls http https http2 dns tty wasi test sqlite sea trace_events async_hooks " +
		"setImmediate queueMicrotask yield static"
	// jsNeverMember are the members of values by which a program gets at them.
	jsNeverMember = "constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ caller callee eval Function require process global globalThis " +
		"mainModule binding _linkedBinding dlopen getBuiltinModule prepareStackTrace captureStackTrace getThis getFunction getPrototypeOf"
)

// Node reports whether a program in JavaScript only reads, run by node.
func Node(code string) bool {
	return plain(code) && jsReads(code)
}

func jsReads(code string) bool {
	p, ok := jsScan(code)
	if !ok || !p.pair() {
		return false
	}
	js := node{p: p, bound: map[string]bool{}, modules: map[string]string{}}
	if !js.bind() {
		return false
	}
	for i, t := range p {
		switch t.kind {
		case name:
			ok = js.name(i)
		case text:
			ok = js.text(i)
		case sign:
			ok = js.sign(i)
		}
		if !ok {
			return false
		}
	}
	return true
}

type node struct {
	p       program
	bound   map[string]bool   // names that the program declares
	modules map[string]string // of them, those that stand for a module
}

func jsModule(name string) (members string, ok bool) {
	name = strings.TrimPrefix(name, "node:")
	for _, m := range jsModules {
		if m.name == name {
			return m.members, true
		}
	}
	return "", false
}

// bind finds the names that a program declares.
func (js *node) bind() bool {
	for i, t := range js.p {
		if t.kind != name && !(t.kind == sign && t.s == "=>") {
			continue
		}
		switch t.s {
		case "const", "let", "var":
			if !js.declared(i + 1) {
				return false
			}
		case "function":
			k := i + 1
			if js.p.is(k, "*") {
				k++
			}
			if js.p.at(k).kind == name {
				js.bound[js.p.at(k).s] = true
				k++
			}
			if !js.p.is(k, "(") || !js.names(k+1, js.p[k].match) {
				return false
			}
		case "catch":
			if js.p.is(i+1, "(") && !js.names(i+2, js.p[i+1].match) {
				return false
			}
		case "=>":
			switch before := js.p.at(i - 1); {
			case before.kind == name:
				js.bound[before.s] = true
			case before.s == ")" && before.kind == sign:
				if !js.names(before.match+1, i-1) {
					return false
				}
			default:
				return false
			}
		}
	}
	for name := range js.bound {
		if _, module := jsModule(name); module && js.modules[name] == "" || listed(jsNever, name) || listed(jsKeywords, name) || listed(jsGlobals, name) || jsObject(name) != "" || name == "require" {
			return false
		}
	}
	return true
}

// names takes all names between two tokens for declared ones.
func (js *node) names(from, to int) bool {
	for i := from; i < to; i++ {
		if t := js.p.at(i); t.kind == name && !js.p.is(i-1, ".") && !listed(jsKeywords, t.s) && !listed(jsGlobals, t.s) && jsObject(t.s) == "" {
			js.bound[t.s] = true
		}
	}
	return true
}

// declared reads the declarations after const, let or var.
func (js *node) declared(i int) bool {
	for {
		switch t := js.p.at(i); {
		case t.kind == name:
			js.bound[t.s] = true
			if module, ok := js.required(i + 2); ok && js.p.is(i+1, "=") {
				js.modules[t.s] = module
			}
			i++
		case t.kind == sign && (t.s == "{" || t.s == "["):
			if !js.names(i+1, t.match) {
				return false
			}
			i = t.match + 1
		default:
			return false
		}
		// On to the next declaration of the statement, if a comma follows what
		// is assigned.
		for ; i < len(js.p); i++ {
			t := js.p[i]
			if t.kind == sign && (t.s == "," || t.s == ";") || t.kind == line || t.kind == sign && t.match < i && t.match > 0 || t.kind == name && (t.s == "of" || t.s == "in") {
				break
			}
			if t.kind == sign && t.match > i {
				i = t.match
			}
		}
		if !js.p.is(i, ",") {
			return true
		}
		for i++; js.p.at(i).kind == line; i++ {
		}
	}
}

// required reports which module is taken whole by require("…") at i.
func (js *node) required(i int) (module string, ok bool) {
	if !js.p.is(i, "require", "(") || js.p.at(i+2).kind != text || !js.p.is(i+3, ")") {
		return "", false
	}
	module = strings.TrimPrefix(js.p.at(i+2).s, "node:")
	_, known := jsModule(module)
	after := js.p.at(i + 4)
	return module, known && (after.kind == end || after.kind == line || after.kind == sign && (after.s == ";" || after.s == ","))
}

func jsObject(name string) (members string) {
	for _, o := range jsObjects {
		if o.name == name {
			return o.members
		}
	}
	return ""
}

func (js *node) name(i int) bool {
	t, before, after := js.p[i], js.p.at(i-1), js.p.at(i+1)
	dot := before.kind == sign && (before.s == "." || before.s == "?.")
	key := after.kind == sign && after.s == ":" && before.kind == sign && (before.s == "{" || before.s == ",")
	if listed(jsNeverMember, t.s) && !(t.s == "require" || t.s == "process") || (dot || key) && listed(jsNeverMember, t.s) {
		return false
	}
	switch {
	case t.s == "readFileSync":
		return jsReadFile(js.p, i)
	case dot:
		return js.member(i)
	case key:
		return true
	case listed(jsNever, t.s):
		return false
	case t.s == "of": // it could be a variable, too
		return before.kind == name && !listed(jsKeywords, before.s) || before.kind == sign && (before.s == "]" || before.s == "}")
	case t.s == "async" || t.s == "await":
		return after.kind == name || after.kind == sign && after.s == "("
	case listed(jsKeywords, t.s):
		return true
	case t.s == "require":
		return js.require(i)
	}
	members := jsObject(t.s)
	if members == "" {
		module := js.modules[t.s]
		if module == "" {
			module = t.s
		}
		var isModule bool
		if members, isModule = jsModule(module); isModule && js.modules[t.s] != "" && after.kind == sign && after.s == "=" {
			return true // its declaration
		}
	}
	if members != "" {
		return after.kind == sign && after.s == "." && listed(members, js.p.at(i+2).s)
	}
	return listed(jsGlobals, t.s) || js.bound[t.s]
}

// member judges a name after a dot.
func (js *node) member(i int) bool {
	t, owner := js.p[i], js.p.at(i-2)
	if owner.kind == name && !js.p.is(i-3, ".") && !js.p.is(i-3, "?.") {
		module := js.modules[owner.s]
		if module == "" {
			module = owner.s
		}
		members := jsObject(owner.s)
		if members == "" {
			members, _ = jsModule(module)
		}
		if members != "" {
			ok := js.p.is(i-1, ".") && listed(members, t.s)
			if t.s == "stdout" || t.s == "stderr" {
				ok = ok && js.p.is(i+1, ".") && listed("write columns rows isTTY", js.p.at(i+2).s)
			}
			return ok && !(js.p.is(i+1, "=") || js.p.is(i+1, "++") || js.p.is(i+1, "--"))
		}
	}
	if owner.kind == sign && owner.s == ")" && js.p.is(owner.match-1, "require") {
		if members, ok := jsModule(js.p.at(owner.match + 1).s); ok {
			return listed(members, t.s)
		}
	}
	switch {
	case t.s == "stdout" || t.s == "stderr":
		return js.p.is(i+1, ".") && listed("write columns rows isTTY", js.p.at(i+2).s)
	case t.s == "write":
		return js.p.is(i-4, "process", ".", "stdout", ".") || js.p.is(i-4, "process", ".", "stderr", ".")
	case t.s == "exec": // of a pattern
		return true
	}
	for _, verb := range [...]string{"write", "append", "unlink", "rm", "mkdir", "rename", "copy", "cp", "create", "spawn", "exec", "fork", "open", "truncate", "ftruncate", "chmod", "chown", "symlink", "link", "utimes", "kill", "chdir"} {
		if strings.HasPrefix(t.s, verb) {
			return false // no method of a value that a program can reach, to be sure
		}
	}
	return true
}

// require accepts a module, if a member of it or its declaration follows, and
// a file of data.
func (js *node) require(i int) bool {
	if !js.p.is(i+1, "(") || js.p.at(i+2).kind != text || js.p.at(i+2).mark == "`" || !js.p.is(i+3, ")") {
		return false
	}
	module := js.p.at(i + 2).s
	if strings.HasPrefix(module, ".") {
		return strings.HasSuffix(module, ".json") && !strings.Contains(module, `\`)
	}
	members, ok := jsModule(module)
	if !ok {
		return false
	}
	if js.p.is(i+4, ".") {
		return listed(members, js.p.at(i+5).s)
	}
	_, whole := js.required(i)
	if !whole || !js.p.is(i-1, "=") {
		return false
	}
	switch before := js.p.at(i - 2); {
	case before.kind == name:
		return js.modules[before.s] != "" && (js.p.is(i-3, "const") || js.p.is(i-3, "let") || js.p.is(i-3, "var"))
	case before.kind == sign && before.s == "}":
		if !js.p.is(before.match-1, "const") {
			return false
		}
		for _, member := range js.p[before.match+1 : i-2] {
			if !(member.kind == name && listed(members, member.s) || member.kind == sign && member.s == ",") {
				return false
			}
		}
		return true
	}
	return false
}

// jsReadFile accepts readFileSync where it is called without options, which
// could say that it opens to write, and where it is taken from its module.
func jsReadFile(p program, i int) bool {
	if p.is(i+1, ",") || p.is(i+1, "}") {
		for i < len(p) && (p[i].kind == name || p.is(i, ",")) {
			i++
		}
		return p.is(i, "}", "=", "require") && p.is(p[i].match-1, "const")
	}
	if !p.is(i+1, "(") {
		return false
	}
	args := p.arguments(i + 1)
	for _, arg := range args {
		if arg.is(0, "...") {
			return false
		}
	}
	switch len(args) {
	case 1:
		return true
	case 2:
		return len(args[1]) == 1 && args[1][0].kind == text && args[1][0].mark != "`"
	}
	return false
}

// text judges a string or a pattern: a key that leads to code may not be
// written as one.
func (js *node) text(i int) bool {
	t := js.p[i]
	key := js.p.is(i+1, ":") || js.p.is(i-1, "[") && js.p.is(i+1, "]")
	return !key || !listed(jsNeverMember, t.s) && !strings.Contains(t.s, `\`)
}

// sign refuses keys that are known only at run time.
func (js *node) sign(i int) bool {
	t := js.p[i]
	if t.s != "[" {
		return true
	}
	if !jsOperand(js.p, i-1) {
		return !js.p.is(t.match+1, ":") // { [key]: x }
	}
	switch inner := js.p[i+1 : t.match]; len(inner) {
	case 1:
		return inner[0].kind == number || inner[0].kind == text && inner[0].mark != "`" && inner[0].mark != "/"
	case 5:
		return inner.is(1, ".", "length", "-") && inner[4].kind == number
	}
	return false
}

// jsOperand reports whether the token at i ends an operand.
func jsOperand(p program, i int) bool {
	switch t := p.at(i); t.kind {
	case name:
		return p.is(i-1, ".") || p.is(i-1, "?.") || !listed(jsOperators, t.s) && !listed("const let var of", t.s)
	case number, text:
		return true
	case sign:
		return t.s == ")" || t.s == "]" || t.s == "}" || t.s == "?."
	}
	return false
}
