package room_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/reason"
	"earshot/llm"
	"earshot/llm/llmtest"
)

// An effect is what a key changes: a scene, and what is seen in it without and with the change.
type effect struct {
	key     string
	change  func(*executive.Config)
	scene   func(t *testing.T, h *house) string
	usual   string // what is seen without the change
	changed string // what is seen with it
}

// effects has every key of the section executive that takes effect in a room. It lacks the keys of
// llm other than its roles, and streaming.buffer_size: these need a real engine and a real
// terminal, so cmd/earshot has them.
var effects = []effect{
	{"enabled", func(c *executive.Config) { c.Enabled = false }, ask, "one two three four", ""},
	{"name", func(c *executive.Config) { c.Name = "Bob" }, prompted("You are Bob."), "false", "true"},
	{"context_window_seconds", func(c *executive.Config) { c.ContextWindow = 5 }, remembered, "true", "false"},
	{"agents_sleep_after_seconds", func(c *executive.Config) { c.AgentsSleepAfter = 5 }, drowsy, api.Active, api.Sleeping},
	{"llm.roles.user.engine", func(c *executive.Config) { c.LLM.Roles.User.Engine = "ollama" }, thinker, " of the usual", " of ollama"},
	{"llm.roles.user.model", func(c *executive.Config) { c.LLM.Roles.User.Model = "large" }, thinker, " of the usual", "large of the usual"},
	{"conversational.temperature", func(c *executive.Config) { c.Conversational.Temperature = 0.1 }, heat, "0.7", "0.1"},
	{"conversational.max_tokens", func(c *executive.Config) { c.Conversational.MaxTokens = 2 }, ask, "one two three four", "one two"},
	{"conversational.system_prompt", func(c *executive.Config) { c.Conversational.SystemPrompt = "Talk like a pirate." }, prompted("Talk like a pirate."), "false", "true"},
	{"reasoning.enabled", func(c *executive.Config) { c.Reasoning.Enabled = false }, mused, "trigger completed one two three four five", ""},
	{"reasoning.engine", func(c *executive.Config) { c.Reasoning.Engine = "ollama" }, muser, " of the usual, 0.7", " of ollama, 0.7"},
	{"reasoning.model", func(c *executive.Config) { c.Reasoning.Model = "large" }, muser, " of the usual, 0.7", "large of the usual, 0.7"},
	{"reasoning.temperature", func(c *executive.Config) { c.Reasoning.Temperature = 0.1 }, muser, " of the usual, 0.7", " of the usual, 0.1"},
	{"reasoning.max_tokens", func(c *executive.Config) { c.Reasoning.MaxTokens = 2 }, mused, "trigger completed one two three four five", "trigger completed one two"},
	{"reasoning.system_prompt", func(c *executive.Config) { c.Reasoning.SystemPrompt = "Think like a pirate." }, mulled, "You are a strategic reasoning agent.", "Think like a pirate."},
	{"reasoning.triggers", func(c *executive.Config) { c.Reasoning.Triggers = []string{"ponder"} }, mused, "trigger completed one two three four five", ""},
	{"parallel.enabled", func(c *executive.Config) { c.Parallel.Enabled = false }, heldUp, "trigger interrupted one | addressed\ntrigger completed one two three four five", "trigger interrupted one | addressed"},
	{"parallel.reasoning_continuous", func(c *executive.Config) { c.Parallel.ReasoningContinuous = false }, wondered, "novelty completed one\nnovelty completed one", ""},
	{"parallel.reasoning_interval", func(c *executive.Config) { c.Parallel.ReasoningInterval = 60 }, wondered, "novelty completed one\nnovelty completed one", "novelty completed one"},
	{"streaming.enabled", func(c *executive.Config) { c.Streaming.Enabled = false }, whole, "false", "true"},
	{"streaming.display_partial", func(c *executive.Config) { c.Streaming.DisplayPartial = false }, halfway, "true", "false"},
	{"interruption.enabled", func(c *executive.Config) { c.Interruption.Enabled = false }, cutIn, "interrupted", "completed"},
	{"interruption.sources", func(c *executive.Config) { c.Interruption.Sources = []string{"audio"} }, cutIn, "interrupted", "completed"},
	{"interruption.sources", func(c *executive.Config) { c.Interruption.Sources = []string{"text", "audio"} }, cutInFrom(earshot.Message{Text: "Earshot, and backwards?"}), "interrupted", "completed"},
	{"interruption.sources", func(c *executive.Config) { c.Interruption.Sources = []string{"text", "audio"} }, cutInFrom(earshot.Utterance{Text: "Earshot, and backwards?", Confidence: 1, Lasted: time.Second}), "interrupted", "completed"},
	{"interruption.save_partial", func(c *executive.Config) { c.Interruption.SavePartial = false }, leftover, "true", "false"},
	{"interruption.resume_within_seconds", func(c *executive.Config) { c.Interruption.ResumeWithin = 60 }, resumedAfter(5), "true", "false"},
	{"interruption.resume_within_seconds", func(c *executive.Config) { c.Interruption.ResumeWithin = 0 }, resumedAfter(5), "true", "false"},
	{"speech.follow_up_seconds", func(c *executive.Config) { c.Speech.FollowUp = 0 }, afterwards, "2 replies", "1 replies"},
	{"speech.filler_after_seconds", func(c *executive.Config) { c.Speech.FillerAfter = 0 }, signed, "true", "false"},
	{"speech.backchannels", func(c *executive.Config) { c.Speech.Backchannels = true }, listens, "false", "true"},
	{"speech.heard_as", func(c *executive.Config) { c.Speech.HeardAs = []string{"hair shirt"} }, spoken("hair shirt what is new"), "0 replies", "1 replies"},
	{"speech.least_confidence", func(c *executive.Config) { c.Speech.LeastConfidence, c.Speech.AskBack = 0.9, false }, afterwards, "2 replies", "1 replies"},
	{"speech.ask_back", func(c *executive.Config) { c.Speech.AskBack = false }, mumbled, "one two three four Sorry?", "one two three four"},
	{"speech.announce_new_voices", func(c *executive.Config) { c.Speech.AnnounceVoices = true }, strangers, "", "I hear somebody new. What is said here is written down."},
	{"speech.prepare_reply", func(c *executive.Config) { c.Speech.PrepareReply = false }, foretold, "after 1.5s", "after 1.6s"},
	{"speech.answer_typed_aloud", func(c *executive.Config) { c.Speech.TypedAloud = true }, typed, "", "one two three four"},
	{"update_interval_seconds", func(c *executive.Config) { c.UpdateInterval = 60 }, wakesUp, "soon", "late"},
	{"attention.speak_unasked", func(c *executive.Config) { c.Attention.SpeakUnasked = false }, speaksUp, "true", "false"},
	{"attention.quiet_hours", func(c *executive.Config) { c.Attention.QuietHours = "08:00-20:00" }, answersRoom(1, time.Minute), "1 replies", "0 replies"},
	{"attention.hourly_budget", func(c *executive.Config) { c.Attention.HourlyBudget = 2 }, answersRoom(6, 5*time.Minute), "4 replies", "2 replies"},
	{"attention.cool_down_seconds", func(c *executive.Config) { c.Attention.CoolDown = 10 }, answersRoom(2, time.Minute), "1 replies", "2 replies"},
	{"attention.least_confidence", func(c *executive.Config) { c.Attention.LeastConfidence = 0.8 }, speaksUp, "true", "false"},
	{"sight.rooms", func(c *executive.Config) { c.Sight.Rooms = []earshot.RoomID{"den"} }, looks, "I see one person.", "I have no camera here."},
	{"sight.captions_per_hour", func(c *executive.Config) { c.Sight.CaptionsPerHour = 1 }, described, "2 captions", "1 captions"},
	{"sight.greet", func(c *executive.Config) { c.Sight.Greet = false }, greeted, "one two three four", ""},
	{"sight.greet_after_absence_seconds", func(c *executive.Config) { c.Sight.GreetAfterAbsence = 3600 }, greeted, "one two three four", ""},
	{"multi_party.enabled", func(c *executive.Config) { c.MultiParty.Enabled = false }, onlyWith, addressing.Named, reason.Unheeded},
	{"multi_party.speaker_attribution", func(c *executive.Config) { c.MultiParty.SpeakerAttribution = false }, toldApart, "voice 3: true; in talk: false", "somebody: false; in talk: true"},
	{"multi_party.turn_taking_protocol", func(c *executive.Config) { c.MultiParty.TurnTakingProtocol = "passive" }, protocolTold, attentive, brief},
	{"multi_party.turn_taking_protocol", func(c *executive.Config) { c.MultiParty.TurnTakingProtocol = "aggressive" }, typedOver, "false", "true"},
	{"multi_party.turn_limit", func(c *executive.Config) { c.MultiParty.TurnLimit = 3 }, amongAgents, "20 requests", "3 requests"},
	{"tools.enabled", func(c *executive.Config) { c.Tools.Enabled = false }, offered, "message_agent ponder note remind edit_context", ""},
}

