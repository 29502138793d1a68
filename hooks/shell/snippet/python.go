package snippet

import "strings"

// pyModules are the modules that a program may name, with their members that
// read or compute.
var pyModules = [...]struct{ name, members string }{
	{"ast", "parse dump literal_eval unparse walk"},
	{"base64", "b64encode b64decode b32encode b32decode b16encode b16decode urlsafe_b64encode urlsafe_b64decode standard_b64decode"},
	{"binascii", "hexlify unhexlify crc32 b2a_hex a2b_hex"},
	{"bisect", "bisect bisect_left bisect_right insort"},
	{"calendar", "month calendar monthrange isleap day_name month_name weekday"},
	{"collections", "Counter defaultdict OrderedDict namedtuple deque ChainMap"},
	{"csv", "reader DictReader writer DictWriter QUOTE_ALL QUOTE_MINIMAL excel_tab"},
	{"datetime", "datetime date timedelta timezone time UTC"},
	{"decimal", "Decimal getcontext ROUND_HALF_UP"},
	{"difflib", "unified_diff ndiff context_diff SequenceMatcher get_close_matches"},
	{"fnmatch", "fnmatch filter"},
	{"fractions", "Fraction"},
	{"functools", "reduce partial lru_cache cache cmp_to_key"},
	{"glob", "glob iglob"},
	{"hashlib", "md5 sha1 sha224 sha256 sha384 sha512 blake2b new"},
	{"heapq", "heappush heappop heapify nlargest nsmallest"},
	{"html", "escape unescape"},
	{"importlib.metadata", "version"},
	{"itertools", "chain count cycle repeat accumulate combinations permutations product groupby islice zip_longest takewhile dropwhile starmap tee pairwise"},
	{"json", "load loads dumps dump JSONDecodeError"},
	{"keyword", "kwlist iskeyword"},
	{"math", "sqrt floor ceil pi e tau inf nan log log2 log10 exp pow sin cos tan atan atan2 gcd lcm factorial fabs hypot isclose isnan comb perm prod fsum trunc dist degrees radians"},
	{"operator", "itemgetter add mul sub"},
	{"os", "getcwd listdir walk stat environ getenv sep linesep pathsep curdir name getpid getuid cpu_count uname"},
	{"os.path", "exists isfile isdir islink join basename dirname abspath realpath getsize getmtime splitext split relpath expanduser expandvars normpath isabs commonpath commonprefix sep"},
	{"pathlib", "Path PurePath PurePosixPath"},
	{"pprint", "pprint pformat pp"},
	{"random", "random randint choice choices shuffle sample seed uniform"},
	{"re", "match search fullmatch findall finditer sub subn split compile escape IGNORECASE MULTILINE DOTALL VERBOSE ASCII I M S X A"},
	{"shlex", "split quote join"},
	{"statistics", "mean median mode stdev pstdev variance fmean quantiles"},
	{"string", "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace printable"},
	{"struct", "pack unpack calcsize unpack_from iter_unpack"},
	{"sys", "argv stdin stdout stderr version version_info exit maxsize platform executable getsizeof byteorder prefix base_prefix hexversion flags getdefaultencoding maxunicode float_info getrecursionlimit implementation"},
	{"textwrap", "dedent indent wrap fill shorten"},
	{"time", "time strftime localtime gmtime perf_counter monotonic sleep time_ns ctime mktime"},
	{"tomllib", "load loads"},
	{"unicodedata", "name normalize category lookup east_asian_width"},
	{"urllib.parse", "quote unquote quote_plus unquote_plus urlparse urlsplit parse_qs parse_qsl urlencode urljoin urlunparse"},
	{"uuid", "uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL"},
	{"xml.etree.ElementTree", "parse fromstring tostring iterparse"},
	{"yaml", "safe_load safe_load_all safe_dump"},
	{"zlib", "crc32 adler32 compress decompress"},
}

