// Package explain tells in words what agents decided: about what, what for, and when. It
// reads the decisions out of a journal, so what was decided before the program was
// started is told as well.
//
// A reader sees no more than they may: of what a decision was about only the first
// words, if they may see them, and nothing if it has been deleted.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
)

// A Journal is what somebody may know of what has happened. Its methods may wait for
// a disk, and give up when ctx ends.
type Journal interface {
	// Decisions returns the newest decisions, those of an agent if it is not empty,
	// and from before a sequence if that is not 0, in the order in which they were
	// taken.
	Decisions(ctx context.Context, agent earshot.ParticipantID, before int64, limit int) ([]earshot.Event, error)

	// Find returns those of some events that there are, in the order of the journal.
	Find(ctx context.Context, ids []earshot.EventID) ([]earshot.Event, error)

	// Ends returns how turns ended: the replies of those of them that have.
	Ends(ctx context.Context, turns []earshot.TurnID) ([]earshot.Event, error)
}

// A Query says which decisions are told. The zero value tells none.
type Query struct {
	Agent  earshot.ParticipantID // of whom; empty for all
	Before int64                 // the sequence before which they were taken; 0 for the newest
	Last   int                   // how many
}

// Tell returns what was decided, the oldest first. Name is what somebody is called.
func Tell(ctx context.Context, j Journal, q Query, name func(earshot.ParticipantID) string) ([]api.ExplainedDecision, error) {
	decisions, err := j.Decisions(ctx, q.Agent, q.Before, q.Last)
	if err != nil {
		return nil, fmt.Errorf("reading the decisions: %w", err)
	}
	var about []earshot.EventID
	var turns []earshot.TurnID
	for _, e := range decisions {
		d, _ := e.Body.(earshot.Decision)
		if d.Turn != "" {
			turns = append(turns, d.Turn)
		}
		if d.About != "" && !slices.Contains(about, d.About) {
			about = append(about, d.About)
		}
	}
	events, err := j.Find(ctx, about)
	if err != nil {
		return nil, fmt.Errorf("reading what the decisions were about: %w", err)
	}
	matters := make(map[earshot.EventID]*api.DecisionSubject)
	for _, e := range events {
		matters[e.ID] = matter(e, name)
	}
	ends, err := j.Ends(ctx, turns)
	if err != nil {
		return nil, fmt.Errorf("reading how the replies ended: %w", err)
	}
	facts, err := factsOf(ctx, j, ends)
	if err != nil {
		return nil, err
	}
	failed := make(map[earshot.TurnID]earshot.Reply)
	for _, e := range ends {
		if r, ok := e.Body.(earshot.Reply); ok && r.Outcome == earshot.Failed && r.Delivered() == "" {
			failed[r.Turn] = r
		}
	}
	var all []api.ExplainedDecision
	for _, e := range decisions {
		if d, ok := e.Body.(earshot.Decision); ok {
			m := matters[d.About]
			reply, fails := failed[d.Turn]
			by := ""
			if d.By != "" {
				by = name(d.By)
			}
			all = append(all, api.ExplainedDecision{
				Sequence: e.Sequence, At: e.At, Agent: name(d.Agent), Verdict: d.Verdict, Reasons: d.Reasons, By: by,
				About: m, Failed: fails, Fault: reply.Fault, Facts: facts[d.Turn], Gone: m == nil && d.About != "",
			})
		}
	}
	return all, nil
}

// factsOf returns the sequences of the facts that each of some replies rests on.
func factsOf(ctx context.Context, j Journal, ends []earshot.Event) (map[earshot.TurnID][]int64, error) {
	var ids []earshot.EventID
	for _, e := range ends {
		ids = append(ids, e.Sources...)
	}
	all, err := j.Find(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("reading what the replies rest on: %w", err)
	}
	knew := make(map[earshot.TurnID][]int64)
	for _, e := range ends {
		reply, _ := e.Body.(earshot.Reply)
		for _, f := range all {
			if f.Body.Kind() == earshot.KindFact && slices.Contains(e.Sources, f.ID) {
				knew[reply.Turn] = append(knew[reply.Turn], f.Sequence)
			}
		}
	}
	return knew, nil
}

