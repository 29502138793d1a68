package route

import (
	"fmt"
	"slices"
	"strings"
)

// section is one `## heading` with the lines under it, blank ones and remarks
// (`> …`) left out.
type section struct {
	title string
	line  int
	lines []line
}

// frontMatter reads the `key: value` lines between the two `---` at the top of
// a file and returns the lines after them.
func frontMatter(r *report, file string, lines []line, where place) (*fields, []line, bool) {
	f := newFields(r, file, 1, where)
	if lines[0].text != "---" {
		r.add(file, 1, "the file does not begin with front matter", "begin it with a line `---`, then `name: …`, then a line `---`")
		return nil, nil, false
	}
	for i, l := range lines[1:] {
		switch text := l.trimmed(); {
		case l.text == "---":
			return f, lines[i+2:], true
		case text == "" || strings.HasPrefix(text, "#"):
		default:
			f.take(l)
		}
	}
	r.add(file, 1, "the front matter does not end", "close it with a line `---`")
	return nil, nil, false
}

// workflowFile reads what done.md and step.md share: their front matter, free
// text, and sections.
func workflowFile(r *report, file string, data []byte) ([]section, bool) {
	lines, ok := split(r, file, data)
	if !ok {
		return nil, false
	}
	front, rest, ok := frontMatter(r, file, lines, inWorkflow)
	if !ok {
		return nil, false
	}
	if front.name("name") == "" && !front.has("name") {
		r.add(file, 1, "the front matter has no `name`", "add `name: …`")
	}
	if kind := front.text("type"); kind != "workflow" {
		r.add(file, front.at("type"), fmt.Sprintf("the type is `%s`", clip(kind)), "write `type: workflow`")
	}
	sections := sectionsOf(r, file, rest)
	if len(sections) == 0 {
		r.add(file, lines[len(lines)-1].no, "the file has no section", "add a `## …` section")
	}
	return sections, len(sections) > 0
}

// sectionsOf takes the lines after the front matter apart. Text before the first
// section is free, fenced examples included; under a heading every line counts.
func sectionsOf(r *report, file string, lines []line) []section {
	var sections []section
	titles := map[string]int{}
	var again []int // sections whose title has been there before
	var open fence
	for _, l := range lines {
		text := l.trimmed()
		if len(sections) == 0 {
			if open.holds(l.text) {
				continue
			}
			if key, _, ok := keyValue(text); ok && lost(key) {
				r.add(file, l.no, fmt.Sprintf("`%s:` stands before the first section", key), "move it under its `## …` heading")
			}
		}
		title, isHeading := strings.CutPrefix(text, "##")
		switch {
		case isHeading && !strings.HasPrefix(title, "#"):
			if !strings.HasPrefix(title, " ") && !strings.HasPrefix(title, "\t") {
				r.add(file, l.no, fmt.Sprintf("`%s` is no heading", clip(text)), "put a blank after `##`, and a name")
			}
			title = strings.Join(strings.Fields(title), " ")
			if first, twice := titles[title]; twice {
				r.add(file, l.no, fmt.Sprintf("the section `## %s` is here twice, first in line %d", clip(title), first), "make one of the two")
				again = append(again, len(sections))
			} else {
				titles[title] = l.no
			}
			if len(sections) == maxSections {
				r.add(file, l.no, fmt.Sprintf("there are more than %d sections", maxSections), "split the route")
				return sections
			}
			sections = append(sections, section{title: title, line: l.no})
		case len(sections) == 0 || text == "" || strings.HasPrefix(text, ">"):
		default:
			last := &sections[len(sections)-1]
			last.lines = append(last.lines, l)
		}
	}
	for _, i := range slices.Backward(again) {
		sections = slices.Delete(sections, i, i+1)
	}
	return sections
}

// lost reports a key that says something about work, and so must not stand
// where it would say it to nobody.
func lost(key string) bool {
	for _, where := range []place{inLane, inState, inGate} {
		if slices.Contains(placeKeys[where], key) {
			return true
		}
	}
	return false
}
