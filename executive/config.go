// Package executive is the branch of the house that decides. The package
// itself is only the section of the configuration that all of it is set by;
// what decides lies below it: [earshot/executive/room] does things in one
// order, [earshot/executive/scene] is what is known at the moment,
// [earshot/executive/turn] is one reply and the truth about it,
// [earshot/executive/reflex] answers what needs no model,
// [earshot/executive/presence] is who is probably here,
// [earshot/executive/think] thinks beside the conversation, and
// [earshot/executive/attention] decides when to, and when to speak unasked.
//
// A key whose feature comes with a later version can be set today, is checked, and
// says so below.
package executive

import (
	"earshot"
	"earshot/executive/attention"
	"earshot/internal/field"
	"earshot/llm"
	"earshot/participants/agents"
)

// Config is the section executive of the configuration file. The zero value is
// not usable; start from [DefaultConfig].
type Config struct {
	// Enabled lets the agent answer. Without it earshot still listens, keeps
	// and shows what was said, and answers nothing.
	Enabled bool `yaml:"enabled"`

	// Name is what the agent is called, and what wakes it in speech.
	Name string `yaml:"name"`

	// UpdateInterval is how often it is weighed at most whether what happens is new
	// enough to think about.
	UpdateInterval field.Seconds `yaml:"update_interval_seconds"`

	// ContextWindow is how long what was perceived stays in the prompt as what
	// is going on now. Dialogue is not affected.
	ContextWindow field.Seconds `yaml:"context_window_seconds"`

	// AgentsSleepAfter is how long nothing happens to an agent before it goes to
	// sleep: what was said is then read again when it is called. 0 is never.
	AgentsSleepAfter field.Seconds `yaml:"agents_sleep_after_seconds"`

	LLM            llm.Config       `yaml:"llm"` // which model answers, and where
	Conversational Conversational   `yaml:"conversational"`
	Reasoning      Reasoning        `yaml:"reasoning"`
	Streaming      Streaming        `yaml:"streaming"`
	Interruption   Interruption     `yaml:"interruption"`
	Speech         Speech           `yaml:"speech"`
	Parallel       Parallel         `yaml:"parallel"`
	Attention      attention.Config `yaml:"attention"` // when it speaks unasked
	Sight          Sight            `yaml:"sight"`
	MultiParty     MultiParty       `yaml:"multi_party"`
	Tools          Tools            `yaml:"tools"`
	Memory         Memory           `yaml:"memory"`
	Task           Task             `yaml:"task"`
	Schedule       Schedule         `yaml:"schedule"`
	Recall         Recall           `yaml:"recall"`
}

// Conversational is how the agent talks.
type Conversational struct {
	// Temperature is how freely the model chooses its words: 0 gives the same
	// reply to the same prompt.
	Temperature float64 `yaml:"temperature"`

	// MaxTokens ends a reply that grows longer.
	MaxTokens int `yaml:"max_tokens"`

	// SystemPrompt tells the model who it is. Without its last sentence models
	// apologise for having been interrupted.
	SystemPrompt string `yaml:"system_prompt"`
}

// Reasoning is how the agent thinks beside the conversation: the main one of each
// room, for the room.
type Reasoning struct {
	// Enabled lets the agent think.
	Enabled bool `yaml:"enabled"`

	// Engine is the name of the one that thinks, and Model the model of that
	// engine. Empty means those that the agent talks with. With an engine of its
	// own, or one with a slot to spare, a thought gives way to nobody.
	Engine string `yaml:"engine"`
	Model  string `yaml:"model"`

	// Temperature is that of a thought, and MaxTokens ends a stretch of it that
	// grows longer.
	Temperature float64 `yaml:"temperature"`
	MaxTokens   int     `yaml:"max_tokens"`

	// SystemPrompt tells the model how to think.
	SystemPrompt string `yaml:"system_prompt"`

	// Triggers are the words in somebody's message to the agent that make it
	// think about it, beside its answer.
	Triggers []string `yaml:"triggers"`
}

// Streaming is how a reply comes.
type Streaming struct {
	// Enabled asks the model for its reply word by word. Without it the reply
	// comes as a whole when the model has finished, and cannot be cut earlier.
	Enabled bool `yaml:"enabled"`

	// BufferSize is how many pieces, mostly words, the model may be ahead of
	// what comes out; of a voice, how many clauses. More lets it finish sooner;
	// what is ahead is lost at a cut.
	BufferSize int `yaml:"buffer_size"`

	// DisplayPartial shows a reply while it is made. Without it a console
	// shows each sentence when it is complete.
	DisplayPartial bool `yaml:"display_partial"`
}

