package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/tool"
	"earshot/participants"
)

// mostListed is how many facts are listed at once: some screens.
const mostListed = 100

// readLater ends the answer when there is nothing to tell.
const readLater = "what is said here is read when it has been quiet for a while."

// An Access lets people and agents see and change what is remembered, each only what they may see. All
// fields are required.
type Access struct {
	Index *Index
	Name  func(earshot.ParticipantID) string
	Find  func(ctx context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error)
	Keep  func(context.Context, earshot.Event) error
	NewID func() earshot.EventID
	Now   func() time.Time
}

// Command returns the command of a room by which people see and change what is remembered.
func (c Access) Command(room earshot.RoomID) command.Command {
	return command.Command{
		Group: "What is kept", Name: "memory", Args: "[show N | edit N TEXT | forget N | …]", Needs: participants.SendMessages,
		Help: "what I remember; show N: what it rests on; edit, forget; find WORDS; all: also what was replaced",
		Do: func(ctx context.Context, call command.Call) (string, error) {
			call.Audience.Room = room
			return c.do(ctx, call)
		},
	}
}

func (c Access) do(ctx context.Context, call command.Call) (string, error) {
	args, asJSON := strings.CutPrefix(strings.TrimSpace(string(call.Args)), JSON)
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest, list := strings.TrimSpace(rest), c.list
	if asJSON {
		list = encode
	}
	switch verb {
	case "", "list", "all":
		told := list(c.Index.All(call.Audience, c.Now(), verb == "all"))
		_, summaries := c.Index.Lookup(Query{Audience: call.Audience, Bytes: math.MaxInt, Before: math.MaxInt64})
		for _, e := range summaries {
			if !asJSON {
				told += "\nIn short, up to " + e.At.Local().Format("2006-01-02") + ": " + string(e.Body.(earshot.Summary).Text)
			}
		}
		if told == "" && !asJSON {
			return "I remember nothing yet; " + readLater, nil
		}
		return strings.TrimPrefix(told, "\n"), nil
	case "find":
		facts, _ := c.Index.Lookup(Query{Audience: call.Audience, Words: earshot.Text(rest), At: c.Now(), Bytes: mostListed * mostText})
		if len(facts) == 0 && !asJSON {
			return "I remember nothing of that; " + readLater, nil
		}
		return list(facts), nil
	}
	n, text, _ := strings.Cut(rest, " ")
	number, err := strconv.ParseInt(n, 10, 64)
	all := c.Index.All(call.Audience, c.Now(), true)
	i := slices.IndexFunc(all, func(k Entry) bool { return k.Event.Sequence == number })
	switch {
	case err != nil || verb != "show" && (verb != "edit" && verb != "forget" || asJSON):
		return "", errors.New("write /memory, /memory all, /memory find WORDS, /memory show N, /memory edit N TEXT or /memory forget N")
	case i < 0:
		return "", fmt.Errorf("there is no fact %d, or none that everybody may know who reads the answer; /memory lists them", number)
	case verb == "show" && asJSON:
		return encode(all[i : i+1]), nil
	case verb == "show":
		return c.show(ctx, call.Audience, all[i])
	}
	if err := c.mayChange(ctx, call, all[i]); err != nil {
		return "", err
	}
	if verb == "forget" {
		e := c.event(call.By.ID, all[i].Event.Room, all[i].Event.Visibility, earshot.Withdrawal{Of: all[i].Event.ID})
		return "It is forgotten. The last traces will be gone from the files in a moment.", c.Keep(ctx, e)
	}
	return c.edit(ctx, call.By, all[i], text)
}

// event returns an event that changes what is remembered.
func (c Access) event(by earshot.ParticipantID, room earshot.RoomID, v earshot.Visibility, b earshot.Body) earshot.Event {
	return earshot.Event{ID: c.NewID(), At: c.Now(), Room: room, From: earshot.Handle{Provider: "earshot", ID: string(b.Kind())}, Author: by, Visibility: v, Body: b}
}

// mayChange says why somebody may not change a fact: it is for operators, whom it is about, who said
// what it rests on, and those who share a secret.
func (c Access) mayChange(ctx context.Context, call command.Call, k Entry) error {
	by := call.By
	if by.Voice() || participants.Unnamed(by.ID) {
		return errors.New("a voice alone is not enough to change what is remembered; say who you are, with --identity NAME")
	}
	if by.Can(participants.Operate) || slices.Contains(k.About, by.ID) || k.Event.Author == by.ID || slices.Contains(k.Event.Visibility.Members, by.ID) {
		return nil
	}
	from, err := c.Find(ctx, call.Audience, k.Event.Sources)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(from, func(e earshot.Event) bool { return e.Author == by.ID }) {
		return nil
	}
	return errors.New("only whom it is about, who said it and operators can change it; ask them")
}