// TestKeys: a changed value changes what the room does, whether it is set from the beginning or
// changes while the room is open.
func TestKeys(t *testing.T) {
	for _, e := range effects {
		t.Run(e.key, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, tt := range []struct {
					change, later func(*executive.Config)
					want          string
				}{{func(*executive.Config) {}, nil, e.usual}, {e.change, nil, e.changed}, {func(*executive.Config) {}, e.change, e.changed}} {
					h := newHouse()
					h.config.Parallel.ReasoningContinuous = strings.HasPrefix(e.key, "parallel.")
					tt.change(&h.config)
					h.later = tt.later
					if err := h.config.Validate(); err != nil {
						t.Fatal(err)
					}
					got := e.scene(t, h)
					h.stop()
					if got != tt.want {
						t.Errorf("%q was seen, want %q (changed while it is open: %v)", got, tt.want, tt.later != nil)
					}
				}
			})
		})
	}
}

// looks asks a house with a camera and without a model what there is to see.
func looks(t *testing.T, h *house) string {
	h.eyes, h.unmodelled = oneSeen(), true
	h.open(t.Context())
	h.say(t, "what do you see?")
	time.Sleep(time.Minute)
	return strings.TrimSpace(h.console.Played())
}

// mused lets the agent think, and returns what is on record of the thought.
func mused(t *testing.T, h *house) string {
	h.model.Rules = []llmtest.Rule{{For: llmtest.ForThought, Reply: "one two three four five", Every: time.Second}}
	h.open(t.Context())
	h.say(t, "think of it")
	time.Sleep(time.Minute)
	return h.thoughts()
}