// Interruption is who may cut the agent off, and what becomes of the rest.
type Interruption struct {
	// Enabled lets the agent be interrupted. Without it a message that comes
	// while it talks is answered afterwards.
	Enabled bool `yaml:"enabled"`

	// Sources are the ways in which it may be: text, audio, discord. A way
	// that is not listed waits. Discord takes effect later, with its sense.
	Sources []string `yaml:"sources"`

	// SavePartial keeps the part of an interrupted reply that nobody heard, so
	// that "what were you saying?" can be answered with it. Without it only
	// what was heard is remembered.
	SavePartial bool `yaml:"save_partial"`

	// ResumeWithin is for how long after a cut "what were you saying?" goes on with the
	// reply that was cut off, whatever was answered in between. 0 is never.
	ResumeWithin field.Seconds `yaml:"resume_within_seconds"`
}

// Speech is when the agent answers what is said aloud. It does when it is called
// by its name, and while it is in talk with the one who speaks; whatever else it
// hears is written down and left alone.
type Speech struct {
	// FollowUp is how long after its reply the agent answers the same voice
	// without being called.
	FollowUp field.Seconds `yaml:"follow_up_seconds"`

	// HeardAs are more ways in which a recogniser writes the agent's name.
	HeardAs []string `yaml:"heard_as"`

	// LeastConfidence is how sure a recogniser must be, from 0 to 1, of words
	// that are to be answered without the agent's name in them.
	LeastConfidence float64 `yaml:"least_confidence"`

	// AskBack says a short "sorry?" to whom the agent is in talk with and has hardly
	// understood, once.
	AskBack bool `yaml:"ask_back"`

	// PrepareReply asks the model already when somebody sounds done, and waits with
	// the answer until they are. What they add then makes it ask again.
	PrepareReply bool `yaml:"prepare_reply"`

	// TypedAloud says answers to what was typed aloud too, at the pace of
	// speech. Without it, who types reads.
	TypedAloud bool `yaml:"answer_typed_aloud"`

	// FillerAfter is how long after the end of what was said the first words of a reply
	// that is spoken may come without a short sign, such as "let me see". 0 is for ever.
	FillerAfter field.Seconds `yaml:"filler_after_seconds"`

	// Backchannels lets the agent show that it listens, by a quiet "uh-huh" in a pause of
	// somebody who tells it something long. It is rare, and in no record.
	Backchannels bool `yaml:"backchannels"`

	// AnnounceVoices says aloud that what is said is written down, when a voice is
	// heard for the first time. Nothing interrupts that. It needs
	// multi_party.speaker_attribution.
	AnnounceVoices bool `yaml:"announce_new_voices"`
}

// Parallel is how thinking and talking share the time.
type Parallel struct {
	// Enabled thinks beside the conversation. Without it a thought is one step
	// after a reply, when somebody has asked for it; whoever speaks ends it.
	Enabled bool `yaml:"enabled"`

	// ReasoningContinuous also thinks about what nobody has asked, when something
	// new happens. Without it the agent thinks when it is asked to.
	ReasoningContinuous bool `yaml:"reasoning_continuous"`

	// ReasoningInterval is the least time from a thought to the next that nobody
	// has asked for.
	ReasoningInterval field.Seconds `yaml:"reasoning_interval"`

	// TokensPerDay is how many tokens are thought a day that nobody has asked for, those
	// of the prompts among them. What has begun is ended. 0 is any number.
	TokensPerDay int `yaml:"reasoning_tokens_per_day"`

	// RestsOnBattery thinks nothing unasked while the machine runs on its battery.
	RestsOnBattery bool `yaml:"reasoning_rests_on_battery"`
}

