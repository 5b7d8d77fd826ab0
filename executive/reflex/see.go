package reflex

import (
	"slices"
	"strings"
)

// sights are what people say to make the agent look, without the words that [before] and [behind]
// add. Each is a whole utterance: "look, the thing is" and "let me see" are not among them, nor is
// "do you see?", which asks whether somebody understands.
var sights = []string{
	"look", "look at me", "look at us", "look at this", "look at that", "look around", "have a look", "take a look", "have a look at this", "take a look at this",
	"have a look around", "take a look around", "look through the camera", "look at the camera picture", "use your eyes", "use the camera",

	"what do you see", "what can you see", "what are you seeing", "what are you looking at", "what is there to see", "what is in view", "what is in front of you",
	"what is in front of the camera", "what does the camera see", "what does the camera show", "what do you see on the camera", "tell me what you see", "describe what you see",
	"say what you see", "tell me what i am holding", "tell me what i am wearing", "tell me what i am doing", "tell us what you see", "describe the room", "what does the room look like",

	"what am i holding", "what am i holding up", "what am i showing you", "what am i wearing", "what am i pointing at", "what do i look like", "how do i look",
	"what do i have in my hand", "what do i hold", "what is in my hand", "what have i got in my hand", "what is this in my hand", "what is that in my hand",
	"how many fingers am i holding up",
	"what color is my shirt", "what colour is my shirt",

	"who do you see", "who can you see", "who is in the room", "who is in view", "who is in front of you", "who is in front of the camera", "how many people do you see", "how many people can you see",
	"how many people are in the room", "how many of us do you see", "how many of us can you see",

	"is anybody in the room", "is anyone in the room", "is somebody in the room", "is someone in the room", "is there anybody in the room", "is there anyone in the room", "is there somebody in the room",
	"is there someone in the room", "is the room empty", "do you see anybody", "do you see anyone", "do you see somebody", "do you see someone", "can you see anybody", "can you see anyone",

	"do you see me", "can you see me", "do you see us", "can you see us", "can you see", "can you see anything", "do you see anything", "can you look", "can you see this", "can you see that",
	"do you see this", "do you see that", "do you see what i am holding", "can you see what i am holding",

	"is it dark in here", "is it dark in the room", "is it dark here", "is it dark where you are", "is it bright in here", "is the light on", "are the lights on", "is the light off", "are the lights off", "are the lights still on", "is the light still on",
}

// before and behind are what such a question may begin and end with.
var (
	before = []string{"and", "so", "well", "can you tell me", "could you tell me", "tell me", "quick", "now tell me"}
	behind = []string{"now", "right now", "at the moment", "just now", "again", "here", "in here", "over here", "there", "over there", "in there", "for me", "for a moment", "for a second", "quickly", "in my hand", "in my hands", "there now", "today", "with the camera", "on the camera", "through the camera"}
)

// shorts are contractions, folded, and the words they stand for.
var shorts = strings.NewReplacer("whats ", "what is ", "whos ", "who is ", "im ", "i am ", "theres ", "there is ", "hows ", "how is ")

// asksToLook reports whether words ask the agent to look. They are folded by [language.Fold], and
// have no polite words around them.
func asksToLook(words string) bool {
	told := false // the agent is asked to tell
	words = strings.TrimSuffix(shorts.Replace(words+" "), " ")
	for {
		if slices.Contains(sights, words) || told && slices.Contains(sights, "tell me "+words) {
			return true
		}
		shorter := withoutLead(words, before)
		told = told || strings.HasSuffix(strings.TrimSuffix(words, shorter), "tell me ")
		if shorter == words {
			shorter = withoutTail(words, behind)
		}
		if shorter == words {
			return false
		}
		words = shorter
	}
}

// withoutLead returns words without the longest of these beginnings, if they have one.
func withoutLead(words string, some []string) string {
	shortest := words
	for _, p := range some {
		if n := len(words) - len(p) - 1; n >= 0 && n < len(shortest) && words[len(p)] == ' ' && strings.HasPrefix(words, p) {
			shortest = words[len(p)+1:]
		}
	}
	return shortest
}

// withoutTail returns words without the longest of these endings, if they have one.
func withoutTail(words string, some []string) string {
	shortest := words
	for _, p := range some {
		if n := len(words) - len(p) - 1; n >= 0 && n < len(shortest) && words[n] == ' ' && strings.HasSuffix(words, p) {
			shortest = words[:n]
		}
	}
	return shortest
}
