package reflex

import (
	"slices"
	"strings"

	"earshot"
	"earshot/language"
)

// resumes are what people say to hear the rest of what the agent was saying, without the words that
// [resumeLeads] and [resumeTails] add.
var resumes = []string{
	"what were you saying", "what was it you were saying", "what was it that you were saying", "what were you telling me", "what were you telling us",
	"what was that you were saying", "what did you want to tell me", "what did you want to tell us",
	"what were you going to say", "what were you about to say", "what else were you saying", "what did you want to say", "what else did you want to say", "what were you trying to say",
	"you were saying", "as you were saying", "you were telling me", "go on", "go ahead", "continue", "carry on", "keep going", "keep talking", "proceed", "resume", "and then",
	"what you were saying", "where were you", "where were we", "where did you stop", "where did we stop", "where did i interrupt you", "where did you leave off", "where had you got to",
	"what is the rest", "whats the rest", "what was the rest", "tell me the rest", "tell us the rest", "say the rest", "let me hear the rest", "the rest", "i want to hear the rest",
	"i would like to hear the rest", "id like to hear the rest",
	"finish", "finish it", "finish that", "finish your sentence", "finish your thought", "finish your answer", "finish your story", "finish your explanation", "finish what you were saying",
	"finish what you wanted to say", "finish what you had to say", "pick up where you left off", "pick it up where you left off", "pick up from where you left off",
	"you have the floor", "you have the floor again", "you can have the floor back",
	"continue talking", "continue speaking", "continue explaining", "go on talking", "go on speaking", "read me the rest", "what is the rest of it", "whats the rest of it", "what was the rest of it", "tell me the rest of it",
	"you didnt finish", "you did not finish", "you werent finished", "you were not finished", "you werent done", "you were not done",
}

// resumeLeads and resumeTails are what such words may begin and end with.
var (
	resumeLeads = []string{
		"so", "and", "but", "well", "hm", "hmm", "um", "uh", "oh", "ah", "id like you to", "i would like you to", "i want you to", "you were interrupted", "you were cut off", "now", "then", "right", "alright", "all right", "anyway", "anyways", "yes", "yeah", "sure", "fine", "good", "great", "nice", "cool", "thanks", "thank you", "i see", "got it",
		"sorry", "sorry i interrupted you", "sorry i interrupted", "sorry for interrupting", "sorry for interrupting you", "sorry to interrupt", "sorry about that", "sorry i cut you off", "i interrupted you",
		"can you", "could you", "would you", "will you", "you can", "you may", "do", "lets", "let us", "go back to", "back to", "get back to", "come back to", "return to", "go on with", "continue with", "continue", "carry on with",
		"tell me", "tell us", "remind me",
		"ok", "okay", "hey", "please", "wait", "hold on", "hang on", "no", "nope", "mhm", "mm hm", "mmhm", "uh huh", "aha", "haha", "understood", "perfect", "excellent", "wonderful", "interesting", "very interesting", "makes sense", "that makes sense", "excuse me", "pardon", "pardon me", "my bad",
		"i interrupted", "i cut you off", "i cut in", "sorry for cutting you off", "sorry for cutting in", "sorry for the interruption", "that was all", "that is all", "thats all",
	}
	resumeTails = []string{
		"again", "before", "earlier", "then", "now", "just now", "there", "from there", "a moment ago", "a minute ago", "a while ago", "before that", "with that", "with it", "thanks", "thank you", "with your answer", "with your story", "with your explanation",
		"with what you were saying", "what you were saying", "where you left off", "where you stopped", "where you were", "where i interrupted you", "from where you left off", "from where you stopped", "from where you were", "from where you were interrupted", "where you were interrupted", "when you are ready",
		"before i interrupted", "before i interrupted you", "when i interrupted", "when i interrupted you", "before i cut you off", "when i cut you off", "when i cut in", "before i cut in", "before i asked", "when i stopped you", "before i stopped you",
		"before you were interrupted", "when you were interrupted", "before you were cut off", "when you were cut off", "about that", "about it", "please", "sorry", "im listening", "i am listening",
	}
)

// What can be continued, and how people ask for it: "continue your story", "go on with the list".
var (
	resumeVerbs = []string{"go on with", "go on", "continue with", "continue", "carry on with", "carry on", "keep going with", "proceed with", "finish", "finish with", "resume", "get back to", "go back to", "back to"}
	resumeWhich = []string{"your", "the", "that", "this", "your last", "your previous", "your earlier", "the last", "the previous", "your first"}
	resumeNouns = []string{"answer", "reply", "response", "story", "tale", "explanation", "description", "list", "sentence", "thought", "point", "poem", "joke", "text", "paragraph", "summary", "speech", "recipe", "report", "idea", "song", "letter"}
)

// asksToFinish reports whether words name something and ask to hear it to its end.
func asksToFinish(words string) bool {
	rest := withoutLead(words, resumeVerbs)
	if rest == words {
		return false
	}
	noun := withoutLead(rest, resumeWhich)
	return noun != rest && slices.Contains(resumeNouns, noun)
}

// Mentioned returns what reports whether a text mentions the subject that somebody named who asks for
// the rest of it. If they named none, every text does.
func Mentioned(asked earshot.Text) func(earshot.Text) bool {
	subject := topic(asked)
	return func(text earshot.Text) bool { return len(subject) == 0 || mentions(text, subject) }
}

// topic returns the folded words with which a text that asks for the rest names its subject; none
// if it names no subject.
func topic(text earshot.Text) []string {
	_, topic, _ := strings.Cut(language.Fold(string(text)), " about ")
	for before := ""; topic != before; {
		before, topic = topic, withoutTail(topic, resumeTails)
	}
	return slices.DeleteFunc(strings.Fields(topic), func(word string) bool { return slices.Contains(pointers, word) })
}

// pointers are words that name nothing by themselves.
var pointers = []string{"it", "that", "this", "them", "those", "these", "the", "a", "an", "all", "my", "your", "our", "his", "her", "their", "of", "and", "in", "on"}

// mentions reports whether a text contains one of the words of a topic. Longer words may also be
// part of other words.
func mentions(text earshot.Text, topic []string) bool {
	words := strings.Fields(language.Fold(string(text)))
	return slices.ContainsFunc(topic, func(word string) bool {
		if len(word) <= 3 {
			return slices.Contains(words, word)
		}
		word = strings.TrimSuffix(word, "s")
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, word) })
	})
}

// longestResume is the longest text in bytes that may only ask for the rest: more than anybody
// needs for that, with thanks for the answer and an apology.
const longestResume = 200

// asksToResume reports whether words ask for the rest of a reply. They are folded by
// [language.Fold], and have no polite words around them.
func asksToResume(words string) bool {
	words = strings.ReplaceAll(words, " just ", " ")
	if about, _, named := strings.Cut(words, " about "); named && strings.Contains(about, "you") && asksToResume(about) {
		return true
	}
	for {
		if asksToFinish(words) {
			return true
		}
		for core := words; ; {
			if slices.Contains(resumes, core) {
				return true
			}
			shorter := withoutTail(core, resumeTails)
			if shorter == core {
				break
			}
			core = shorter
		}
		shorter := withoutLead(words, resumeLeads)
		if shorter == words {
			return false
		}
		words = shorter
	}
}