// pyMembers are what may stand after a dot elsewhere. No object that a program
// can get hold of does harm by one of them.
const pyMembers = "split rsplit splitlines strip lstrip rstrip lower upper title capitalize swapcase casefold startswith endswith find rfind index rindex count " +
	"join format encode decode isdigit isalpha isalnum isspace isupper islower isnumeric isdecimal isidentifier zfill ljust rjust center partition " +
	"rpartition expandtabs translate maketrans removeprefix removesuffix hex fromhex to_bytes from_bytes bit_length bit_count " +
	"append extend insert pop remove sort reverse clear keys values items get setdefault update popitem fromkeys move_to_end most_common elements total subtract " +
	"appendleft popleft rotate add discard union intersection difference symmetric_difference issubset issuperset isdisjoint " +
	"read readline readlines close seek tell buffer flush name encoding " +
	"group groups groupdict start end span pattern string match search fullmatch findall finditer sub subn " +
	"now utcnow today strftime strptime isoformat fromisoformat timestamp fromtimestamp year month day hour minute second microsecond total_seconds days seconds " +
	"weekday isoweekday isocalendar date time utc min max tzinfo astimezone " +
	"hexdigest digest st_size st_mtime st_mode st_ctime st_ino st_uid st_nlink major minor micro releaselevel real imag numerator denominator quantize " +
	"exists is_file is_dir is_symlink read_text read_bytes stem suffix suffixes parent parents parts glob rglob iterdir relative_to resolve as_posix joinpath with_suffix with_name with_stem " +
	"stat home cwd expanduser absolute is_absolute " +
	"fieldnames line_num writerow writerows writeheader dialect " +
	"scheme netloc path query fragment hostname port username geturl " +
	"getroot findtext iter itertext text tag attrib tail ratio quick_ratio get_matching_blocks get_opcodes body args _asdict _fields msg lineno value id " +
	"node sysname release machine prec int bytes"

// pySafe are the builtin names that a program may use, and pyUnsafe the others
// of all versions. Names that are neither are the program's own, or nothing.
const (
	pySafe = "print len range sum min max sorted reversed enumerate zip map filter any all abs round int float str bytes bytearray bool list dict set tuple frozenset " +
		"ord chr hex oct bin repr ascii format isinstance issubclass callable iter next divmod pow hash id slice complex type object " +
		"True False None NotImplemented Ellipsis __name__ Exception BaseException ValueError TypeError KeyError IndexError AttributeError NameError OSError IOError " +
		"FileNotFoundError PermissionError UnicodeDecodeError ZeroDivisionError StopIteration RuntimeError AssertionError ImportError ModuleNotFoundError KeyboardInterrupt SystemExit " +
		"NotImplementedError OverflowError RecursionError ArithmeticError LookupError EOFError UnicodeError exit quit"
	pyUnsafe = "eval exec compile execfile input raw_input getattr setattr delattr globals locals vars dir breakpoint help file reload apply intern buffer coerce " +
		"memoryview super property classmethod staticmethod copyright credits license aiter anext unicode unichr xrange long basestring cmp reduce"
	pyKeywords = "and or not in is if elif else for while break continue pass return lambda def class try except finally raise with as assert del global nonlocal yield"
)

// Python reports whether a program in Python only reads.
func Python(code string) bool {
	if !plain(code) {
		return false
	}
	py := python{modules: map[string]string{}}
	return py.reads(code, 0) && !(py.paths && py.clash)
}

type python struct {
	modules map[string]string // what the program calls the modules that it imports
	paths   bool              // it can name paths as objects, some methods of which are called like those of strings
	clash   bool              // it calls such a method
}

func (py *python) reads(code string, depth int) bool {
	if depth > maxDepth {
		return false
	}
	p, ok := pyScan(code)
	if !ok || !p.pair() {
		return false
	}
	// A function may use what a later line imports.
	for i := 0; i < len(p); i++ {
		if t := p[i]; t.kind == name && !p.is(i-1, ".") {
			switch {
			case t.s == "import":
				i, ok = py.imports(p, i)
			case t.s == "from" && starts(p.at(i-1)):
				i, ok = py.importsFrom(p, i)
			}
			if !ok {
				return false
			}
		}
	}
	for i := 0; i < len(p); i++ {
		switch t := p[i]; {
		case t.kind == text && strings.Contains(t.mark, "f"):
			ok = py.formatted(t.s, depth)
		case t.kind == name && (t.s == "import" || t.s == "from" && starts(p.at(i-1))) && !p.is(i-1, "."):
			for !starts(p.at(i + 1)) {
				i++
			}
		case t.kind == name:
			i, ok = py.name(p, i)
		}
		if !ok {
			return false
		}
	}
	return true
}

// name judges the name at i, and returns the last token that belongs to it.
func (py *python) name(p program, i int) (int, bool) {
	word, before := p[i].s, p.at(i-1)
	switch {
	case strings.Contains(word, "__") && word != "__name__":
		return i, false
	case before.kind == sign && before.s == ".":
		return i, py.member(p, i)
	case word == "open":
		return i, pyOpens(p, i+1)
	case py.modules[word] != "":
		return py.ofModule(p, i, py.modules[word])
	case listed(pyUnsafe, word):
		return i, false
	}
	return i, true
}

// starts reports whether a statement starts after a token.
func starts(before token) bool {
	return before.kind == end || before.kind == line || before.kind == sign && (before.s == ";" || before.s == ":")
}

