package shell

import "strings"

// judgePager: a + begins a command for the pager.
func judgePager(j *judge, c *call) {
	operands, ok := c.options("", func(option string, _ word) bool {
		return !listed("o O k log-file LOG-FILE lesskey-file lesskey-src lesskey-content lesskey-context", option)
	})
	for _, w := range operands {
		ok = ok && !strings.HasPrefix(w.text, "+") && !w.open
	}
	if !ok {
		j.changes(c.src)
	}
}

func judgeDate(j *judge, c *call) {
	rest := *c
	rest.args = nil
	for _, w := range c.args {
		if !allowed("-I -Idate -Ihours -Iminutes -Iseconds -Ins", w.text) {
			rest.args = append(rest.args, w)
		}
	}
	operands, ok := rest.options("dfr", func(option string, _ word) bool { return !listed("s set", option) })
	for _, w := range operands {
		ok = ok && strings.HasPrefix(w.text, "+")
	}
	if !ok {
		j.changes(c.src)
	}
}

func judgeDD(j *judge, c *call) {
	for _, w := range c.args {
		key, value, ok := strings.Cut(w.text, "=")
		switch {
		case w.open || !ok || strings.ContainsAny(key, "*?["):
			j.changes(c.src)
		case key == "of":
			out := w
			out.text = value
			if !sink(out) {
				j.writes(c.src, out, false)
			}
		}
	}
}

func judgeTee(j *judge, c *call) {
	operands, ok := c.options("", func(option string, _ word) bool { return allowed("a i p append ignore-interrupts", option) })
	if !ok {
		j.changes(c.src)
	}
	for _, w := range operands {
		if !sink(w) {
			j.writes(c.src, w, false)
		}
	}
}

func judgeMktemp(j *judge, c *call) {
	dry := false
	operands, ok := c.options("p", func(option string, _ word) bool {
		dry = dry || option == "u" || option == "dry-run"
		return allowed("u d q dry-run directory quiet", option) || dry
	})
	switch {
	case dry && ok:
	case ok && len(operands) == 0 && j.env.Temp != "" && !j.assigned("TMPDIR"):
		j.writes(c.src, literal(j.env.Temp+"/tmp.satelle"), true)
	default:
		j.changes(c.src)
	}
}

// judgeCurl allows what fetches and prints. -w can write files as well.
func judgeCurl(j *judge, c *call) {
	const flags = "V s S L I i f v k G 4 6 N g # silent show-error location head include fail fail-with-body verbose insecure get ipv4 ipv6 no-buffer globoff compressed " +
		"http1.1 http2 http3 tlsv1.2 tlsv1.3 no-progress-meter progress-bar"
	const valued = "H A e u m x r header user-agent referer user max-time connect-timeout proxy range url retry retry-delay max-redirs resolve"
	query, data := false, false
	_, ok := c.options("HAeumxrowXzd", func(option string, value word) bool {
		switch option {
		case "G", "get":
			query = true
		case "d", "data", "data-urlencode":
			data = true
			return true
		case "o", "output":
			return value.known && (value.text == "/dev/null" || value.text == "-")
		case "w", "write-out":
			return value.known && !strings.Contains(value.text, "%output") && !strings.HasPrefix(value.text, "@")
		case "X", "request":
			return value.known && (value.text == "GET" || value.text == "HEAD")
		}
		return allowed(flags, option) || allowed(valued, option)
	})
	for _, w := range c.args {
		// A long option's value as a word of its own would be an operand here;
		// after these two that would hide a file.
		ok = ok && w.text != "--output" && w.text != "--write-out" && w.text != "--request"
	}
	if !ok || data && !query {
		j.changes(c.src)
	}
}

func judgeTar(j *judge, c *call) {
	args := c.args
	if len(args) > 0 && args[0].known && !strings.HasPrefix(args[0].text, "-") {
		if i := strings.IndexAny(args[0].text, "fCXb"); i >= 0 && i < len(args[0].text)-1 {
			j.changes(c.src) // the letters after it would take further words
			return
		}
		args = append([]word{literal("-" + args[0].text)}, args[1:]...) // the old style
	}
	list, extract, stdout := false, false, false
	old := *c
	old.args = args
	_, ok := old.options("fCXb", func(option string, _ word) bool {
		switch option {
		case "t", "list":
			list = true
		case "x", "extract", "get":
			extract = true
		case "O", "to-stdout":
			stdout = true
		default:
			return allowed("z j J v f C X b Z a file gzip bzip2 xz zstd verbose directory exclude strip-components wildcards full-time numeric-owner", option)
		}
		return true
	})
	if !ok || list == extract || extract && !stdout {
		j.changes(c.src)
	}
}

