package engine

import (
	"context"
	"crypto/rand"
	"strings"
	"unicode"

	"satelle/internal/fault"
	"satelle/ledger"
	"satelle/workflow"
	"satelle/workflow/route"
)

// idAlphabet is Crockford's base 32 in lower case.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// storyPrefix opens the id of every story.
const storyPrefix = "sty_"

func newStoryID() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails, see crypto/rand
	for i, b := range raw {
		raw[i] = idAlphabet[int(b)%len(idAlphabet)]
	}
	return storyPrefix + string(raw)
}

// Create makes a story in the first step of its lane.
func (e *Engine) Create(ctx context.Context, f workflow.Fields) (workflow.Story, error) {
	lane, err := e.laneOf(f)
	if err != nil {
		return workflow.Story{}, err
	}
	actor := e.Actor(ctx)
	if err := e.cleanseFields(actor, f); err != nil {
		return workflow.Story{}, err
	}
	var id string
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		var c workflow.Change
		c, id, err = create(st, f, lane, actor)
		return c, err
	})
	if err != nil {
		return workflow.Story{}, err
	}
	return e.Story(ctx, id)
}

// create draws ids until one is free.
func create(st workflow.State, f workflow.Fields, lane route.Lane, actor ledger.Actor) (workflow.Change, string, error) {
	for {
		id := newStoryID()
		if _, err := st.Story(id); err == nil {
			continue
		}
		c, err := st.Create(id, f, lane, actor)
		return c, id, err
	}
}

func (e *Engine) laneOf(f workflow.Fields) (route.Lane, error) {
	category, tags := "", []string(nil)
	if f.Category != nil {
		category = *f.Category
	}
	if f.Tags != nil {
		tags = *f.Tags
	}
	return e.sub.lane(category, tags)
}

// Start creates a story and takes the first step that performs it, which
// holds the seat of this work tree. Where the seat is taken or the first gate
// refuses, no story is left behind.
func (e *Engine) Start(ctx context.Context, f workflow.Fields) (workflow.Story, error) {
	lane, err := e.laneOf(f)
	if err != nil {
		return workflow.Story{}, err
	}
	to := ""
	for i, s := range lane.Steps {
		if s.Performing() {
			if i != 1 {
				return workflow.Story{}, fault.Try(fault.New(fault.Refused, "the route reaches its first performing step %s only by way of others", s.Name),
					retry("create", f))
			}
			to = s.Name
			break
		}
	}
	if to == "" {
		return workflow.Story{}, fault.Try(fault.New(fault.Refused, "the lane %q has no step that takes a seat", lane.Category),
			retry("create", f))
	}
	if err := e.reap(ctx); err != nil {
		return workflow.Story{}, err
	}
	facts, err := e.facts(ctx, workflow.Story{}, to)
	if err != nil {
		return workflow.Story{}, err
	}
	facts.Lane = lane
	actor := e.Actor(ctx)
	if f.Body != nil {
		facts.Text.Body = *f.Body
	}
	if f.Criteria != nil {
		facts.Text.Criteria = *f.Criteria
	}
	var id string
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, seq uint64) (workflow.Change, error) {
		c, newID, err := create(st, f, lane, actor)
		if err != nil {
			return c, err
		}
		id = newID
		after := st.After(c, seq, facts.Now)
		move, out, err := after.Request(id, to, facts, actor, seq+uint64(len(c.Drafts)))
		switch {
		case err != nil:
			return workflow.Change{}, err
		case out.Refusal != nil:
			return workflow.Change{}, notStarted(out, f)
		case out.Run:
			return workflow.Change{}, fault.Try(
				fault.New(fault.Refused, "entry to %s asks checks or agents, so a story is created first and moved then", to),
				retry("create", f))
		}
		c.Drafts = append(c.Drafts, move.Drafts...)
		c.Blobs = append(c.Blobs, move.Blobs...)
		return c, nil
	})
	if err != nil {
		return workflow.Story{}, err
	}
	if err := e.Mirror(ctx, id); err != nil {
		return workflow.Story{}, err
	}
	return e.Story(ctx, id)
}

// word is a value as a shell reads it, a placeholder where there is none.
func word(s *string) string {
	if s == nil || strings.TrimSpace(*s) == "" || len(*s) > 200 || strings.ContainsFunc(*s, unicode.IsControl) {
		return `"…"`
	}
	return shellWord(*s)
}

