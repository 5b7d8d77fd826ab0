package agents

import "earshot"

// Newest is the version of the newest built-in prompt.
const Newest = 2

// prompts are the built-in prompts by version, oldest first. A released one is never changed,
// because stored prompts were made from it.
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

// Upgrade takes a prompt that was made from the built-in prompt of a version. It returns the prompt
// as it would have been made from the newest one, and the newest version. What its owner wrote,
// changed or removed remains; only unchanged built-in lines become those of the newest version. A
// prompt without a version, or of a future one, stays unchanged.
func Upgrade(prompt earshot.Text, version int) (earshot.Text, int) {
	old := HousePrompt(version)
	if old == "" || version == Newest || prompt == "" {
		return prompt, version
	}
	return merge(old, prompt, HousePrompt(Newest)), Newest
}
