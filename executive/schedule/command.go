package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/remind"
	"earshot/executive/tool"
	"earshot/participants"
	"earshot/participants/agents"
)

const mostText = 2000 // bytes of what is to be done: some sentences

// Command returns the command of a room by which people have something done by the clock.
func (r *Runner) Command(room earshot.RoomID) command.Command {
	return command.Command{
		Group: "By the clock", Name: "every", Args: "WHEN WHAT | list | …", Needs: participants.SendMessages,
		Help: "have something done again and again, such as weekday at 7:30; list; run, pause, resume, cancel N",
		Do: func(ctx context.Context, c command.Call) (string, error) {
			e := earshot.Event{Room: room, From: c.Event.From, Author: c.By.ID, Visibility: earshot.Visibility{Scope: earshot.Public}}
			c.Audience.Room = room
			answer, _, err := r.every(ctx, c.By, e, c.Audience, string(c.Args))
			return answer, err
		},
	}
}

// ToolName is the name of [Runner.Tool].
const ToolName = "schedule"

// Tool returns the tool by which an agent does what the command does, for the one person who asks.
func (r *Runner) Tool() tool.Tool {
	type every struct {
		Every string `json:"every"`
	}
	return tool.New(ToolName, "Have something done regularly by the clock, for the person you are answering.",
		`{"type":"object","properties":{"every":{"type":"string","description":"such as: weekday at 7:30 tell me what is due; list; cancel 2"}},"required":["every"],"additionalProperties":false}`,
		participants.UseTools, func(ctx context.Context, s tool.Scope, given every) (a tool.Answer, err error) {
			if len(s.Askers) != 1 {
				return a, errors.New("it is not certain who asks; one person must ask alone")
			}
			e := earshot.Event{Room: s.Room, From: earshot.Handle{Provider: "earshot", ID: string(earshot.KindSchedule)}, Author: s.Agent, Visibility: s.Visibility, Sources: []earshot.EventID{s.About}}
			if s.Rests != nil {
				e.Sources = slices.Clone(s.Rests())
			}
			text, about, err := r.every(ctx, s.Askers[0], e, s.Audience, given.Every)
			for i, e := range about {
				a.Sources = append(a.Sources, e.Event.ID)
				if i == 0 {
					a.Visibility = e.Event.Visibility
				}
				a.Visibility = a.Visibility.And(e.Event.Visibility)
			}
			a.Text = earshot.Text(text)
			return a, err
		})
}

// every does what somebody wants by words, and returns the answer for an audience, and about which schedules
// it is. e is an event that sets something, but for what and when.
func (r *Runner) every(ctx context.Context, by participants.Participant, e earshot.Event, a earshot.Audience, words string) (answer string, about []Entry, err error) {
	if participants.Unnamed(by.ID) || by.Voice() {
		return "", nil, errors.New("a schedule needs somebody for whom it is; say who you are with --identity NAME")
	}
	all, err := r.entries(ctx, by.ID)
	known := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return !e.known(a) })
	verb, rest, _ := strings.Cut(strings.TrimSpace(words), " ")
	switch {
	case err != nil:
	case verb == "" || verb == "list":
		return r.tell(known), known, nil
	case slices.Contains([]string{"show", "cancel", "remove", "pause", "resume", "run"}, verb):
		n, _ := strconv.Atoi(strings.TrimSpace(rest))
		i := slices.IndexFunc(known, func(e Entry) bool { return e.N == n })
		if i < 0 {
			return "", nil, errors.New("there is no such schedule; list them to see their numbers")
		}
		answer, err = r.change(ctx, known[i], verb)
		return answer, known[i : i+1], err
	default:
		e.ID, e.At, e.To = r.NewID(), r.Now(), []earshot.ParticipantID{by.Reader()}
		err = r.set(ctx, by, e, strings.TrimPrefix(words, "add "), len(all))
	}
	if err != nil {
		return "", nil, err
	}
	all, err = r.entries(ctx, by.ID)
	about = slices.DeleteFunc(all, func(is Entry) bool { return is.Event.ID != e.ID })
	return "Set as number " + r.tell(about), about, err
}

// known reports whether everybody in an audience may know a schedule.
func (e Entry) known(a earshot.Audience) bool {
	return e.Event.Visibility.Allows(a) && a.Room == e.Event.Room
}