// Sight is what the agent makes of what cameras see.
type Sight struct {
	// Greet lets the agent greet somebody who comes into view after an absence, by
	// the rules of the section attention and of its turn-taking style: the passive one
	// never does.
	Greet bool `yaml:"greet"`

	// GreetAfterAbsence is how long nobody must have been noticed before that; in the
	// aggressive style a fifth of it is enough.
	GreetAfterAbsence field.Seconds `yaml:"greet_after_absence_seconds"`

	// Rooms are those whose agents can look through the cameras, and so whoever is
	// there.
	Rooms []earshot.RoomID `yaml:"rooms"`

	// CaptionsPerHour is how many pictures of something new a model describes in an
	// hour, at most. 0 is none.
	CaptionsPerHour int `yaml:"captions_per_hour"`
}

// MultiParty is how the agent behaves among several people.
type MultiParty struct {
	// Enabled lets more than one person talk with the agent. Without it the agent
	// answers, among several, only who operates it.
	Enabled bool `yaml:"enabled"`

	// SpeakerAttribution tells voices apart: who has said what, and who is in talk
	// with the agent. Without it, whoever is heard through one microphone is one
	// person, whom nobody knows.
	SpeakerAttribution bool `yaml:"speaker_attribution"`

	// TurnTakingProtocol is how the agent yields: polite stops for voices and
	// comes back when it was nothing, aggressive stops only for those who speak
	// to it, passive stops for everything and does not come back by itself.
	TurnTakingProtocol string `yaml:"turn_taking_protocol"`

	// TurnLimit is how many messages agents may say in a row before they leave
	// the floor to a person; 0 lets none answer another.
	TurnLimit int `yaml:"turn_limit"`
}

// Tools is what agents may do besides talking. What each asks for must be allowed
// to everybody in whose name it is: see the capabilities of external_actors.
type Tools struct {
	// Enabled lets agents use tools.
	Enabled bool `yaml:"enabled"`

	// Workspace is the folder in which each agent has one for its files. Empty
	// means workspaces, beside that of the journal.
	Workspace string `yaml:"workspace"`
}

// DefaultConfig returns the values of the keys that a configuration leaves out.
func DefaultConfig() Config {
	return Config{
		Enabled:          true,
		Name:             "Earshot",
		UpdateInterval:   5,
		ContextWindow:    30,
		AgentsSleepAfter: 600,
		LLM:              llm.DefaultConfig(),
		Conversational: Conversational{
			Temperature:  0.7,
			MaxTokens:    512,
			SystemPrompt: string(agents.HousePrompt(1)), // for an agent that is alone
		},
		Reasoning: Reasoning{
			Enabled:      true,
			Temperature:  0.7,
			MaxTokens:    1024,
			SystemPrompt: reasoningPrompt,
			Triggers:     []string{"think", "analyze", "reason", "decide", "complex"},
		},
		Streaming:    Streaming{Enabled: true, BufferSize: 128, DisplayPartial: true},
		Interruption: Interruption{Enabled: true, Sources: []string{"text", "audio", "discord"}, SavePartial: true, ResumeWithin: 600},
		Speech:       Speech{FollowUp: 8, LeastConfidence: 0.4, AskBack: true, PrepareReply: true, FillerAfter: 1.5},
		Parallel:     Parallel{Enabled: true, ReasoningContinuous: true, ReasoningInterval: 5, TokensPerDay: 500_000, RestsOnBattery: true},
		Attention:    attention.DefaultConfig(),
		Sight:        Sight{Greet: true, GreetAfterAbsence: 600, Rooms: []earshot.RoomID{earshot.Desk}, CaptionsPerHour: 12},
		MultiParty:   MultiParty{Enabled: true, SpeakerAttribution: true, TurnTakingProtocol: "polite", TurnLimit: 20},
		Tools:        Tools{Enabled: true},
		Memory:       Memory{Enabled: true, Quiet: 60, MostTokens: 600},
		Task:         Task{Enabled: true, Most: 32, AtOnce: 2, Tokens: 300_000, Time: 4 * 3600, Calls: 200},
		Schedule:     Schedule{Enabled: true, Most: 20},
	}
}

// reasoningPrompt is what a model is told that thinks.
const reasoningPrompt = `You are a strategic reasoning agent. Provide deep analysis, identify patterns,
and recommend actions. Think step-by-step about complex situations. Your
thoughts may be interrupted - save your progress and continue when resumed.
`

// ThinksUnasked reports whether the agents think about what nobody asked for.
func (c Config) ThinksUnasked() bool {
	return c.Enabled && c.Reasoning.Enabled && c.Parallel.Enabled && c.Parallel.ReasoningContinuous
}
