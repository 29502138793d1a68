package decide

import (
	"os"
	"slices"
	"strings"
)

// Bounds of what a session is told of the principles: the rest it can read.
const (
	maxPrinciples = 12
	maxHead       = 4 << 10 // bytes of a principle that are looked at
)

// principles lists those of a work tree, a line each: title, description and
// file. "" if there are none.
func principles(tree string) string {
	folder := tree + "/.satelle/principles"
	dir, err := os.Open(folder)
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(8 * maxPrinciples) // what can't be listed can't be told
	slices.Sort(names)
	text, told := "", 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		title, about, ok := head(folder + "/" + name)
		if !ok {
			continue
		}
		if told++; told > maxPrinciples {
			return text + "\n- and more in .satelle/principles"
		}
		text += "\n- " + title
		if about != "" {
			text += ": " + about
		}
		text += " (" + oneLine(".satelle/principles/"+name) + ")"
	}
	if text == "" {
		return ""
	}
	return "Its principles (read those that bear on your work):" + text
}

// head reads a principle's title and description.
func head(file string) (title, about string, ok bool) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "", "", false
	}
	f, err := os.Open(file)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	buf := make([]byte, maxHead)
	n, err := f.Read(buf)
	if err != nil {
		return "", "", false
	}
	matter := false
	for i, line := range strings.Split(string(buf[:n]), "\n") {
		line = strings.TrimRight(line, "\r ")
		if line == "---" && (i == 0 || matter) {
			matter = i == 0
			continue
		}
		key, value, found := strings.Cut(line, ":")
		switch {
		case matter && found && key == "description":
			about = oneLine(strings.Trim(strings.TrimSpace(value), `"'`))
		case matter && found && key == "name" && title == "":
			title = oneLine(strings.TrimSpace(value))
		case !matter && strings.HasPrefix(line, "# "):
			return oneLine(line[2:]), about, true
		}
	}
	return title, about, title != ""
}

// oneLine makes foreign text safe to read, like quoted, without the quotes.
func oneLine(s string) string {
	const most = 1000
	out := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(out) == most {
			break
		}
		if unsafeRune(r) {
			r = ' '
		}
		out = append(out, r)
	}
	return strings.TrimSpace(string(out))
}
