package executive_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"earshot"
	"earshot/executive"
	"earshot/internal/field"
)

func TestDefaultConfig(t *testing.T) {
	c := executive.DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	const conversational = "You are an observant AI assistant monitoring the user's environment. Respond naturally and concisely in 1-2 sentences. Focus on what you observe and notice. You may be interrupted mid-thought by the user - this is normal."
	if got := words(c.Conversational.SystemPrompt); got != conversational {
		t.Errorf("the conversational prompt is %q", got)
	}
	const reasoning = "You are a strategic reasoning agent. Provide deep analysis, identify patterns, and recommend actions. Think step-by-step about complex situations. Your thoughts may be interrupted - save your progress and continue when resumed."
	if got := words(c.Reasoning.SystemPrompt); got != reasoning {
		t.Errorf("the reasoning prompt is %q", got)
	}
}

// words undoes the breaking of lines.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*executive.Config)
		want   string // the faults, one a line
	}{
		{"nothing", func(c *executive.Config) {}, ""},
		{"gentle", func(c *executive.Config) {
			c.Conversational.Temperature, c.Conversational.MaxTokens = 0, 1
			c.Interruption.Sources, c.Reasoning.Triggers = nil, nil
			c.Name = "Ann-Marie O'Neill Jr. 2"
			c.UpdateInterval, c.ContextWindow = 0.1, 1
		}, ""},
		{"other letters", func(c *executive.Config) { c.Name = "Ζωή" }, ""},
		{"no name", func(c *executive.Config) { c.Name = " " }, "name: is empty; the agent needs a name to be called by"},
		{"long name", func(c *executive.Config) { c.Name = strings.Repeat("ö", 41) }, "name: has 41 characters; must be at most 40"},
		{"an envelope for a name", func(c *executive.Config) { c.Name = "Bob] TO: all" }, `name: is "Bob] TO: all"; must have only letters, digits, spaces and - ' . in it, without a space at either end`},
		{"two lines for a name", func(c *executive.Config) { c.Name = "Bob\nAnn" }, `name: is "Bob\nAnn"; must have only letters, digits, spaces and - ' . in it, without a space at either end`},
		{"a part in the conversation for a name", func(c *executive.Config) { c.Name = "System" }, `name: cannot be used: the name "System" stands for something else: "system" is a reserved word`},
		{"asleep at once", func(c *executive.Config) { c.AgentsSleepAfter = 0.5 }, "agents_sleep_after_seconds: is 0.5s; must be at least 1s, or 0 for never"},
		{"a workspace anywhere", func(c *executive.Config) { c.Tools.Workspace = "here" }, `tools.workspace: is "here"; write the whole path, from the root: it must not depend on where earshot is started`},
		{"a workspace nowhere", func(c *executive.Config) { c.Tools.Workspace = "/a\x00b" }, "tools.workspace: has a zero byte in it"},
		{"no window", func(c *executive.Config) { c.ContextWindow = 0.5 }, "context_window_seconds: is 0.5s; must be at least 1s, or the scene would always be empty"},
		{"too often", func(c *executive.Config) { c.UpdateInterval = 0 }, "update_interval_seconds: is 0s; must be at least 0.1s"},
		{"not a number", func(c *executive.Config) { c.Reasoning.Temperature = math.NaN() }, "reasoning.temperature: is NaN; must be from 0 to 2"},
		{"empty prompt", func(c *executive.Config) { c.Reasoning.SystemPrompt = "\n" }, "reasoning.system_prompt: is empty; remove the key to use the built-in prompt"},
		{"long prompt", func(c *executive.Config) { c.Conversational.SystemPrompt = strings.Repeat("x", 16385) }, "conversational.system_prompt: has 16385 bytes; must be at most 16384"},
		{"no such engine", func(c *executive.Config) { c.Reasoning.Engine = "big" }, `reasoning.engine: is "big", but no engine has that name; must be one of ollama`},
		{"no such engine for vectors", func(c *executive.Config) { c.Recall.Embedding.Engine = "big" }, `recall.embedding.engine: is "big", but no engine has that name; must be one of ollama`},
		{"triggers", func(c *executive.Config) { c.Reasoning.Triggers = []string{"think", "", strings.Repeat("x", 101)} },
			`reasoning.triggers: has "" as entry 2; must be a word of at most 100 bytes` + "\n" +
				`reasoning.triggers: has "` + strings.Repeat("x", 100) + `" as entry 3; must be a word of at most 100 bytes`},
		{"many triggers", func(c *executive.Config) {
			c.Reasoning.Triggers = strings.Split(strings.Repeat("x ", 100)+"x", " ")
		}, "reasoning.triggers: has 101 entries; must have at most 100"},
		{"sources", func(c *executive.Config) { c.Interruption.Sources = []string{"text", "smell", "text"} },
			`interruption.sources: has "smell"; must be one of text, audio, discord` + "\n" +
				`interruption.sources: lists "text" twice`},
		{"turn limit", func(c *executive.Config) { c.MultiParty.TurnLimit = -1 }, "multi_party.turn_limit: is -1; must be from 0 to 1000"},
		{"sees in a room twice", func(c *executive.Config) { c.Sight.Rooms = []earshot.RoomID{"desk", "desk", " "} },
			`sight.rooms: lists "desk", which is empty or listed twice; must be names of rooms, such as desk` + "\n" +
				`sight.rooms: lists " ", which is empty or listed twice; must be names of rooms, such as desk`},
		{"captions", func(c *executive.Config) { c.Sight.CaptionsPerHour = 61 }, "sight.captions_per_hour: is 61; must be from 0 to 60"},
		{"greets at each step", func(c *executive.Config) { c.Sight.GreetAfterAbsence = 0 }, "sight.greet_after_absence_seconds: is 0s; must be from 1s to 86400s"},
		{"everything", func(c *executive.Config) {
			c.Conversational.Temperature, c.Conversational.MaxTokens = -0.1, 0
			c.Reasoning.MaxTokens = 1 << 20
			c.Streaming.BufferSize = 0
			c.Parallel.ReasoningInterval = -1
			c.MultiParty.TurnTakingProtocol, c.MultiParty.TurnLimit = "rude", 1001
		}, "conversational.temperature: is -0.1; must be from 0 to 2\n" +
			"conversational.max_tokens: is 0; must be from 1 to 131072\n" +
			"reasoning.max_tokens: is 1048576; must be from 1 to 131072\n" +
			"streaming.buffer_size: is 0; must be from 1 to 4096 pieces\n" +
			"parallel.reasoning_interval: is -1s; must be at least 0.1s\n" +
			`multi_party.turn_taking_protocol: is "rude"; must be one of polite, aggressive, passive` + "\n" +
			"multi_party.turn_limit: is 1001; must be from 0 to 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := executive.DefaultConfig()
			tt.change(&c)
			var got []string
			for _, f := range field.Faults(c.Validate()) {
				got = append(got, f.Error())
			}
			if joined := strings.Join(got, "\n"); joined != tt.want {
				t.Errorf("got\n%s\nwant\n%s", joined, tt.want)
			}
		})
	}
}

// TestDefaultsAreFresh changes a list of one default and looks at the next.
func TestDefaultsAreFresh(t *testing.T) {
	executive.DefaultConfig().Interruption.Sources[0] = "changed"
	executive.DefaultConfig().Reasoning.Triggers[0] = "changed"
	if err := errors.Join(executive.DefaultConfig().Validate()); err != nil || executive.DefaultConfig().Reasoning.Triggers[0] != "think" {
		t.Error("two configurations share a list", err)
	}
}
