package room

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/reflex"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/executive/tool"
	"earshot/interrupt"
	"earshot/llm"
	"earshot/participants"
)

const (
	// mostQuestion is the longest question to think about, in bytes.
	mostQuestion = 1 << 10

	// unsure is how uncertain a model must be, from 0 to 1, to pass a question to its thought.
	unsure = 0.3
)

// The errors of requests to think.
var (
	errNoThought = errors.New("thinking is not possible now: there must be a model, executive.enabled and executive.reasoning.enabled must be true, and the room must not be paused or off the record")
	errNothing   = errors.New("nothing is being thought about; to start, write /think QUESTION")
)

// consider makes the mind think about a message that an agent will answer, if its words ask for
// that and a person wrote them.
func (r *Room) consider(e *entry) {
	for _, q := range e.asks {
		if q.seat != r.seats[0] || q.chain || q.want != reflex.None || q.words != "" || !r.thinks() {
			continue
		}
		if text := saidIn(e.event.Body); triggered(r.set.Reasoning, text) {
			err := r.mind.Ask(think.Question{
				ID: r.cfg.NewID(), Cause: earshot.ByTrigger, About: e.event.ID, Text: earshot.Text(dialogue.Beginning(string(text), mostQuestion)),
				By: e.event.Author, Name: r.cfg.People.Name(e.event.Author), Via: e.event.Via, Visibility: e.event.Visibility, At: e.event.At,
			})
			if err != nil {
				r.cfg.Log.Info("a message asks for thought, which is not available", "err", err)
			}
		}
	}
}

// considered reports whether the mind thinks about a message.
func (r *Room) considered(message earshot.EventID) bool {
	return r.mind.Has(func(q think.Question) bool { return q.Cause.Asked() && q.About == message })
}

// meanwhile tells the model of a reply that the question is also being thought about.
const meanwhile = "\nYou have begun to think about this beside the conversation, and what you find will be said later. Answer now in a sentence or two, with what you know already."

// thinkLongerTool returns the tool by which an agent passes a question to its own thought.
func (p *toolContext) thinkLongerTool() tool.Tool {
	type ponder struct {
		Question    string  `json:"question"`
		Uncertainty float64 `json:"uncertainty"`
	}
	return tool.Tool{
		Tool: llm.Tool{
			Name:        "ponder",
			Description: "Think about a question beside the conversation when you are not sure of the answer. Answer now with what you know; what you find is said later.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"the whole question"},` +
				`"uncertainty":{"type":"number","description":"of your answer now, from 0 to 1"}},"required":["question","uncertainty"],"additionalProperties":false}`),
		},
		Needs: participants.SendMessages,
		Do: func(ctx context.Context, s tool.Scope, arguments json.RawMessage) (tool.Answer, error) {
			given, err := tool.Arguments[ponder](arguments)
			if err != nil {
				return tool.Answer{}, err
			}
			text, err := tool.Wording("question", given.Question, mostQuestion)
			switch {
			case err != nil:
				return tool.Answer{}, err
			case !(given.Uncertainty >= 0 && given.Uncertainty <= 1):
				return tool.Answer{}, errors.New("uncertainty must be a number from 0 to 1")
			case given.Uncertainty < unsure:
				return tool.Answer{}, tool.Refuse("you are sure enough; answer yourself")
			}
			return p.thinkLonger(s, text)
		},
	}
}

// thinkLonger passes a question to the mind, within the circle of the conversation. The answer is
// said to the first asker.
func (p *toolContext) thinkLonger(s tool.Scope, text earshot.Text) (tool.Answer, error) {
	if !p.room.thinks() {
		return tool.Answer{}, tool.Refuse("nothing is thought about beside the conversation now; answer with what you know")
	}
	m := p.question.message
	err := p.room.mind.Ask(think.Question{
		ID: p.room.cfg.NewID(), Cause: earshot.ByDelegation, About: m.ID, Text: text, Sources: slices.Clone(p.question.rests.Sources),
		By: s.Askers[0].ID, Name: s.Askers[0].Name, Via: m.Via, Visibility: p.question.rests.Visibility, At: p.room.cfg.Now(),
	})
	if err != nil {
		return tool.Answer{}, tool.Refuse("%w; answer with what you know", err)
	}
	return tool.Answer{Text: "You think about it. What you find is said later; tell them that you will come back to it."}, nil
}