// edit replaces a fact by what a person says instead. The old one stays on record.
func (c Access) edit(ctx context.Context, by participants.Participant, k Entry, text string) (string, error) {
	words := earshot.Text(plain(text))
	switch {
	case words == "":
		return "", errors.New("write what is true instead: /memory edit N TEXT")
	case len(words) > mostText:
		return "", fmt.Errorf("the text has %d bytes, and at most %d are possible; use fewer words", len(words), mostText)
	}
	f := k.Fact
	f.Text, f.Confidence, f.Since, f.Until, f.Due, f.Replaces = words, 1, c.Now(), time.Time{}, time.Time{}, k.Event.ID
	e := c.event(by.ID, k.Event.Room, k.Event.Visibility, f)
	e.Sources = []earshot.EventID{k.Event.ID}
	return "It is changed.", c.Keep(ctx, e)
}

// JSON in front of the arguments asks for facts as programs read them.
const JSON = "--json"

// encode returns the events of facts as JSON, one a line.
func encode(all []Entry) string {
	var b strings.Builder
	for _, k := range all {
		_ = json.NewEncoder(&b).Encode(k.Event) // it came from JSON
	}
	return b.String()
}

// list tells facts to people.
func (c Access) list(all []Entry) string {
	var b strings.Builder
	if n := len(all) - mostListed; n > 0 {
		fmt.Fprintf(&b, "%d older ones are not shown; /memory find WORDS finds them.\n", n)
		all = all[n:]
	}
	for _, k := range all {
		b.WriteString(c.tell(k) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// tell tells a fact in a line.
func (c Access) tell(k Entry) string {
	notes := []string{fmt.Sprintf("%.0f %% sure", 100*k.Confidence)}
	if !k.Until.IsZero() {
		notes = append(notes, "until "+k.Until.Local().Format("2006-01-02"))
	}
	if !k.Due.IsZero() {
		notes = append(notes, "due "+k.Due.Local().Format("2006-01-02 15:04"))
	}
	if k.replaced {
		notes = append(notes, "replaced since")
	}
	if k.Event.Visibility.Scope == earshot.Private {
		notes = append(notes, "private")
	}
	return fmt.Sprintf("%d  %s  %s (%s)", k.Event.Sequence, k.Since.Local().Format("2006-01-02"), string(k.Text), strings.Join(notes, ", "))
}

// show tells a fact, what it replaces, and what it rests on.
func (c Access) show(ctx context.Context, a earshot.Audience, k Entry) (string, error) {
	from, err := c.Find(ctx, a, append(slices.Clip(k.Event.Sources), k.Replaces))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(c.tell(k) + "\nPut down by " + c.Name(k.Event.Author))
	for i, who := range k.About {
		b.WriteString(map[bool]string{true: ", about ", false: " and "}[i == 0] + c.Name(who))
	}
	b.WriteString(".\n")
	for _, e := range from {
		said, by := Words(e), c.Name(e.Author)
		switch body := e.Body.(type) {
		case earshot.Fact:
			said, by = body.Text, "It replaces what "+by+" put down"
		case earshot.Sight:
			said, by = body.Words(), "The "+earshot.CameraCalled(body.Camera)
		case earshot.Use:
			said, by = body.Result, by+" by "+body.Tool
		}
		if said != "" {
			fmt.Fprintf(&b, "  %s  %s: %s\n", e.At.Local().Format("2006-01-02 15:04"), by, plain(string(said)))
		}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// ToolName is the name of [Access.Tool].
const ToolName = "remember"

// Tool returns the tool by which an agent remembers something at once. It rests on everything in the
// conversation, and can be known by those who may see that.
func (c Access) Tool() tool.Tool {
	type remember struct {
		Text string `json:"text"`
	}
	return tool.New(ToolName, "Remember a fact for good, such as what somebody likes or has planned. Everybody in this conversation can see it.",
		`{"type":"object","properties":{"text":{"type":"string","description":"one sentence that can be understood alone, with names"}},"required":["text"],"additionalProperties":false}`,
		participants.SendMessages, func(ctx context.Context, s tool.Scope, given remember) (tool.Answer, error) {
			text, err := tool.Wording("text", plain(given.Text), mostText)
			if err != nil {
				return tool.Answer{}, err
			}
			f := earshot.Fact{Text: text, Confidence: 1, Since: c.Now()}
			for _, who := range s.Askers {
				if who.ID != "" && !slices.Contains(f.About, who.ID) {
					f.About = append(f.About, who.ID)
				}
			}
			if _, same := c.Index.similar(s.Room, s.Visibility, f, c.Now()); same {
				return tool.Answer{Text: "You know that already."}, nil
			}
			e := c.event(s.Agent, s.Room, s.Visibility, f)
			if s.Rests != nil {
				e.Sources = slices.Clone(s.Rests())
			}
			if s.About != "" && !slices.Contains(e.Sources, s.About) {
				e.Sources = append(e.Sources, s.About)
			}
			return tool.Answer{Text: "You will remember it."}, c.Keep(ctx, e)
		})
}