// matter returns what an event was, or nil if it was erased.
func matter(e earshot.Event, name func(earshot.ParticipantID) string) *api.DecisionSubject {
	m := &api.DecisionSubject{ID: e.ID, Kind: e.Body.Kind(), By: name(e.Author), Private: e.Visibility.Scope == earshot.Private}
	switch body := e.Body.(type) {
	case earshot.Tombstone:
		return nil
	case earshot.Message:
		m.Text = opening(body.Text)
	case earshot.Utterance:
		m.Text = opening(body.Text)
	case earshot.Reply:
		m.Text = opening(body.Delivered())
	case earshot.Finding:
		m.Text = opening(body.Text)
	case earshot.Reminder:
		m.Text = opening(body.Text)
	case earshot.Thought:
		m.Text = opening(body.Question)
	case earshot.Sight:
		m.By, m.Text = "the "+earshot.CameraCalled(body.Camera), opening(body.Words())
	}
	return m
}

// first is of how many runes the opening of a text is: what one knows it again by.
const first = 60

// opening returns the first words of text, in one line.
func opening(text earshot.Text) earshot.Text {
	line := []rune(strings.Join(strings.Fields(string(text)), " "))
	if len(line) <= first {
		return earshot.Text(line)
	}
	head := string(line[:first])
	if at := strings.LastIndexByte(head, ' '); at > first/2 {
		head = head[:at]
	}
	return earshot.Text(head + "…")
}

// Text tells accounts to people, in the time of a place. Where there are several
// agents, they are named.
func Text(all []api.ExplainedDecision, in *time.Location, several bool) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%s  %s\n", a.At.In(in).Format("15:04:05"), words(a, several))
	}
	return strings.TrimRight(b.String(), "\n")
}

// words tells what was decided and why.
func words(a api.ExplainedDecision, several bool) string {
	who := "I"
	if several {
		who = a.Agent
	}
	about := what(a)
	if about != "" {
		about += "\n          "
	}
	end := ""
	if a.Failed {
		end = "\n          It failed: " + cmp.Or(a.Fault, "something went wrong")
	}
	if len(a.Facts) > 0 {
		end += fmt.Sprintf("\n          It remembered %s: /memory show %d", strings.Trim(fmt.Sprint(a.Facts), "[]"), a.Facts[0])
	}
	if len(a.Reasons) > 1 {
		return about + who + " " + did(a) + " because\n          - " + strings.Join(a.Reasons, "\n          - ") + end
	}
	by := ""
	if a.By != "" {
		by = " (" + a.By + ")"
	}
	return about + who + " " + did(a) + " because " + strings.Join(a.Reasons, "") + by + end
}

// what tells what the decision was about.
func what(a api.ExplainedDecision) string {
	switch {
	case a.About != nil:
		return a.About.String()
	case a.Gone:
		return "About something that no longer exists or that you may not see:"
	}
	return ""
}

// did tells what was done by it.
func did(a api.ExplainedDecision) string {
	own := a.About != nil && (a.About.Kind == earshot.KindFinding || a.About.Kind == earshot.KindReminder)
	switch {
	case a.Failed && own:
		return "tried to say it"
	case a.Failed && a.About != nil && a.About.Kind != earshot.KindSight:
		return "tried to answer"
	case a.Failed:
		return "tried to speak"
	case a.Verdict == earshot.Speak && own:
		return "said it"
	case a.Verdict == earshot.Speak && a.About != nil && a.About.Kind != earshot.KindSight:
		return "answered"
	case a.Verdict == earshot.Speak:
		return "spoke"
	case a.Verdict == earshot.Wait:
		return "waited"
	case a.Verdict == earshot.Silent:
		return "kept silent"
	case a.Verdict == earshot.Note:
		return "noted it and said nothing"
	}
	return string(a.Verdict)
}
