package thoughts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"earshot"
	"earshot/api"
	"earshot/executive/command"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/executive/tool"
	"earshot/interrupt"
	"earshot/language"
	"earshot/participants"
)

const (
	// mostQuestion is the longest question to think about, in bytes.
	mostQuestion = 1 << 10

	// unsure is how uncertain a model must be, from 0 to 1, to pass a question to its thought.
	unsure = 0.3

	// MostText is how much of a thought is shown, in bytes: some screens.
	MostText = 4 << 10
)

// Wonder makes the agent think about something new that nobody has asked.
func (t *Thinker) Wonder(cause earshot.Cause, about earshot.EventID, what earshot.Text) {
	if t.Enabled() {
		_ = t.Ask(think.Question{ // an unasked question is always taken
			ID: t.NewID(), Cause: cause, About: about, Text: what,
			Visibility: earshot.Visibility{Scope: earshot.Public}, At: t.Now(),
		})
	}
}

// Consider makes the agent think about what somebody has said, if any of the words that do that are
// in it.
func (t *Thinker) Consider(triggers []string, e earshot.Event, text earshot.Text) {
	if !t.Enabled() || !triggered(triggers, text) {
		return
	}
	err := t.Ask(think.Question{
		ID: t.NewID(), Cause: earshot.ByTrigger, About: e.ID, Text: earshot.Text(dialogue.Beginning(string(text), mostQuestion)),
		By: e.Author, Name: t.People.Name(e.Author), Via: e.Via, Visibility: e.Visibility, At: e.At,
	})
	if err != nil {
		t.Log.Info("a message asks for thought, which is not available", "err", err)
	}
}

// Considers reports whether the agent thinks about a message.
func (t *Thinker) Considers(message earshot.EventID) bool {
	return t.Has(func(q think.Question) bool { return q.Cause.Asked() && q.About == message })
}

// triggered reports whether text contains one of the words that make an agent think: as a whole
// word, in any case.
func triggered(triggers []string, text earshot.Text) bool {
	all := language.Words(string(text))
	return slices.ContainsFunc(triggers, func(trigger string) bool {
		words := language.Words(trigger)
		for i := 0; i+len(words) <= len(all); i++ {
			if slices.Equal(all[i:i+len(words)], words) {
				return len(words) > 0
			}
		}
		return false
	})
}

// Tool returns the tool by which the agent passes a question to its own thought, within the circle of
// the conversation. What is found is said to the first asker. answers returns the message that the
// agent answers, and what the answer rests on by then.
func (t *Thinker) Tool(answers func() (earshot.Event, prompt.Provenance)) tool.Tool {
	type ponder struct {
		Question    string  `json:"question"`
		Uncertainty float64 `json:"uncertainty"`
	}
	return tool.New("ponder", "Think about a question beside the conversation when you are not sure of the answer. Answer now with what you know; what you find is said later.",
		`{"type":"object","properties":{"question":{"type":"string","description":"the whole question"},`+
			`"uncertainty":{"type":"number","description":"of your answer now, from 0 to 1"}},"required":["question","uncertainty"],"additionalProperties":false}`,
		participants.SendMessages, func(_ context.Context, s tool.Scope, given ponder) (tool.Answer, error) {
			text, err := tool.Wording("question", given.Question, mostQuestion)
			switch {
			case err != nil:
				return tool.Answer{}, err
			case !(given.Uncertainty >= 0 && given.Uncertainty <= 1):
				return tool.Answer{}, errors.New("uncertainty must be a number from 0 to 1")
			case given.Uncertainty < unsure:
				return tool.Answer{}, tool.Refuse("you are sure enough; answer yourself")
			case !t.Enabled():
				return tool.Answer{}, tool.Refuse("nothing is thought about beside the conversation now; answer with what you know")
			}
			m, rests := answers()
			err = t.Ask(think.Question{
				ID: t.NewID(), Cause: earshot.ByDelegation, About: m.ID, Text: text, Sources: slices.Clone(rests.Sources),
				By: s.Askers[0].ID, Name: s.Askers[0].Name, Via: m.Via, Visibility: rests.Visibility, At: t.Now(),
			})
			if err != nil {
				return tool.Answer{}, tool.Refuse("%w; answer with what you know", err)
			}
			return tool.Answer{Text: "You think about it. What you find is said later; tell them that you will come back to it."}, nil
		})
}

