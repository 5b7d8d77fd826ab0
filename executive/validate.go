package executive

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/internal/field"
	"earshot/interrupt"
	"earshot/participants"
)

const (
	longestName     = 40        // characters; it stands before every reply
	hottest         = 2         // beyond it, models write noise
	mostTokens      = 128 << 10 // the largest context of the models that people run at home
	longestPrompt   = 16 << 10  // bytes; about what the smallest context holds
	mostTriggers    = 100       // each message is searched for all of them
	longestTrigger  = 100       // bytes; it is a word or a few
	mostAhead       = 4096      // pieces; a whole long reply
	longestFollowUp = 300       // seconds; longer, and it would answer everything
	mostNames       = 50        // each utterance is searched for all of them
	mostTurns       = 1000      // messages; nobody reads more
	longestAbsence  = 24 * 3600 // seconds; who comes every day would never be greeted
	mostCaptions    = 60        // in an hour; the cool-down allows no more
	shortest        = 0.1       // seconds; more often than that is a busy loop
)

// sources are the ways in which the agent can be interrupted.
var sources = []string{"text", "audio", "discord"}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	faults := []error{
		checkName(c.Name),
		interval("update_interval_seconds", c.UpdateInterval),
		field.Under("llm", c.LLM.Validate()),
		field.Under("conversational", c.Conversational.validate()),
		field.Under("reasoning", c.Reasoning.validate()),
		field.Under("streaming", c.Streaming.validate()),
		field.Under("interruption", c.Interruption.validate()),
		field.Under("speech", c.Speech.validate()),
		field.Under("parallel", c.Parallel.validate()),
		field.Under("attention", c.Attention.Validate()),
		field.Under("sight", c.Sight.validate()),
		field.Under("multi_party", c.MultiParty.validate()),
		field.Under("tools", c.Tools.validate()),
		field.Under("memory", c.Memory.validate()),
		field.Under("task", c.Task.validate()),
		field.Under("schedule", c.Schedule.validate()),
	}
	if e := c.Reasoning.Engine; e != "" && !slices.Contains(c.LLM.Names(), e) {
		faults = append(faults, field.Errorf("reasoning.engine", "is %q, but no engine has that name; must be one of %s", e, strings.Join(c.LLM.Names(), ", ")))
	}
	if e := c.Recall.Embedding.Engine; e != "" && !slices.Contains(c.LLM.Names(), e) {
		faults = append(faults, field.Errorf("recall.embedding.engine", "is %q, but no engine has that name; must be one of %s", e, strings.Join(c.LLM.Names(), ", ")))
	}
	if c.ContextWindow < 1 {
		faults = append(faults, field.Errorf("context_window_seconds", "is %v; must be at least 1s, or the scene would always be empty", c.ContextWindow))
	}
	if !(c.AgentsSleepAfter == 0 || c.AgentsSleepAfter >= 1) {
		faults = append(faults, field.Errorf("agents_sleep_after_seconds", "is %v; must be at least 1s, or 0 for never", c.AgentsSleepAfter))
	}
	return errors.Join(faults...)
}

// checkName wants a name that can be called, and that cannot be mistaken for a
// part of an envelope such as "[FROM: Name]".
func checkName(name string) error {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		return field.Errorf("name", "is empty; the agent needs a name to be called by")
	case n > longestName:
		return field.Errorf("name", "has %d characters; must be at most %d", n, longestName)
	case name != strings.TrimSpace(name) || strings.ContainsFunc(name, unspeakable):
		return field.Errorf("name", "is %q; must have only letters, digits, spaces and - ' . in it, without a space at either end", name)
	}
	if _, err := participants.CheckAgent(name); err != nil {
		return field.Errorf("name", "cannot be used: %v", err)
	}
	return nil
}

func unspeakable(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(" -'.", r)
}

func (c Conversational) validate() error {
	return generation(c.Temperature, c.MaxTokens, c.SystemPrompt)
}

func (c Speech) validate() error {
	faults := []error{within("follow_up_seconds", c.FollowUp, 0, longestFollowUp), entries("heard_as", len(c.HeardAs), mostNames)}
	for i, name := range c.HeardAs {
		if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > longestName {
			faults = append(faults, field.Errorf("heard_as", "has %q as entry %d; must be a name of at most %d characters", name[:min(len(name), longestName)], i+1, longestName))
		}
	}
	return errors.Join(append(faults, within("least_confidence", c.LeastConfidence, 0, 1))...)
}