func judgeUnzip(j *judge, c *call) {
	reads := false
	_, ok := c.options("xP", func(option string, _ word) bool {
		reads = reads || allowed("l p t v Z z c", option)
		return allowed("l p t v Z z c q x 1 2 s h m C P a", option)
	})
	if !ok || !reads {
		j.changes(c.src)
	}
}

// judgeGzip lets no option pass that names a file, or takes the input away.
func judgeGzip(j *judge, c *call) {
	prints := strings.HasSuffix(c.name, "cat")
	reads, expands := prints, false
	operands, ok := c.options("", func(option string, _ word) bool {
		reads = reads || allowed("c l t stdout to-stdout list test", option)
		prints = prints || allowed("c stdout to-stdout", option)
		expands = expands || allowed("d decompress uncompress", option) // the last of -t and -d decides
		return allowed("T 0 c l t d k v q f n N r stdout to-stdout list test decompress uncompress keep verbose quiet 1 2 3 4 5 6 7 8 9", option)
	})
	if !ok || expands && !prints && count(operands) != 0 || !reads && count(operands) != 0 {
		j.changes(c.src)
	}
}

// opensslShown are options with which a certificate, a request or a key is
// shown; others of the commands' options write files.
const opensslShown = "-noout -text -subject -issuer -dates -startdate -enddate -serial -fingerprint -sha256 -sha1 -pubkey -purpose -email -hash -modulus -check -verify -nameopt -pubin -pubcheck"

func judgeOpenssl(j *judge, c *call) {
	command := ""
	if len(c.args) > 0 && c.args[0].known {
		command = c.args[0].text
	}
	ok := true
	switch command {
	case "x509", "req", "rsa", "ec", "pkey", "crl":
		for i := 1; i < len(c.args); i++ {
			w := c.args[i]
			switch {
			case w.known && allowed("-in -inform -ext -checkend", w.text) && i+1 < len(c.args) && !c.args[i+1].many:
				i++
			case !w.known || !allowed(opensslShown, w.text):
				ok = false
			}
		}
	case "rand":
		for _, w := range c.args[1:] {
			ok = ok && w.known && (isNumber(w.text) && w.text[0] != '-' || w.text == "-hex" || w.text == "-base64")
		}
	case "s_client":
		for i := 1; i < len(c.args); i++ {
			w := c.args[i]
			switch {
			case w.known && allowed("-connect -servername -starttls", w.text) && i+1 < len(c.args) && !c.args[i+1].many:
				i++
			case !w.known || !allowed("-showcerts -brief -tls1_2 -tls1_3 -verify_quiet -quiet -ign_eof -status", w.text):
				ok = false
			}
		}
	case "dgst", "version", "list", "ciphers", "md5", "sha1", "sha256", "sha512", "asn1parse", "errstr", "prime":
		for _, w := range c.args[1:] {
			option := strings.TrimLeft(w.text, "-")
			for _, writes := range [...]string{"out", "sign", "engine", "provider", "writerand", "config", "strictpem", "noout"} {
				ok = ok && !w.open && !(strings.HasPrefix(w.text, "-") && strings.HasPrefix(option, writes))
			}
		}
	default:
		ok = false
	}
	if !ok {
		j.changes(c.src)
	}
}

func judgePatch(j *judge, c *call) {
	dry := false
	operands, ok := c.options("pidF", func(option string, _ word) bool {
		dry = dry || option == "dry-run"
		return allowed("dry-run p i R N s l u E f t F verbose strip input reverse forward silent quiet batch force", option)
	})
	if !ok || !dry || count(operands) < 0 {
		j.changes(c.src)
	}
}

func judgeRsync(j *judge, c *call) {
	dry := false
	_, ok := c.options("f", func(option string, _ word) bool {
		dry = dry || option == "n" || option == "dry-run"
		return allowed("n a v r z h i u c t p o g l H A X P q x m C f dry-run archive verbose recursive compress human-readable itemize-changes stats delete "+
			"exclude include filter exclude-from include-from checksum progress update size-only", option)
	})
	for _, w := range c.args { // the value as a word of its own could be the -n that is looked for
		ok = ok && !allowed("--exclude --include --filter --exclude-from --include-from", w.text)
	}
	if !ok || !dry {
		j.changes(c.src)
	}
}

func judgeCompiler(j *judge, c *call) {
	syntaxOnly := false
	ok := true
	for _, w := range c.args {
		switch {
		case w.text == "-fsyntax-only":
			syntaxOnly = true
		case w.open || strings.HasPrefix(w.text, "@"):
			ok = false
		case strings.HasPrefix(w.text, "-"):
			ok = ok && w.known && (strings.HasPrefix(w.text, "-W") && !strings.Contains(w.text, ",") || strings.HasPrefix(w.text, "-I") ||
				strings.HasPrefix(w.text, "-std=") || strings.HasPrefix(w.text, "-x") || strings.HasPrefix(w.text, "-D"))
		}
	}
	if !(ok && syntaxOnly) && !oneOf(c, "-v", "-dumpversion", "-dumpmachine") {
		j.changes(c.src)
	}
}