// set has something done for somebody who has so many schedules.
func (r *Runner) set(ctx context.Context, by participants.Participant, e earshot.Event, words string, many int) error {
	set := r.Settings()
	when, spec, rest, err := Parse(words)
	if err != nil {
		return err
	}
	s := earshot.Schedule{Act: earshot.Created, When: earshot.Text(when), Spec: spec, Zone: cmp.Or(set.Zone, "Local"), Missed: MissedOnce, Overlap: OverlapSkip}
	private := false
	for ; len(rest) > 0; rest = rest[1:] {
		if is, err := r.option(&s, rest[0]); err != nil {
			return err
		} else if !is && rest[0] != "private" {
			break
		}
		private = private || rest[0] == "private"
	}
	s.Text = dialogue.OneLine(earshot.Text(remind.Subject(rest)))
	t, err := NewTimetable(s.Spec, s.Zone)
	switch {
	case err != nil:
		return err
	case !set.Enabled:
		return errors.New("nothing is done by the clock here; see executive.schedule.enabled")
	case s.Text == "" || len(s.Text) > mostText:
		return fmt.Errorf("say what is to be done, behind when, in at most %d bytes", mostText)
	case many >= set.Most:
		return fmt.Errorf("you have %d schedules, and can have no more; cancel one first", many)
	}
	if private {
		members := []earshot.ParticipantID{by.ID, by.Reader(), r.Main(e.Room)} // the first two are the same but for who was merged
		e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: slices.Compact(members)}
	}
	if s.Path, err = agents.PathOf(string(participants.Owner), earshot.PathCron, strings.ToLower(string(e.ID))); err != nil {
		return err
	}
	e.Body = s
	if _, err := r.order(Entry{Schedule: s, Event: e, For: by.Reader()}, t.Next(r.Now())); err != nil { // who may not have it done hears so at once
		return err
	}
	defer r.Wake()
	return r.Keep(ctx, e)
}

// option reads a word that says how something is to be done; is tells that it is one.
func (r *Runner) option(s *earshot.Schedule, word string) (is bool, err error) {
	key, value, _ := strings.Cut(word, "=")
	ok := true
	switch key {
	case "missed":
		s.Missed, ok = value, slices.Contains([]string{MissedSkip, MissedOnce, MissedAll}, value)
	case "overlap":
		s.Overlap, ok = value, value == OverlapSkip || value == OverlapQueue
	case "jitter":
		s.Jitter, err = time.ParseDuration(value)
		ok = err == nil && s.Jitter >= 0 && s.Jitter <= 24*time.Hour
	case "tools":
		s.Tools = strings.Split(value, ",")
	case "room": // where it is told; otherwise it is the one in which it is set
		s.Quiet, ok = true, value == "none"
	case "zone":
		s.Zone = value
	case "until": // a day, to its end
		s.Until, err = remind.When(r.Now(), value+" 23:59")
		ok = err == nil && s.Until.After(r.Now())
	case "engine":
		s.Engine = value
	case "model":
		s.Model = value
	case "tokens":
		s.Budget = new(earshot.Budget)
		s.Budget.Tokens, err = strconv.Atoi(value)
		ok = err == nil && s.Budget.Tokens > 0
	default:
		return false, nil
	}
	if !ok || value == "" {
		return true, fmt.Errorf("%s cannot be %q; write missed=skip, once or all, overlap=skip or queue, jitter=10m, zone=Europe/Berlin, until=2027-01-31, tokens=5000, tools=list_files,read_file or none, room=none", key, value)
	}
	return true, nil
}

// change does something with a schedule, and says so.
func (r *Runner) change(ctx context.Context, e Entry, verb string) (string, error) {
	act, said := earshot.Ended, "It is cancelled."
	switch verb {
	case "show":
		return fmt.Sprintf("%s\n%s in %s, missed: %s, overlap: %s, late by %v, at %s", r.tell([]Entry{e}), e.Spec, e.Zone, e.Missed, e.Overlap, e.delay(), e.Path), nil
	case "run":
		if e.Last != "" && r.Tasks.Open(ctx, e.Last) {
			return "", errors.New("it cannot run now, because the run before is not over")
		}
		s, err := r.do(ctx, e, Action{Act: earshot.ScheduleRan, Due: r.Now()})
		if err == nil && s.Act != earshot.ScheduleRan {
			err = errors.New(string(s.Text))
		}
		return "It runs.", err
	case "pause":
		act, said = earshot.SchedulePaused, "It is paused."
	case "resume":
		act, said = earshot.ScheduleResumed, "It goes on."
	}
	defer r.Wake()
	return said, r.Keep(ctx, r.event(e, earshot.Schedule{Act: act, Of: e.Event.ID}))
}

// tell tells schedules, one a line.
func (r *Runner) tell(all []Entry) string {
	var lines []string
	for _, e := range all {
		next := "paused"
		if t, err := NewTimetable(e.Spec, e.Zone); err == nil && !e.Paused {
			next = "next " + t.Next(r.Now()).Format("Mon 2006-01-02 15:04 MST")
		}
		if e.Why != "" {
			next += "; last skipped: " + string(e.Why)
		}
		lines = append(lines, fmt.Sprintf("%d  %s: %s (%s)", e.N, string(e.When), string(e.Text), next))
	}
	return cmp.Or(strings.Join(lines, "\n"), "There are no schedules; /every weekday at 7:30 WHAT sets one.")
}