// wondered gives the agent two things to think about, ten seconds apart, that nobody asks about,
// and returns its thoughts.
func wondered(t *testing.T, h *house) string {
	h.model.Rules = []llmtest.Rule{{For: llmtest.ForThought, Reply: "one", Every: time.Second}}
	h.open(t.Context())
	for range 2 {
		h.Wonder(earshot.ByNovelty, "", "Bob has come")
		time.Sleep(10 * time.Second)
	}
	return h.thoughts()
}

// muser returns the model that thinks, its engine, and the temperature.
func muser(t *testing.T, h *house) string {
	mused(t, h)
	for _, req := range h.model.Seen() {
		if req.Priority == llm.Reasoning {
			return fmt.Sprintf("%s of %s, %v", req.Model, cmp.Or(req.Engine, "the usual"), req.Temperature)
		}
	}
	return ""
}

// mulled returns the first sentence of what the model is told when it thinks.
func mulled(t *testing.T, h *house) string {
	mused(t, h)
	line, _, _ := strings.Cut(h.asked(llm.Reasoning)[0], ".")
	return line + "."
}

// heldUp says something while the agent thinks, and returns its thoughts.
func heldUp(t *testing.T, h *house) string {
	h.model.Rules = []llmtest.Rule{{For: llmtest.ForThought, Reply: "one two three four five", Every: time.Second}}
	h.open(t.Context())
	h.say(t, "think of it")
	time.Sleep(1500 * time.Millisecond)
	h.say(t, "count")
	time.Sleep(time.Minute)
	return h.thoughts()
}

// amongAgents lets agents talk to each other for ever, and returns how many requests were made.
func amongAgents(t *testing.T, h *house) string {
	h.model = endless("Earshot", "Scout")
	h.model.Rules[0].Replies[0].Text = "@Scout, go on"
	c := pair(t, h)
	c.must(t, "ann", "talk to each other", time.Minute)
	return fmt.Sprintf("%d requests", len(h.model.Seen()))
}

// ask asks one question, and returns what was shown of the answer.
func ask(t *testing.T, h *house) string {
	h.open(t.Context())
	h.say(t, "count")
	time.Sleep(time.Minute)
	return strings.TrimSpace(h.console.Played())
}

// prompted looks for words in what the model reads, and returns whether they are there.
func prompted(words string) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		ask(t, h)
		var all strings.Builder
		for _, m := range h.model.Seen()[0].Messages {
			all.WriteString(m.Text + "\n")
		}
		return fmt.Sprint(strings.Contains(all.String(), words))
	}
}

// remembered returns whether the prompt still tells of something said ten seconds ago as going on.
func remembered(t *testing.T, h *house) string {
	h.open(t.Context())
	h.say(t, "the kettle boils")
	time.Sleep(10 * time.Second)
	h.say(t, "count")
	time.Sleep(time.Minute)
	messages := h.model.Seen()[1].Messages
	return fmt.Sprint(strings.Contains(messages[len(messages)-1].Text, "the kettle boils"))
}

