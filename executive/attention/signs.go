package attention

import (
	"slices"
	"strings"

	"earshot/language"
)

// The lists below contain what people say, without capitals and apostrophes. They contain ways of
// speaking, not subjects.

// open are the ways to ask everybody.
var open = phrases(`anybody, anyone, somebody, someone, any of you, one of you, any idea, any ideas, who knows,
	who can tell, who remembers`)

// knowing is what an assistant can do, of all the things that everybody may be asked to do.
var knowing = phrases(`know, knows, tell, explain, remind, remember, remembers, look up, look it up, look that up,
	check, google, translate, spell, calculate, convert, work out, find out, any idea, any ideas, set a timer,
	set an alarm`)

// trueOrNot are the ways to ask whether something is true in the world.
var trueOrNot = phrases(`is it true, is it a fact, is there a word, is there such a thing, what time is it,
	what day is it, what date is it`)

// smallTalk are questions that expect no answer.
var smallTalk = phrases(`what is up, whats up, what is wrong, whats wrong, what is going on, whats going on,
	what happened, what happens, what is happening, whats happening, what is new, whats new, what is next, whats next,
	what now, what else, what for, what a, what about, what if, what on earth, the matter, the point, the plan,
	the problem, the hurry, the rush, the story, the deal, the fuss, the catch, the use, the idea, the big deal, how are,
	how is, hows, how was, how come, how about, how dare, how nice, how do you do, who cares, who knew, why not,
	why bother, why me, or what, or not, right, isnt it`)

// stageSigns are what people say on a stage, from a book, in dictation, in a game, or to an animal
// or a baby, and what a television says.
var stageSigns = phrases(`once upon a time, happily ever after, the end, chapter, said the, asked the, replied the,
	cried the, step one, step two, thee, thou, thy, comma, full stop, new line, new paragraph, question mark,
	exclamation mark, semicolon, write this down, take this down, write that down, dear sir, dear madam, yours sincerely,
	yours faithfully, kind regards, best regards, la la, na na, tra la, hey ho, doo doo, knock knock, walks into a,
	walk into a, walked into a, what do you call a, what do you call an, what do you get when, why did the,
	how many does it take, to change a light bulb, i dont know what, i spy, begins with, starts with, letters, riddle,
	whose turn, your turn, my turn, truth or dare, checkmate, go fish, two points, for a hundred points, ha ha, haha,
	peekaboo, good boy, good girl, clever boy, clever girl, here kitty, stay tuned, after the break, breaking news,
	here is the news, over to you, back to the studio, our next guest, next contestant, dear viewers, dear listeners,
	ladies and gentlemen, subscribe, brought to you by, terms and conditions apply`)

// phoneSigns are what is said on the telephone.
var phoneSigns = phrases(`hello yes, yes speaking, this is he, this is she, calling from, returning your call,
	thanks for calling, thank you for calling, hold the line, please hold, im calling, i am calling, i was calling,
	calling about, whos calling, who is calling, whos speaking, am i speaking, speaking to customer, call you back,
	call me back, ring you back, been on hold, on hold, can you hear me, you hear me now, breaking up, bad line,
	are you still there, on the line, id like to order, id like to make an appointment, id like to book,
	i would like to make an appointment, see my screen, youre on mute, you are on mute, youre muted, customer service,
	leave a message, after the tone, account number, reference number, wrong number, hi mum, hi mom, hi dad,
	put you through, hello who`)

// goodbyes end a telephone call.
var goodbyes = phrases(`bye, goodbye, bye bye, talk to you later, speak to you later, speak soon`)

// meetingSigns are what is said in meetings.
var meetingSigns = phrases(`agenda, minutes of, takes the minutes, take the minutes, action item, action items,
	next slide, last slide, any questions, any objections, object, in favour, in favor, stand up, standup, sprint,
	backlog, next quarter, this quarter, stakeholders, the release, the roadmap, lets move on, next item,
	look at the numbers`)

