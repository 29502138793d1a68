package snippet

import "strings"

const (
	// rbWords are the words and functions that a program may begin an
	// expression with.
	rbWords = "puts print p pp printf format sprintf if unless else elsif while until and or not do end then true false nil return next break begin rescue ensure case when in for BEGIN END gets readlines chomp sub gsub " +
		"Integer Float String Array Hash rand exit require sleep loop lambda proc abort"
	rbConstants = "File Dir JSON ENV ARGV ARGF STDIN Time Date DateTime Math Set Hash Array String Integer Float Regexp Range Struct Comparable RUBY_VERSION RUBY_PLATFORM RUBY_PATCHLEVEL RUBY_ENGINE " +
		"Digest SHA256 MD5 SHA1 YAML CSV StandardError ArgumentError JSON ParserError PI E INFINITY"
	rbLibraries = "json set date time digest csv yaml pp english bigdecimal"
	// rbMembers may stand after a dot. What takes the name of a method as a
	// value is judged by its form.
	rbMembers = "each each_with_index each_with_object each_line each_char each_slice each_cons each_key each_value each_pair each_byte map flat_map collect select filter filter_map reject find detect find_index " +
		"sum min max minmax min_by max_by sort sort_by sort! uniq count size length first last take take_while drop drop_while reverse rotate zip group_by partition tally chunk_while compact flatten join " +
		"push pop shift unshift insert concat include? any? all? none? one? empty? nil? zero? positive? negative? even? odd? is_a? key? has_key? value? member? start_with? end_with? match match? between? " +
		"keys values to_a to_s to_i to_f to_h to_sym to_r to_c to_json inspect dig fetch slice except merge invert transform_values transform_keys sort_by! delete delete_if with_index times upto downto step " +
		"upcase downcase capitalize swapcase strip lstrip rstrip chomp chop chars bytes lines split gsub sub tr gsub! sub! squeeze center ljust rjust index rindex scan succ next ord chr hex oct unpack unpack1 pack " +
		"encoding force_encoding encode unicode_normalize valid_encoding? ascii_only? freeze dup " +
		"upcase! downcase! strip! chomp! capitalize! reverse! map! select! reject! uniq! compact! flatten! " +
		"abs ceil floor round divmod pow gcd lcm digits fdiv sqrt log log2 log10 sin cos tan hypot cbrt " +
		"now today year month day hour min sec wday yday strftime iso8601 parse strptime " +
		"read readlines exist? file? directory? basename dirname extname size zero? readable? executable? symlink? join expand_path realpath mtime ctime stat " +
		"hexdigest headers by_col gets each_entry product combination permutation cycle lazy " +
		"message class name"
	// rbOfFile are what File may be asked for.
	rbOfFile = "exist? file? directory? basename dirname extname size zero? readable? executable? symlink? join expand_path realpath mtime ctime stat empty?"
	// rbNever are names that no variable of a program may have, since with
	// arguments after it the name is a call all the same.
	rbNever = "system exec spawn fork open eval instance_eval class_eval module_eval instance_exec class_exec send public_send method load autoload require_relative syscall test trap binding " +
		"define_method define_singleton_method at_exit callcc set_trace_func trace_var select putc IO Kernel Process Object BasicObject Module Class FileUtils Tempfile Pathname ObjectSpace GC Signal " +
		"Socket Open3 PTY Gem Bundler RubyVM Marshal Fiddle Thread Ractor undef alias class module include extend self super yield refine using instance_variable_set const_get remove_method"
	// rbBefore are words after which a slash begins a pattern.
	rbBefore = "if unless while until and or not when in return elsif then do else"
)