// Command answers /think. Only thoughts that everybody who reads the answer may see are shown, or
// stopped. Everybody stops what they asked for, and what nobody asked for; the owner stops all.
func (t *Thinker) Command(_ context.Context, c command.Call) (string, error) {
	text := strings.TrimSpace(string(c.Args))
	switch {
	case text == "":
		return t.progress(c.Audience), nil
	case strings.EqualFold(text, "stop"):
		return t.stop(c)
	case !t.Enabled():
		return "", errors.New("thinking is not possible now: there must be a model, executive.enabled and executive.reasoning.enabled must be true, and the room must not be paused or off the record")
	case participants.Unnamed(c.By.ID):
		return "", errors.New("an answer needs somebody to give it to; say who you are with --identity NAME")
	case len(text) > mostQuestion:
		return "", fmt.Errorf("the question has %d bytes, and at most %d are possible; use fewer words", len(text), mostQuestion)
	}
	q := think.Question{
		ID: t.NewID(), Cause: earshot.ByCommand, Text: earshot.Text(strings.ToValidUTF8(text, "\uFFFD")),
		By: c.By.ID, Name: c.By.Name, Via: c.Event.Via, Visibility: earshot.Visibility{Scope: earshot.Public}, At: c.Event.At,
	}
	if err := t.Ask(q); err != nil {
		return "", err
	}
	if t.ModelFails() {
		return waits, nil
	}
	return "I am thinking about it; /think shows how far I am.", nil
}

// stop ends the thoughts that the caller may end.
func (t *Thinker) stop(c command.Call) (string, error) {
	seen := func(q think.Question) bool { return q.Visibility.Allows(c.Audience) }
	switch {
	case t.Stop(c.By.ID, func(q think.Question) bool {
		return seen(q) && (q.By == "" || q.By == c.By.ID || c.By.ID == participants.Owner)
	}):
		return "I have stopped thinking about it.", nil
	case t.Has(seen):
		return "", errors.New("somebody else asked for what is being thought about; only they and the owner can stop it")
	}
	return "", errors.New("nothing is being thought about; to start, write /think QUESTION")
}

// Live returns the thoughts that everybody in a may know, because they may see everything on which
// these thoughts rest.
func (t *Thinker) Live(a earshot.Audience) (all []api.LiveThought) {
	agent := t.Agent().ID
	for _, v := range t.View() {
		visibility := t.restsOf(v.Question).Visibility
		if !v.Visibility.Allows(a) || !visibility.Allows(a) {
			continue
		}
		m := api.LiveThought{
			Of: v.ID, Agent: agent, Cause: v.Cause, About: v.About, For: v.By, Question: v.Question.Text, Phase: string(v.Phase),
			Text: dialogue.Tail(v.Text, MostText), Tokens: v.Tokens, Since: cmp.Or(v.Began, v.At), Private: visibility.Scope == earshot.Private,
		}
		if n := len(v.Spans); v.Phase == think.Parked && n > 0 && v.Spans[n-1].Cut != nil {
			m.Parked = t.gaveWay(*v.Spans[n-1].Cut)
		}
		all = append(all, m)
	}
	return all
}

// progress says what is being thought and what was found, as far as everybody in a may see it.
func (t *Thinker) progress(a earshot.Audience) string {
	var b strings.Builder
	for _, v := range t.View() {
		if v.Visibility.Allows(a) {
			t.tellThought(&b, v)
		}
	}
	if b.Len() == 0 {
		b.WriteString("I am not thinking about anything; to start, write /think QUESTION.\n")
	}
	now := t.Now()
	for _, i := range t.Scene.For(a).Items(scene.Reasoning) {
		if !i.Stale(now) {
			fmt.Fprintf(&b, "Found %s, %.0f %% sure: %s\n", scene.Age(now.Sub(i.At)), 100*i.Confidence, i.Line())
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// tellThought writes the progress of a thought, one paragraph for each segment.
func (t *Thinker) tellThought(b *strings.Builder, v think.View) {
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
		fmt.Fprintf(b, "  %s  %s\n", s.At.Local().Format("15:04:05"), string(dialogue.OneLine(v.Text[s.From:s.To])))
		if s.Cut != nil {
			fmt.Fprintf(b, "            … %s\n", t.gaveWay(*s.Cut))
		}
		from = s.To
	}
	if rest := v.Text[from:]; rest != "" {
		fmt.Fprintf(b, "  %s  %s\n", v.Began.Local().Format("15:04:05"), string(dialogue.OneLine(rest)))
	}
}

// phases are the phases of a thought in words.
var phases = map[think.Phase]string{
	think.Waiting: "Waiting to think", think.Thinking: "Thinking", think.Parked: "Parked, to be continued later", think.Sorting: "Summing up the findings",
}

// gaveWay says what a thought gave way to.
func (t *Thinker) gaveWay(to earshot.Interruption) string {
	if why, itself := otherwise[to.Signal]; itself {
		return why
	}
	who := "somebody"
	if to.By != "" {
		who = t.People.Name(to.By)
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