// drowsy returns the state of the agent a minute after its reply.
func drowsy(t *testing.T, h *house) string {
	h.recall = func(context.Context, earshot.ParticipantID) ([]earshot.Event, error) { return h.journal.Events(), nil }
	ask(t, h)
	return h.state().Agents[0].State
}

// thinker returns the model that is asked, and its engine.
func thinker(t *testing.T, h *house) string {
	ask(t, h)
	req := h.model.Seen()[0]
	return req.Model + " of " + cmp.Or(req.Engine, "the usual")
}

func heat(t *testing.T, h *house) string {
	ask(t, h)
	return fmt.Sprint(h.model.Seen()[0].Temperature)
}

func whole(t *testing.T, h *house) string {
	ask(t, h)
	return fmt.Sprint(h.model.Seen()[0].Whole)
}

// halfway returns whether anything of a sentence is shown before its end.
func halfway(t *testing.T, h *house) string {
	h.open(t.Context())
	h.say(t, "count")
	time.Sleep(25 * time.Millisecond)
	shown := h.console.Played()
	time.Sleep(time.Minute)
	return fmt.Sprint(shown != "")
}

// cutIn sends a message while the agent talks, and returns how the reply ended.
func cutIn(t *testing.T, h *house) string {
	h.open(t.Context())
	h.say(t, "count")
	time.Sleep(25 * time.Millisecond)
	h.say(t, "and backwards?")
	time.Sleep(time.Minute)
	return string(h.replies()[0].Outcome)
}

// cutInFrom lets somebody on Discord write or say something while the agent talks, and returns how
// the reply ended.
func cutInFrom(body earshot.Body) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		ada := earshot.Handle{Provider: "discord", ID: "42"}
		h.people = guild(t, ada)
		h.open(t.Context())
		h.say(t, "count")
		time.Sleep(25 * time.Millisecond)
		if err := h.Admit(t.Context(), earshot.Event{From: ada, Via: "discord", Body: body}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		return string(h.replies()[0].Outcome)
	}
}

// leftover asks for what a cut left unsaid, and returns whether the agent says it.
func leftover(t *testing.T, h *house) string {
	h.model.Rules = []llmtest.Rule{{When: "were you saying", Reply: "I forget."}}
	h.open(t.Context())
	h.say(t, "count")
	time.Sleep(25 * time.Millisecond)
	typing(t, h, true)
	time.Sleep(time.Minute)
	h.say(t, "stop")
	time.Sleep(time.Minute)
	h.say(t, "what were you saying?")
	time.Sleep(time.Minute)
	return fmt.Sprint(strings.HasSuffix(strings.TrimSpace(h.console.Played()), "four"))
}

// typedOver returns whether a reply goes on while somebody types.
func typedOver(t *testing.T, h *house) string {
	h.open(t.Context())
	h.say(t, "count")
	time.Sleep(25 * time.Millisecond)
	typing(t, h, true)
	time.Sleep(time.Minute)
	whole := strings.HasSuffix(h.console.Played(), "four")
	typing(t, h, false)
	time.Sleep(time.Minute)
	return fmt.Sprint(whole)
}

// toldApart returns who said the first utterance, whether the model is told that people are told
// apart by their voices, and whether a second voice is in talk with the agent.
func toldApart(t *testing.T, h *house) string {
	h.voices = new(ears)
	voiced(t, h)
	h.hearsOf(t, 3, "earshot count", 3*time.Second)
	h.hearsOf(t, 5, "and again", time.Minute)
	system := h.model.Seen()[0].Messages
	told := strings.Contains(system[len(system)-1].Text, "told by their voices")
	return fmt.Sprintf("%s: %v; in talk: %v", h.people.Name(utterances(h)[0].Author), told, len(h.replies()) > 1)
}

// attentive and brief are the beginnings of what the model is told about taking turns among several
// people.
const attentive, brief = "Leave people room", "Answer only what you are asked"

// protocolTold returns which of these beginnings the model is told.
func protocolTold(t *testing.T, h *house) string {
	c := gather(t, h, "bob")
	c.must(t, "ann", "Earshot, count", time.Second)
	system := h.model.Seen()[0].Messages
	for _, manner := range []string{attentive, brief} {
		if strings.Contains(system[len(system)-1].Text, manner) {
			return manner
		}
	}
	return ""
}

func typing(t *testing.T, h *house, began bool) {
	t.Helper()
	if err := h.Admit(t.Context(), earshot.Event{From: ann, Via: "console", Body: earshot.Typing{Began: began}}); err != nil {
		t.Fatal(err)
	}
}

// offered returns which tools the model is offered.
func offered(t *testing.T, h *house) string {
	ask(t, h)
	var names []string
	for _, tool := range h.model.Seen()[0].Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}