func pyModule(module string) (members string, ok bool) {
	for _, m := range pyModules {
		if m.name == module {
			return m.members, true
		}
	}
	return "", false
}

// member judges a name after a dot that follows no module.
func (py *python) member(p program, i int) bool {
	word := p[i].s
	switch word {
	case "replace", "copy": // a path has methods of these names
		py.clash = true
		return true
	case "write":
		return p.is(i-4, "sys", ".", "stdout", ".") || p.is(i-4, "sys", ".", "stderr", ".")
	}
	return listed(pyMembers, word)
}

// ofModule judges a name that stands for a module.
func (py *python) ofModule(p program, i int, module string) (int, bool) {
	if assigned := p.at(i + 1); assigned.kind == sign && assigned.s == "=" {
		return i, false
	}
	for p.is(i+1, ".") && p.at(i+2).kind == name {
		members, _ := pyModule(module)
		member := p.at(i + 2).s
		if listed(members, member) {
			return i + 2, true
		}
		module += "." + member
		i += 2
		if _, ok := pyModule(module); !ok && module != "xml.etree" {
			return i, false
		}
	}
	return i, false // the module itself is a value here
}

// dotted reads the name of a module.
func dotted(p program, i int) (module string, last int) {
	module = p.at(i).s
	for p.is(i+1, ".") && p.at(i+2).kind == name {
		module += "." + p.at(i+2).s
		i += 2
	}
	return module, i
}

// imports judges "import a, b.c as d".
func (py *python) imports(p program, i int) (int, bool) {
	if !starts(p.at(i - 1)) {
		return i, false
	}
	for {
		i++
		if p.at(i).kind != name {
			return i, false
		}
		var module string
		module, i = dotted(p, i)
		if _, ok := pyModule(module); !ok {
			return i, false
		}
		py.paths = py.paths || module == "pathlib"
		if p.is(i+1, "as") {
			if i += 2; p.at(i).kind != name || !py.bind(p.at(i).s, module) {
				return i, false
			}
		} else {
			top, _, _ := strings.Cut(module, ".")
			if !py.bind(top, top) {
				return i, false
			}
		}
		if !p.is(i+1, ",") {
			return i, starts(p.at(i+1)) || p.at(i+1).kind == end
		}
		i++
	}
}

// bind gives a module a name, which may have no other meaning.
func (py *python) bind(alias, module string) bool {
	if listed(pySafe, alias) || listed(pyKeywords, alias) || py.modules[alias] != "" && py.modules[alias] != module {
		return false
	}
	py.modules[alias] = module
	return true
}

// importsFrom judges "from a import b, c".
func (py *python) importsFrom(p program, i int) (int, bool) {
	if p.at(i+1).kind != name {
		return i, false
	}
	module, i := dotted(p, i+1)
	members, ok := pyModule(module)
	if !ok || !p.is(i+1, "import") {
		return i, false
	}
	py.paths = py.paths || module == "pathlib"
	i++
	bracket := p.is(i+1, "(")
	if bracket {
		i++
	}
	for {
		i++
		word := p.at(i).s
		if p.at(i).kind != name {
			return i, false
		}
		submodule := module + "." + word
		_, isModule := pyModule(submodule)
		alias := word
		if p.is(i+1, "as") {
			i += 2
			alias = p.at(i).s
		}
		switch {
		case isModule:
			ok = py.bind(alias, submodule)
		default:
			ok = listed(members, word) && py.modules[alias] == "" && alias != "open"
		}
		if !ok {
			return i, false
		}
		if !p.is(i+1, ",") {
			break
		}
		i++
	}
	if bracket {
		i++
		return i, p.is(i, ")")
	}
	return i, starts(p.at(i + 1))
}

// pyOpens reports whether the call of open whose bracket is at i opens to read.
func pyOpens(p program, i int) bool {
	if !p.is(i, "(") {
		return false
	}
	for n, arg := range p.arguments(i) {
		switch {
		case len(arg) == 0:
			return false
		case arg.is(0, "*") || arg.is(0, "**"):
			return false
		case arg.at(1).s == "=" && arg.at(1).kind == sign:
			value := len(arg) == 3 && arg.at(2).kind == text
			if !value || !(listed("encoding errors newline", arg[0].s) || arg[0].s == "mode" && pyReadMode(arg[2])) {
				return false
			}
		case n == 1:
			if len(arg) != 1 || !pyReadMode(arg[0]) {
				return false
			}
		case n > 1:
			return false
		}
	}
	return true
}

func pyReadMode(t token) bool {
	return t.kind == text && t.mark == "" && listed("r rb rt br", t.s)
}
