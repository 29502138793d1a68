package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fields are the `key: value` lines of a front matter or of a section, each key
// at most once and only where it is known. Their typed readers report what is
// no such value and then give the zero value.
type fields struct {
	report *report
	file   string
	line   int // of the heading: where to report what is not there
	where  place
	values map[string]field
}

type field struct {
	value string
	line  int
}

func newFields(r *report, file string, at int, where place) *fields {
	return &fields{report: r, file: file, line: at, where: where, values: map[string]field{}}
}

// keyValue takes a line apart.
func keyValue(text string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, ":")
	key = strings.TrimSpace(key)
	if !ok || key == "" || strings.ContainsAny(key, " \t") {
		return "", "", false
	}
	return key, strings.TrimSpace(value), true
}

// take adds a line, or reports why it is none of these fields.
func (f *fields) take(l line) {
	key, value, ok := keyValue(l.trimmed())
	switch {
	case !ok:
		f.problem(l.no, fmt.Sprintf("`%s` is no line of %s", clip(l.trimmed()), f.where.what()), f.where.form())
	case !slices.Contains(placeKeys[f.where], key):
		f.problem(l.no, fmt.Sprintf("unknown key `%s` in %s", clip(key), f.where.what()), keyMend(f.where, key))
	case f.has(key) && !(f.where == inLane && key == "advisor"):
		f.problem(l.no, fmt.Sprintf("the key `%s` is here twice, first in line %d", key, f.values[key].line), "keep one of the two")
	case value == "":
		f.problem(l.no, fmt.Sprintf("the key `%s` has no value", key), "give it one, or delete the line")
	case f.has(key):
		f.values[key] = field{f.values[key].value + "," + value, l.no}
	default:
		f.values[key] = field{value, l.no}
	}
}

func (f *fields) problem(at int, what, mend string) { f.report.add(f.file, at, what, mend) }

func (f *fields) has(key string) bool { _, ok := f.values[key]; return ok }

// at is the line of a key, or of the heading if the key is not there.
func (f *fields) at(key string) int {
	if v, ok := f.values[key]; ok {
		return v.line
	}
	return f.line
}

// text reads a value as it stands, without the quotes that some put around it.
func (f *fields) text(key string) string {
	v := f.values[key].value
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		v = v[1 : n-1]
	}
	return v
}

// name reads one name.
func (f *fields) name(key string) string {
	v := f.text(key)
	if f.has(key) && !validName(v) {
		f.problem(f.at(key), fmt.Sprintf("`%s` is no name for `%s`", clip(v), key), nameMend)
		return ""
	}
	return v
}

// oneOf reads one of a few words.
func (f *fields) oneOf(key, absent string, words ...string) string {
	if !f.has(key) {
		return absent
	}
	v := f.text(key)
	if !slices.Contains(words, v) {
		f.problem(f.at(key), fmt.Sprintf("`%s` is no value of `%s`", clip(v), key), "write "+join(words, "or"))
		return absent
	}
	return v
}

// names reads a comma list of names, each at most once.
func (f *fields) names(key string) []string { return f.list(key, validName) }

func (f *fields) list(key string, valid func(string) bool) []string {
	if !f.has(key) {
		return nil
	}
	items := strings.Split(f.values[key].value, ",")
	if len(items) > maxItems {
		f.problem(f.at(key), fmt.Sprintf("`%s` lists %d items", key, len(items)), fmt.Sprintf("keep it at %d", maxItems))
		return nil
	}
	var list []string
	for _, item := range items {
		item = strings.TrimSpace(item)
		switch {
		case item == "":
			f.problem(f.at(key), fmt.Sprintf("`%s` has an empty item", key), "take the extra comma out")
		case !valid(item):
			f.problem(f.at(key), fmt.Sprintf("`%s` is no name for `%s`", clip(item), key), nameMend)
		case slices.Contains(list, item):
			f.problem(f.at(key), fmt.Sprintf("`%s` lists `%s` twice", key, item), "keep one of the two")
		default:
			list = append(list, item)
		}
	}
	return list
}

// flag reads true or false.
func (f *fields) flag(key string, absent bool) bool {
	return f.oneOf(key, strconv.FormatBool(absent), "true", "false") == "true"
}

// number reads a whole number within bounds, nil if the key is absent.
func (f *fields) number(key string, least, most int) *int {
	if !f.has(key) {
		return nil
	}
	v := f.text(key)
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most || v[0] == '+' {
		f.problem(f.at(key), fmt.Sprintf("`%s` is no value of `%s`", clip(v), key), fmt.Sprintf("write a whole number from %d to %d", least, most))
		return nil
	}
	return &n
}

// maxDuration bounds what a file may ask somebody to wait for.
const maxDuration = 24 * time.Hour

// duration reads a time such as 8m or 1h30m, 0 if the key is absent.
func (f *fields) duration(key string) time.Duration {
	if !f.has(key) {
		return 0
	}
	v := f.text(key)
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 || d > maxDuration {
		f.problem(f.at(key), fmt.Sprintf("`%s` is no value of `%s`", clip(v), key), "write a time such as 90s, 8m or 1h30m, more than 0 and at most 24h")
		return 0
	}
	return d
}

// join puts words into a sentence: `a`, `b` or `c`.
func join(words []string, last string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "`" + w + "`"
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " " + last + " " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}