// notStarted tells why a story was not started. The story that the verdicts
// speak of has never been, so they are told without it.
func notStarted(out workflow.Outcome, f workflow.Fields) error {
	if len(out.Verdicts) == 0 {
		return out.Refusal // its performer can't be started
	}
	var why []string
	human := false
	for _, v := range out.Verdicts {
		if v.Decision != workflow.Accept {
			note, _, _ := strings.Cut(v.Notes, ": ")
			why = append(why, v.Skill+": "+note)
			human = human || v.Skill == route.Human
		}
	}
	verb := "start"
	if human {
		verb = "create"
	}
	return fault.Try(fault.New(fault.Refused, "the gate to %s refused, so no story was made: %s", out.To, strings.Join(why, "; ")), retry(verb, f))
}

// retry is the command that makes a story of the same fields by another verb, or
// by the same once they are mended.
func retry(verb string, f workflow.Fields) string {
	try := "satelle story " + verb + " --title " + word(f.Title)
	for _, one := range []struct {
		flag  string
		value *string
	}{
		{"body", f.Body},
		{"category", f.Category},
		{"parent", f.Parent},
		{"priority", f.Priority},
		{"due", f.Due},
		{"project", f.Project},
		{"assignee", f.Assignee},
	} {
		if one.value != nil {
			try += " --" + one.flag + " " + word(one.value)
		}
	}
	if f.Criteria == nil || len(*f.Criteria) == 0 {
		try += ` --ac "…"`
	}
	for _, many := range []struct {
		flag   string
		values *[]string
	}{{"ac", f.Criteria}, {"tag", f.Tags}, {"path", f.Paths}} {
		for i := 0; many.values != nil && i < len(*many.values); i++ {
			try += " --" + many.flag + " " + word(&(*many.values)[i])
		}
	}
	return try
}

// Story returns one story.
func (e *Engine) Story(ctx context.Context, id string) (s workflow.Story, err error) {
	err = e.View(ctx, func(st workflow.State, _ Lookup) error {
		s, err = st.Story(id)
		return err
	})
	return s, err
}

// Edit changes fields of a story.
func (e *Engine) Edit(ctx context.Context, id string, f workflow.Fields) (workflow.Story, error) {
	actor := e.Actor(ctx)
	_, err := e.decide(ctx, func(st workflow.State, look Lookup, _ uint64) (workflow.Change, error) {
		s, err := st.Story(id)
		if err != nil {
			return workflow.Change{}, err
		}
		text, err := look.Text(s)
		if err != nil {
			return workflow.Change{}, err
		}
		var lane route.Lane
		if s.Relane(f) {
			category, tags := s.Category, s.Tags
			if f.Category != nil {
				category = *f.Category
			}
			if f.Tags != nil {
				tags = *f.Tags
			}
			if lane, err = e.sub.lane(category, tags); err != nil {
				return workflow.Change{}, err
			}
		}
		return st.Edit(id, f, text, lane, actor)
	})
	if err != nil {
		return workflow.Story{}, err
	}
	return e.Story(ctx, id)
}

// Restamp moves a story to today's lane; it is a person's.
func (e *Engine) Restamp(ctx context.Context, id string) (workflow.Story, error) {
	s, err := e.Story(ctx, id)
	if err != nil {
		return s, err
	}
	lane, err := e.sub.lane(s.Category, s.Tags)
	if err != nil {
		return s, err
	}
	digest, _ := workflow.LaneDigest(lane)
	actor, err := e.person(ctx, "restamp", id, digest, decimal(s.Last))
	if err != nil {
		return s, err
	}
	_, err = e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		if err := unchanged(st, s); err != nil {
			return workflow.Change{}, err
		}
		return st.Restamp(id, lane, actor)
	})
	if err != nil {
		return s, err
	}
	return e.Story(ctx, id)
}

// Join lets this session take part in a story's seat.
func (e *Engine) Join(ctx context.Context, id string) (workflow.Story, error) {
	actor := e.Actor(ctx)
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Join(id, e.Place.TreeID, e.now(), actor)
	})
	if err != nil {
		return workflow.Story{}, err
	}
	return e.Story(ctx, id)
}

// Comment records a comment on a story.
func (e *Engine) Comment(ctx context.Context, id, kind string, body []byte) error {
	actor := e.Actor(ctx)
	text := string(body)
	if err := e.cleanse(actor, &kind, &text); err != nil {
		return err
	}
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Comment(id, kind, []byte(text), actor)
	})
	return err
}

// Attach adds a document to a story and mirrors it.
func (e *Engine) Attach(ctx context.Context, id, name, docType string, data []byte) error {
	actor := e.Actor(ctx)
	text := string(data)
	if err := e.cleanse(actor, &name, &docType, &text); err != nil {
		return err
	}
	_, err := e.decide(ctx, func(st workflow.State, _ Lookup, _ uint64) (workflow.Change, error) {
		return st.Attach(id, name, docType, []byte(text), actor)
	})
	if err != nil {
		return err
	}
	return e.Mirror(ctx, id)
}
