package executive

import (
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
	longestName      = 40            // characters; it stands before every reply
	hottest          = 2             // beyond it, models write noise
	mostTokens       = 128 << 10     // the largest context of the models that people run at home
	mostTokensPerDay = 1_000_000_000 // more than any machine thinks in a day
	longestPrompt    = 16 << 10      // bytes; about what the smallest context holds
	mostTriggers     = 100           // each message is searched for all of them
	longestTrigger   = 100           // bytes; it is a word or a few
	mostAhead        = 4096          // pieces; a whole long reply
	longestFollowUp  = 300           // seconds; longer, and it would answer everything
	mostNames        = 50            // each utterance is searched for all of them
	mostTurns        = 1000          // messages; nobody reads more
	longestAbsence   = 24 * 3600     // seconds; who comes every day would never be greeted
	mostCaptions     = 60            // in an hour; the cool-down allows no more
	shortest         = 0.1           // seconds; more often than that is a busy loop
)

// sources are the ways in which the agent can be interrupted.
var sources = []string{"text", "audio", "discord"}

// Validate reports every fault in c, not only the first.
func (c Config) Validate() error {
	return errors.Join(
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
		field.Check(c.Reasoning.Engine == "" || slices.Contains(c.LLM.Names(), c.Reasoning.Engine),
			"reasoning.engine", "is %q, but no engine has that name; must be one of %s", c.Reasoning.Engine, strings.Join(c.LLM.Names(), ", ")),
		field.Check(c.ContextWindow >= 1,
			"context_window_seconds", "is %v; must be at least 1s, or the scene would always be empty", c.ContextWindow),
		field.Check(c.AgentsSleepAfter == 0 || c.AgentsSleepAfter >= 1,
			"agents_sleep_after_seconds", "is %v; must be at least 1s, or 0 for never", c.AgentsSleepAfter),
	)
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
	return errors.Join(temperature(c.Temperature), tokens(c.MaxTokens), prompt(c.SystemPrompt))
}

func (c Speech) validate() error {
	faults := []error{
		field.Check(!(c.FollowUp < 0 || c.FollowUp > longestFollowUp), "follow_up_seconds", "is %v; must be from 0s to %v", c.FollowUp, field.Seconds(longestFollowUp)),
		field.Check(len(c.HeardAs) <= mostNames, "heard_as", "has %d entries; must have at most %d", len(c.HeardAs), mostNames),
	}
	for i, name := range c.HeardAs {
		faults = append(faults, field.Check(strings.TrimSpace(name) != "" && utf8.RuneCountInString(name) <= longestName,
			"heard_as", "has %q as entry %d; must be a name of at most %d characters", name[:min(len(name), longestName)], i+1, longestName))
	}
	faults = append(faults, field.Check(c.LeastConfidence >= 0 && c.LeastConfidence <= 1, "least_confidence", "is %v; must be from 0 to 1", c.LeastConfidence))
	return errors.Join(faults...)
}

func (c Reasoning) validate() error {
	faults := []error{
		temperature(c.Temperature), tokens(c.MaxTokens), prompt(c.SystemPrompt),
		field.Check(len(c.Triggers) <= mostTriggers, "triggers", "has %d entries; must have at most %d", len(c.Triggers), mostTriggers),
	}
	for i, word := range c.Triggers {
		faults = append(faults, field.Check(strings.TrimSpace(word) != "" && len(word) <= longestTrigger,
			"triggers", "has %q as entry %d; must be a word of at most %d bytes", word[:min(len(word), longestTrigger)], i+1, longestTrigger))
	}
	return errors.Join(faults...)
}

func (c Streaming) validate() error {
	return field.Check(c.BufferSize >= 1 && c.BufferSize <= mostAhead, "buffer_size", "is %d; must be from 1 to %d pieces", c.BufferSize, mostAhead)
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
	faults := []error{
		field.Check(c.GreetAfterAbsence >= 1 && c.GreetAfterAbsence <= longestAbsence,
			"greet_after_absence_seconds", "is %v; must be from 1s to %v", c.GreetAfterAbsence, field.Seconds(longestAbsence)),
	}
	for i, room := range c.Rooms {
		faults = append(faults, field.Check(strings.TrimSpace(string(room)) != "" && !slices.Contains(c.Rooms[:i], room),
			"rooms", "lists %q, which is empty or listed twice; must be names of rooms, such as %s", room, earshot.Desk))
	}
	faults = append(faults, field.Check(c.CaptionsPerHour >= 0 && c.CaptionsPerHour <= mostCaptions,
		"captions_per_hour", "is %d; must be from 0 to %d", c.CaptionsPerHour, mostCaptions))
	return errors.Join(faults...)
}

func (c MultiParty) validate() error {
	_, known := interrupt.ParseStyle(c.TurnTakingProtocol)
	return errors.Join(
		field.Check(known, "turn_taking_protocol", "is %q; must be one of polite, aggressive, passive", c.TurnTakingProtocol),
		field.Check(c.TurnLimit >= 0 && c.TurnLimit <= mostTurns, "turn_limit", "is %d; must be from 0 to %d", c.TurnLimit, mostTurns),
	)
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

func (c Parallel) validate() error {
	return errors.Join(
		interval("reasoning_interval", c.ReasoningInterval),
		field.Check(c.TokensPerDay >= 0 && c.TokensPerDay <= mostTokensPerDay,
			"reasoning_tokens_per_day", "is %d; must be from 0, which means no limit, to %d", c.TokensPerDay, mostTokensPerDay),
	)
}

func interval(key string, s field.Seconds) error {
	return field.Check(s >= shortest, key, "is %v; must be at least %v", s, field.Seconds(shortest))
}

func temperature(t float64) error {
	return field.Check(t >= 0 && t <= hottest, "temperature", "is %v; must be from 0 to %d", t, hottest)
}

func tokens(n int) error {
	return field.Check(n >= 1 && n <= mostTokens, "max_tokens", "is %d; must be from 1 to %d", n, mostTokens)
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
