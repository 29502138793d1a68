package shell

import "strings"

// sqliteReads: without -readonly a file may come into being, or be recovered.
func sqliteReads(_ *judge, c *call) bool {
	if oneOf(c, "-version") {
		return true
	}
	var operands []word
	readonly := false
	for _, w := range c.args {
		switch option := strings.TrimLeft(w.text, "-"); {
		case !w.known || w.open:
			return false
		case !strings.HasPrefix(w.text, "-"):
			operands = append(operands, w)
		case option == "readonly":
			readonly = true
		case !allowed("batch bail column csv header noheader html json line list markdown table box tabs quote ascii", option):
			return false
		}
	}
	return readonly && len(operands) == 2 && !strings.HasPrefix(operands[0].text, "file:") && queries(operands[1].text)
}

// queries reports whether a text is one plain query in SQL, or a command of
// the program that shows what is there.
func queries(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, ".") {
		return allowed(".tables .schema .databases .indexes .indices", text)
	}
	text = strings.ToLower(strings.TrimSpace(strings.TrimSuffix(text, ";")))
	if strings.ContainsAny(text, ";\x00\n\\`") || !strings.HasPrefix(text, "select ") && !strings.HasPrefix(text, "show ") {
		return false
	}
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	// What a query calls must be a function that computes, by its plain name.
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, "(")
		if !ok {
			break
		}
		before = strings.TrimSpace(before)
		if before == "" || strings.IndexByte(`"]'/`, before[len(before)-1]) >= 0 {
			return false
		}
		words := strings.FieldsFunc(before, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
		if n := len(words); n > 0 && strings.HasSuffix(before, words[n-1]) &&
			!allowed("count sum avg min max total abs length lower upper round coalesce ifnull substr trim in exists and or not where from select on by as date datetime strftime julianday group_concat distinct over like between join values", words[n-1]) {
			return false
		}
		rest = after
	}
	for _, word := range []string{"--", "/*", "writefile", "load_extension", "edit", "readfile", "into", "pragma", "attach", "fts"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// sqlReads judges one query that is given as an option's value.
func sqlReads(_ *judge, c *call) bool {
	query, value, flags := "c", "chpUd", "A t q x X w W l h p U d"
	if c.name != "psql" {
		query, value, flags = "e", "ehPuD", "t N B s h P u D H X"
	}
	if oneOf(c, "-V") || c.name == "psql" && oneOf(c, "-l", "--list") {
		return true
	}
	asked := false
	_, ok := c.options(value, func(option string, of word) bool {
		if option == query {
			asked = true
			return of.known && queries(of.text)
		}
		return allowed(flags, option)
	})
	return ok && asked
}
