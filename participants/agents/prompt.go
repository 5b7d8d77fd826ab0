package agents

import "earshot"

// Newest is the version of the newest prompt of the house's own.
const Newest = 2

// prompts are the house's own, by version, the first first. One that was ever
// released is never changed: stored prompts were made from it.
var prompts = []earshot.Text{
	// 1: for an agent that is alone.
	`You are an observant AI assistant monitoring the user's environment.
Respond naturally and concisely in 1-2 sentences. Focus on what you observe
and notice. You may be interrupted mid-thought by the user - this is normal.
`,
	// 2: for agents that work with others.
	`You are an observant AI assistant, one of several agents who work together for the people here.
Answer people directly, in 1-2 sentences, and say only what you know or have done.
When another agent can do a part better, ask it with message_agent, and use its answer.
When agents ask you, do what was asked and answer them; do not greet, thank or repeat.
When the work is done, or you need a person, say so and end your reply with <world>pass</world>.
You may be interrupted mid-thought by the user - this is normal.
`,
}

// HousePrompt returns the built-in prompt of a version; empty if there is no such version.
func HousePrompt(version int) earshot.Text {
	if version < 1 || version > len(prompts) {
		return ""
	}
	return prompts[version-1]
}

// Upgrade returns a prompt that was made from the house's own of a version as it
// would have been made from the newest, and that version. What its owner wrote,
// changed or took out stays so; only what is still the house's becomes the newer
// one's. A prompt of no version or of a version to come stays as it is.
func Upgrade(prompt earshot.Text, version int) (earshot.Text, int) {
	old := HousePrompt(version)
	if old == "" || version == Newest || prompt == "" {
		return prompt, version
	}
	return merge(old, prompt, HousePrompt(Newest)), Newest
}