func (c Reasoning) validate() error {
	faults := []error{generation(c.Temperature, c.MaxTokens, c.SystemPrompt), entries("triggers", len(c.Triggers), mostTriggers)}
	for i, word := range c.Triggers {
		if strings.TrimSpace(word) == "" || len(word) > longestTrigger {
			faults = append(faults, field.Errorf("triggers", "has %q as entry %d; must be a word of at most %d bytes", word[:min(len(word), longestTrigger)], i+1, longestTrigger))
		}
	}
	return errors.Join(faults...)
}

func (c Streaming) validate() error {
	if c.BufferSize < 1 || c.BufferSize > mostAhead {
		return field.Errorf("buffer_size", "is %d; must be from 1 to %d pieces", c.BufferSize, mostAhead)
	}
	return nil
}

func (c Interruption) validate() error {
	var faults []error
	for i, s := range c.Sources {
		switch {
		case !slices.Contains(sources, s):
			faults = append(faults, field.Errorf("sources", "has %q; must be one of %s", s, strings.Join(sources, ", ")))
		case slices.Contains(c.Sources[:i], s):
			faults = append(faults, field.Errorf("sources", "lists %q twice", s))
		}
	}
	return errors.Join(faults...)
}

func (c Sight) validate() error {
	faults := []error{within("greet_after_absence_seconds", c.GreetAfterAbsence, 1, longestAbsence)}
	for i, room := range c.Rooms {
		if strings.TrimSpace(string(room)) == "" || slices.Contains(c.Rooms[:i], room) {
			faults = append(faults, field.Errorf("rooms", "lists %q, which is empty or listed twice; must be names of rooms, such as %s", room, earshot.Desk))
		}
	}
	return errors.Join(append(faults, within("captions_per_hour", c.CaptionsPerHour, 0, mostCaptions))...)
}

func (c MultiParty) validate() error {
	var style error
	if _, ok := interrupt.ParseStyle(c.TurnTakingProtocol); !ok {
		style = field.Errorf("turn_taking_protocol", "is %q; must be one of polite, aggressive, passive", c.TurnTakingProtocol)
	}
	return errors.Join(style, within("turn_limit", c.TurnLimit, 0, mostTurns))
}

func (c Tools) validate() error {
	switch {
	case strings.ContainsRune(c.Workspace, 0):
		return field.Errorf("workspace", "has a zero byte in it")
	case c.Workspace != "" && !filepath.IsAbs(c.Workspace):
		return field.Errorf("workspace", "is %q; write the whole path, from the root: it must not depend on where earshot is started", c.Workspace)
	}
	return nil
}

// mostTokensPerDay is more than any machine thinks in a day.
const mostTokensPerDay = 1_000_000_000

func (c Parallel) validate() error {
	var tokens error
	if n := c.TokensPerDay; n < 0 || n > mostTokensPerDay {
		tokens = field.Errorf("reasoning_tokens_per_day", "is %d; must be from 0, which means no limit, to %d", n, mostTokensPerDay)
	}
	return errors.Join(interval("reasoning_interval", c.ReasoningInterval), tokens)
}

func interval(key string, s field.Seconds) error {
	if !(s >= shortest) {
		return field.Errorf(key, "is %v; must be at least %v", s, field.Seconds(shortest))
	}
	return nil
}

// within says that a value is out of its range; nil if it is not.
func within[T cmp.Ordered](key string, v, least, most T) error {
	if v >= least && v <= most {
		return nil
	}
	return field.Errorf(key, "is %v; must be from %v to %v", v, least, most)
}

// entries says that a list is too long; nil if it is not.
func entries(key string, n, most int) error {
	if n <= most {
		return nil
	}
	return field.Errorf(key, "has %d entries; must have at most %d", n, most)
}

// generation returns the faults in how a model is asked.
func generation(temperature float64, tokens int, system string) error {
	return errors.Join(within("temperature", temperature, 0, hottest), within("max_tokens", tokens, 1, mostTokens), prompt(system))
}

func prompt(p string) error {
	switch {
	case strings.TrimSpace(p) == "":
		return field.Errorf("system_prompt", "is empty; remove the key to use the built-in prompt")
	case len(p) > longestPrompt:
		return field.Errorf("system_prompt", "has %d bytes; must be at most %d", len(p), longestPrompt)
	}
	return nil
}
