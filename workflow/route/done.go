package route

import (
	"fmt"
	"slices"
	"strings"
)

// laneDef is a section of done.md.
type laneDef struct {
	*fields
	category    string
	obligations []obligation // as written
	park        *Park
	cancel      string
	advisors    []string
}

// obligation is a word that a lane owes; with a tag, only for stories that
// carry it.
type obligation struct {
	word, tag string
	line      int
}

// parseDone reads done.md and reports whether it could be read at all.
func (route *Route) parseDone(r *report, data []byte) bool {
	sections, ok := workflowFile(r, DonePath, data)
	for _, s := range sections {
		lane := &laneDef{category: s.title, fields: newFields(r, DonePath, s.line, inLane)}
		if s.title != AnyCategory && !validName(s.title) {
			lane.problem(s.line, fmt.Sprintf("`%s` is no category", clip(s.title)), nameMend+", or write `## *`")
		}
		for _, l := range s.lines {
			text := l.trimmed()
			switch {
			case strings.HasPrefix(text, "- "):
				lane.owe(obligation{word: strings.TrimSpace(text[2:]), line: l.no})
			case strings.HasPrefix(text, "+ "):
				tag, word, _ := strings.Cut(strings.TrimSpace(text[2:]), " ")
				if word = strings.TrimSpace(word); word == "" {
					lane.problem(l.no, fmt.Sprintf("`%s` names no obligation", clip(text)), "write `+ tag obligation`")
					continue
				}
				if !validName(tag) {
					lane.problem(l.no, fmt.Sprintf("`%s` is no tag", clip(tag)), nameMend)
					continue
				}
				lane.owe(obligation{word: word, tag: tag, line: l.no})
			default:
				lane.take(l)
			}
		}
		lane.exits()
		route.lanes = append(route.lanes, lane)
	}
	return ok
}

// owe adds an obligation to the lane.
func (l *laneDef) owe(o obligation) {
	if !validName(o.word) {
		l.problem(o.line, fmt.Sprintf("`%s` is no obligation", clip(o.word)), nameMend)
		return
	}
	for _, old := range l.obligations {
		if old.word == o.word && (old.tag == "" || o.tag == "" || old.tag == o.tag) {
			l.problem(o.line, fmt.Sprintf("the obligation `%s` is here twice, first in line %d", o.word, old.line), "keep one of the two")
			return
		}
	}
	if len(l.obligations) == maxItems {
		l.problem(o.line, fmt.Sprintf("the lane owes more than %d obligations", maxItems), "split it")
		return
	}
	l.obligations = append(l.obligations, o)
}

// exits reads the ways out of a lane.
func (l *laneDef) exits() {
	if l.closing() < 0 {
		l.problem(l.line, fmt.Sprintf("lane `%s` owes nothing", clip(l.category)), "add a line `- obligation` for what done means")
	}
	if l.has("park") {
		state, skill, gated := strings.Cut(l.text("park"), " ")
		skill = strings.TrimSpace(skill)
		name := strings.TrimPrefix(skill, "@")
		switch {
		case !validName(state):
			l.problem(l.at("park"), fmt.Sprintf("`%s` is no state", clip(state)), nameMend)
		case gated && (name == skill || !validName(name)):
			l.problem(l.at("park"), fmt.Sprintf("`%s` is no skill", clip(skill)), "write `park: state` or `park: state @skill`")
		default:
			l.park = &Park{State: state, Skill: name}
		}
	}
	l.cancel = l.name("cancel")
	l.advisors = l.names("advisor")
	if l.park != nil && l.park.State == l.cancel {
		l.problem(l.at("cancel"), fmt.Sprintf("`%s` is where the lane parks and where it cancels", l.cancel), "give one of the two another name")
	}
}

// closing is the index of the obligation that ends the lane, the last that
// every story owes; -1 if there is none.
func (l *laneDef) closing() int {
	for i, o := range slices.Backward(l.obligations) {
		if o.tag == "" {
			return i
		}
	}
	return -1
}

// owed are the obligations of a story with these tags: as written, but for the
// one that ends the lane, which is last although `+` lines may stand after it.
func (l *laneDef) owed(tags []string) []string {
	closing := l.closing()
	var words []string
	for i, o := range l.obligations {
		if i != closing && (o.tag == "" || slices.Contains(tags, o.tag)) && !slices.Contains(words, o.word) {
			words = append(words, o.word)
		}
	}
	return append(words, l.obligations[closing].word)
}