// Ruby reports whether a program in Ruby only reads.
func Ruby(code string) bool {
	if !plain(code) || strings.HasPrefix(code, "=") {
		return false
	}
	p, ok := rbScan(code, 0)
	if !ok || !p.pair() {
		return false
	}
	bound := map[string]bool{"_1": true, "it": true}
	for i, t := range p {
		if t.kind != name {
			continue
		}
		switch next := p.at(i + 1); {
		case next.kind == sign && (next.s == "=" || next.s == "+=" || next.s == "-=" || next.s == "||=" || next.s == "*="), p.is(i-1, "def"), p.is(i-1, "for"), p.is(i-1, "=>") && !p.is(i+1, "."):
			bound[t.s] = true
		case p.is(i-1, "|") || p.is(i+1, "|") || p.is(i-1, ",") || p.is(i+1, ","):
			// A parameter of a block, or of an assignment to several.
			bound[t.s] = bound[t.s] || rbParameter(p, i)
		}
	}
	for i := range p {
		if p.is(i-2, "def") && p.is(i, "(") {
			for _, t := range p[i+1 : p[i].match] {
				bound[t.s] = bound[t.s] || t.kind == name
			}
		}
	}
	for variable := range bound {
		if listed(rbNever, variable) {
			return false
		}
	}
	for i, t := range p {
		ok := true
		switch {
		case t.kind == name:
			ok = rbName(p, i, bound)
		case t.kind == sign && t.s == "&":
			// &:name calls a method by its name.
			ok = p.at(i+1).kind != name || p.is(i-1, "|")
		}
		if !ok {
			return false
		}
	}
	return true
}

// rbParameter reports whether the name at i stands between the bars of a block.
func rbParameter(p program, i int) bool {
	open := i
	for open > 0 && (p[open].kind == name || p.is(open, ",") || p.is(open, "(") || p.is(open, ")") || p.is(open, "*")) {
		open--
	}
	return p.is(open, "|") && (p.is(open-1, "{") || p.is(open-1, "do"))
}

func rbName(p program, i int, bound map[string]bool) bool {
	word, owner := p[i].s, p.at(i-2)
	if strings.HasPrefix(word, "__") {
		return false
	}
	if p.is(i-1, ".") || p.is(i-1, "&.") {
		switch word {
		case "reduce", "inject":
			return p.is(i+1, "(", ":") && p.at(i+3).kind == sign && p.is(i+4, ")") || p.is(i+1, "{") || p.is(i+1, "do") ||
				p.is(i+1, "(") && p.at(i+2).kind == number && p.is(i+3, ")") && (p.is(i+4, "{") || p.is(i+4, "do"))
		case "new":
			return owner.kind == name && listed("Set Hash Array String Range", owner.s)
		case "write", "puts", "print":
			return owner.kind == name && (owner.s == "$stdout" || owner.s == "$stderr")
		}
		if owner.kind == name {
			switch owner.s {
			case "File":
				return listed("read readlines foreach open", word) && rbOpens(p, i+1) || listed(rbOfFile, word)
			case "Dir":
				return listed("glob children entries pwd exist? empty? home", word)
			case "JSON":
				return listed("parse generate pretty_generate", word)
			case "YAML":
				return word == "safe_load"
			case "CSV":
				return listed("parse parse_line", word)
			}
		}
		return listed(rbMembers, word)
	}
	switch {
	case p.is(i-1, ":") && !p[i].space && !p.is(i-2, ":"): // a symbol, which may be called
		return listed(rbMembers, word)
	case p.is(i-1, "def"):
		return !listed(rbMembers, word) && !listed(rbWords, word)
	case p.is(i-2, ":", ":"):
		return listed("SHA256 MD5 SHA1 PI E INFINITY ParserError", word)
	case p.is(i+1, ":") && !p.at(i+1).space && !p.is(i+2, ":"): // a key
		return !listed(rbNever, word)
	case word == "require":
		library := p.at(i + 1)
		if library.s == "(" {
			library = p.at(i + 2)
		}
		return library.kind == text && listed(rbLibraries, library.s)
	case word == "File" || word == "JSON" || word == "YAML" || word == "CSV":
		return p.is(i+1, ".") || p.is(i+1, ":", ":")
	case word == "Dir":
		return p.is(i+1, ".") || p.is(i+1, "[")
	case strings.HasPrefix(word, "$"):
		return listed("$_ $. $stdin $stdout $stderr $0 $1 $2 $3 $4 $~ $< $,", word) && !p.is(i+1, "=")
	case word == "def":
		return true
	}
	return bound[word] || listed(rbWords, word) || listed(rbConstants, word)
}

// rbOpens reports whether what File opens is one name that is written out. One
// that begins with a bar is a command to old versions.
func rbOpens(p program, i int) bool {
	after := i + 1
	if p.is(i, "(") {
		i++
		if after = i + 1; !p.is(after, ")") {
			return false
		}
	} else if end := p.at(after); end.kind == sign && end.s != ")" && end.s != "}" && end.s != ";" || end.kind == name || end.kind == text {
		return false
	}
	return p.at(i).kind == text && !strings.Contains(p.at(i).s, "|") && !strings.Contains(p.at(i).s, "\\")
}