// tenderSigns are what is said in grief, in pain, in a quarrel, and in love.
var tenderSigns = phrases(`died, is dead, passed away, funeral, cancer, tumour, diagnosis, im so sorry, i am so sorry,
	sorry for your loss, let him go, let her go, shes gone, hes gone, she is gone, he is gone, dont cry, crying, in tears,
	why did it have to, left me, leave me alone, leaving you, divorce, break up with, broke up, fired me, got fired,
	lost my job, lost the job, lost the baby, miscarriage, miss him, miss her, so scared, im scared, im afraid of,
	feel so stupid, feel so alone, hate you, hate myself, want to die, hurt me, hurting me, i love you, marry me,
	you never, you always, always me who, thats rich, its my money, your fault, my fault, dont shout, dont you shout,
	stop shouting, stop yelling, dont yell, how dare you, shut up, had enough, sick of this, sick of you,
	here we go again, do what you want, get out, liar`)

// ignorant are the answers that mean "I do not know".
var ignorant = phrases(`couldnt tell you, couldnt say, cant say, cant tell, wouldnt know, search me, not the faintest,
	who knows, i wonder, that rings no bell, ask me another, no idea, no clue, a clue, dunno, dont know, do not know,
	not know, never know, never knew, not sure, no one knows, nobody knows, good question, beats me, me neither,
	me either, nor me, nor do i, off the top of my head, look it up, google it, cant remember, dont remember, forgot,
	forget, hm, hmm, um, let me think, wish i knew, anyone, anybody`)

// kin are words other than names that people call each other by.
var kin = phrases(`mum, mummy, mom, mommy, dad, daddy, papa, mama, grandma, grandpa, granny, darling, honey,
	sweetheart, sweetie, babe, mate, dude, bro, guys, boss, sir, madam, doctor`)

var (
	interrogative = language.Set("what whats who whos when where why how which whose")

	// fillers only introduce a sentence.
	fillers = language.Set("so and but um uh hm hmm okay ok well right now oh hey then also just wait say because")

	// personal are the words of a question about people present, or about something that one must
	// have seen.
	personal = language.Set(`i im ill ive id me my mine myself we weve our ours us lets you youre youve your yours yourself he hes him his
		she shes her hers they theyre them their theirs this that thats these those it its everybody everyone nobody there here
		yesterday today tonight tomorrow`)

	// theirs are words in questions to everybody that only witnesses can answer.
	theirs = language.Set("my mine our ours his her hers their theirs he she they him them seen heard")

	// household are things of which everybody has their own.
	household = language.Set(`door doors window light lights tv remote dog cat baby kid kids child children car keys key kitchen bathroom
		fridge oven dinner lunch breakfast supper bill rent laundry dishes phone meeting appointment party wifi password parcel
		bedtime rubbish bins mail post garage garden heating shower towel towels turn idea`)

	// grumbling are the words that turn a "why" into a sigh.
	grumbling = language.Set("always never ever so such everything nothing people")

	// intimate are the verbs before which "you" means the person who is asked.
	intimate = language.Set("do feel know like mean want think see manage dare love hate remember plan feeling")

	// makers are verbs for deeds whose author is general knowledge.
	makers = language.Set(`wrote painted invented discovered composed directed played created founded designed starred won sang built
		drew sculpted proved`)

	// verbs turn the word before them into a question.
	verbs = language.Set("is are was were does do did has have can means")

	// measured are the words that ask about things when they follow "how".
	measured = language.Set(`long many much far tall high deep big large wide heavy old fast quickly hot cold warm often strong expensive
		do does did can`)
)

// said returns words as one text, with a space at both ends, so that it can be searched for
// phrases.
func said(all []string) string { return " " + strings.Join(all, " ") + " " }

// says reports whether a text made by [said] contains any of some phrases.
func says(text string, some []string) bool {
	return slices.ContainsFunc(some, func(p string) bool { return strings.Contains(text, " "+p+" ") })
}

// has reports whether all contains any of some words.
func has(all []string, some map[string]bool) bool {
	return slices.ContainsFunc(all, func(w string) bool { return some[w] })
}

// phrases returns the phrases of a list, which are separated by commas.
func phrases(list string) (all []string) {
	for p := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Join(language.Plain(p), " "))
	}
	return all
}