// versionOnly reports whether a program is asked for nothing but its version
// or its help.
func versionOnly(c *call) bool { return oneOf(c, "--version", "--help") }

func oneOf(c *call, options ...string) bool {
	if len(c.args) != 1 || !c.args[0].known {
		return false
	}
	for _, option := range options {
		if c.args[0].text == option && option != "" {
			return true
		}
	}
	return false
}

// judgeXxd: the second operand is an output file. It reads its options itself:
// words, of which the first letter counts, and none after the first operand.
func judgeXxd(j *judge, c *call) {
	rest := c.args
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "-" {
		w := rest[0]
		rest = rest[1:]
		letter, value := w.text[1:min(2, len(w.text))], ""
		if len(w.text) > 2 {
			value = w.text[2:]
		}
		switch {
		case w.text == "--":
			if n := count(rest); n < 0 || n > 1 {
				j.changes(c.src)
			}
			return
		case w.known && (allowed("a b C d e E i p r u", letter) && value == "" || w.text == "-ps" || w.text == "-plain"):
		case w.known && strings.Contains("cgosl", letter) && isNumber(value):
		case w.known && strings.Contains("cgosl", letter) && value == "" && len(rest) > 0 && !rest[0].many:
			rest = rest[1:]
		default:
			j.changes(c.src)
			return
		}
	}
	if n := count(rest); n < 0 || n > 1 || n == 1 && rest[0].open {
		j.changes(c.src)
	}
}

func judgeGofmt(j *judge, c *call) {
	for _, w := range c.args {
		if w.open || strings.HasPrefix(w.text, "-") && !allowed("-l -d -s -e", w.text) {
			j.changes(c.src)
		}
	}
}

// judgeArchive lists or prints with letters that may follow a dash.
func judgeArchive(j *judge, c *call) {
	ok := len(c.args) > 1
	for i, w := range c.args {
		letters := strings.TrimPrefix(w.text, "-")
		switch {
		case c.name == "cpio":
			ok = ok || len(c.args) == 1
			ok = ok && w.known && strings.HasPrefix(w.text, "-") && strings.Trim(letters, "itvn") == "" && (i > 0 || strings.Contains(letters, "t"))
		case i == 0:
			ok = ok && w.known && strings.Trim(letters, "tpvO") == "" && letters != ""
		default:
			ok = ok && !w.open && !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "@")
		}
	}
	if !ok {
		j.changes(c.src)
	}
}

// judgeXMLLint: its options may begin with one dash.
func judgeXMLLint(j *judge, c *call) {
	for _, w := range c.args {
		if w.open || strings.HasPrefix(w.text, "-") && !(w.known && allowed("noout format valid xpath schema relaxng dtdvalid encode recover nonet huge noblanks html c14n version nowarning", strings.TrimLeft(w.text, "-"))) {
			j.changes(c.src)
		}
	}
}

// judgePDF: the second operand is an output file.
func judgePDF(j *judge, c *call) {
	operands, ok := c.options("flxyWH", func(option string, _ word) bool { return option != "b" })
	if !ok || c.name == "pdftotext" && (len(operands) != 2 || operands[1].text != "-") {
		j.changes(c.src)
	}
}

func judgeObject(j *judge, c *call) {
	_, ok := c.options("", func(option string, _ word) bool { return !listed("plugin", option) })
	for _, w := range c.args {
		ok = ok && !w.open && !strings.HasPrefix(w.text, "@")
	}
	if !ok {
		j.changes(c.src)
	}
}

// judgeWget allows what fetches a page and prints it, or throws it away.
func judgeWget(j *judge, c *call) {
	prints := false
	_, ok := c.options("OTtU", func(option string, value word) bool {
		switch option {
		case "O":
			prints = value.known && (value.text == "-" || value.text == "/dev/null")
			return prints
		case "spider":
			prints = true
			return true
		}
		return allowed("q S T t U quiet server-response timeout tries user-agent header no-verbose no-check-certificate max-redirect", option)
	})
	for _, w := range c.args {
		ok = ok && !allowed("--timeout --tries --user-agent --header --max-redirect", w.text) // the value must not hide a word
	}
	if !ok || !prints {
		j.changes(c.src)
	}
}

func judgeHistory(j *judge, c *call) {
	if len(c.args) > 1 || len(c.args) == 1 && !(c.args[0].known && isNumber(c.args[0].text) && c.args[0].text[0] != '-') {
		j.changes(c.src)
	}
}