// thinkCommand answers /think.
func (r *Room) thinkCommand(_ context.Context, c command.Call) (string, error) {
	text := strings.TrimSpace(string(c.Args))
	switch {
	case text == "":
		return r.thought(c.Audience), nil
	case strings.EqualFold(text, "stop"):
		return r.stopThinking(c)
	case !r.thinks():
		return "", errNoThought
	case c.By.ID == participants.Generic:
		return "", errors.New("an answer needs somebody to give it to; say who you are with --identity NAME")
	case len(text) > mostQuestion:
		return "", fmt.Errorf("the question has %d bytes, and at most %d are possible; use fewer words", len(text), mostQuestion)
	}
	q := think.Question{
		ID: r.cfg.NewID(), Cause: earshot.ByCommand, Text: earshot.Text(strings.ToValidUTF8(text, "\uFFFD")),
		By: c.By.ID, Name: c.By.Name, Via: c.Event.Via, Visibility: earshot.Visibility{Scope: earshot.Public}, At: c.Event.At,
	}
	if err := r.mind.Ask(q); err != nil {
		return "", err
	}
	if r.faults.Has(modelFault) { // of the main agent's
		return waits, nil
	}
	return "I am thinking about it; /think shows how far I am.", nil
}

// stopThinking ends the thoughts that everybody who reads the answer may see.
func (r *Room) stopThinking(c command.Call) (string, error) {
	if !r.mind.Stop(c.By.ID, func(q think.Question) bool { return q.Visibility.Allows(c.Audience) }) {
		return "", errNothing
	}
	return "I have stopped thinking about it.", nil
}

// thought says what is being thought and what was found, as far as everybody in a may see it.
func (r *Room) thought(a earshot.Audience) string {
	var b strings.Builder
	for _, v := range r.mind.View() {
		if v.Visibility.Allows(a) {
			r.tellThought(&b, v)
		}
	}
	if b.Len() == 0 {
		b.WriteString("I am not thinking about anything; to start, write /think QUESTION.\n")
	}
	now := r.cfg.Now()
	for _, i := range r.scene.For(a).Items(scene.Reasoning) {
		if !i.Stale(now) {
			fmt.Fprintf(&b, "Found %s, %.0f %% sure: %s\n", scene.Age(now.Sub(i.At)), 100*i.Confidence, i.Line())
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// tellThought writes the progress of a thought, one paragraph for each segment.
func (r *Room) tellThought(b *strings.Builder, v think.View) {
	tokens := "tokens"
	if v.Tokens == 1 {
		tokens = "token"
	}
	fmt.Fprintf(b, "%s, %d %s (%s)", phases[v.Phase], v.Tokens, tokens, v.Cause)
	if v.Misses {
		b.WriteString(", until the model is back")
	}
	if v.Name != "" {
		fmt.Fprintf(b, ", asked by %s", v.Name)
	}
	if v.Question.Text != "" {
		fmt.Fprintf(b, ": %s", dialogue.Quote(v.Question.Text))
	}
	b.WriteString("\n")
	from := 0
	for _, s := range v.Spans {
		fmt.Fprintf(b, "  %s  %s\n", s.At.Local().Format("15:04:05"), oneThought(v.Text[s.From:s.To]))
		if s.Cut != nil {
			fmt.Fprintf(b, "            … %s\n", r.gaveWay(*s.Cut))
		}
		from = s.To
	}
	if rest := v.Text[from:]; rest != "" {
		fmt.Fprintf(b, "  %s  %s\n", v.Began.Local().Format("15:04:05"), oneThought(rest))
	}
}

// phases are the phases of a thought in words.
var phases = map[think.Phase]string{
	think.Waiting: "Waiting to think", think.Thinking: "Thinking", think.Parked: "Parked, to be continued later", think.Sorting: "Summing up the findings",
}

func oneThought(text earshot.Text) string { return string(dialogue.OneLine(text)) }

// gaveWay says what a thought gave way to.
func (r *Room) gaveWay(to earshot.Interruption) string {
	if why, itself := otherwise[to.Signal]; itself {
		return why
	}
	who := "somebody"
	if to.By != "" {
		who = r.cfg.People.Name(to.By)
	}
	return who + " " + cmp.Or(yieldedTo[to.Signal], "wanted to talk")
}

// yieldedTo says, by signal, what somebody did to whom a thought gave way; otherwise says what else
// it gave way to.
var (
	yieldedTo = map[string]string{
		interrupt.Typing.String(): "began to type", interrupt.Addressed.String(): "said something",
		interrupt.Onset.String(): "began to speak", interrupt.Voice.String(): "began to speak", interrupt.Command.String(): "stopped it",
		think.BySteering: "had more to say about it", think.ByQuestion: "asked something",
	}
	otherwise = map[string]string{
		"turn": "a reply went first", think.ByPriority: "a reply went first",
		think.ByRule: "there was nothing to think about", think.ByEnding: "earshot stopped",
	}
)
