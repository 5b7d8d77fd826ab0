package hear

import (
	"strings"

	"earshot/language"
)

// The words of [Judge]. A borderline word is listed where a mistake costs less: waiting in vain
// costs half a second, answering too soon a sentence.
var (
	// hanging are words with which an English sentence rarely ends. Particles with which many end,
	// such as "on" and "up", and words that are an answer by themselves, such as "well", are not
	// included: nobody who says "turn it on" should wait.
	hanging = language.Set(`
		and but or nor so because if unless although whenever whereas since until which whose whether then than
		a an the my your our their its every
		of to from with without into onto at by for between among during toward towards via per about
		is are was were be am i'm it's there's what's that's
		i we they very
		could would should can will
		hey
	`)

	// takes are verbs that need an object.
	takes = language.Set("want need get give tell show put make set play turn send buy bring take find switch know add pick mean let")

	// giving are verbs that need one even after an indirect object.
	giving = language.Set("give tell show ask remind send let bring told asked giving telling")

	reports   = language.Set("said says say think thought know knew believe guess told so sure afraid hope")
	particles = language.Set("on off up down in out over")
	persons   = language.Set("i you he she we they me him her us them it")

	// asking are the words with which a question begins; helps and being begin it directly before
	// the subject.
	asking = language.Set("what who when where why how which whose what's who's where's when's how's whom")
	helps  = language.Set("can could do does did will would should shall may might have has must don't can't won't didn't isn't aren't")
	being  = language.Set("is are was were am")

	// commands are the words with which a command begins.
	commands = language.Set(`
		turn switch set play stop start begin end open close shut read write show tell give say sing count repeat
		explain describe list name add remove delete remind call ring find look search check make cook put take bring
		wake dim raise lower pause resume continue go come keep leave let tell translate spell calculate compare
		cancel mute unmute skip send order buy book lock unlock help record save forget remember note
	`)

	// leads may stand before what is said, and summons before a name.
	leads   = language.Set("and but so well oh ah um uh er hm hmm okay ok please now yes no yeah just then actually sorry")
	summons = language.Set("hey hi hello")
	fillers = language.Set("um uh er erm uhm hm hmm ehm mm")

	// does are the auxiliaries after whose subject a verb follows. Subordinates only begin clauses,
	// unlike "after"; clauses begin one within a question, and articles a subject. Relatives begin
	// a relative clause, and subjects are its subjects.
	does         = language.Set("do does did")
	subordinates = language.Set("because if whether although though unless while when that so")
	clauses      = language.Set("when where how why")
	articles     = language.Set("a an the my your our their its his her this that some")
	relatives    = language.Set("that which who whom")
	subjects     = language.Set("i you he she we they")

	// places precede a place or a direction, and moves are the verbs most often asked about with
	// one, besides those in commands and takes.
	places = language.Set("to in on at from of for by with near behind under over through")
	moves  = language.Set("get run work live drive fly walk sit stand lie lead belong happen look sound arrive taste like love hate cost mean eat drink sleep")

	// times end a sentence: they say when. Spans do so after near.
	times = language.Set("today tonight tomorrow yesterday now already again together")
	near  = language.Set("this last next every")
	spans = language.Set("morning afternoon evening night week weekend month year time monday tuesday wednesday thursday friday saturday sunday")

	// digits are the words of a number dictated digit by digit, and joins occur within one, or
	// within an internet address.
	digits = language.Set("zero oh one two three four five six seven eight nine double triple")
	joins  = language.Set("double triple dot point minus plus underscore dash slash")

	// dictated are things that people dictate, and several may be more than one thing. A question
	// that begins like offers is answered with yes or no.
	dictated = language.Set("number address postcode code zip email mail birthday born date spell spelled spelt password street")
	several  = language.Set("list things items ingredients need names else everything everybody everyone")
	offers   = language.Set("do does did is are shall should have has was were")
)

// complements must follow a verb somewhere for its command to be complete: one sets a timer for
// some time, and puts something on a list.
var complements = map[string][]string{
	"set":       {"for", "to", "at", "on", "in"},
	"put":       {"in", "on", "at", "to", "into", "onto", "under", "back", "away", "down", "up", "off", "out"},
	"add":       {"to"},
	"send":      {"to"},
	"remind":    {"to", "of", "about", "that", "at", "in"},
	"wake":      {"at", "in", "when", "before", "after"},
	"turn":      {"on", "off", "up", "down", "to", "into", "around", "left", "right"},
	"switch":    {"on", "off", "to"},
	"translate": {"to", "into"},
	"book":      {"for", "at", "to", "on"},
	"move":      {"to", "into", "from"},
}

var (
	// sayings are complete by themselves.
	sayings = lines(`
		yes|no|yeah|yep|nope|sure|okay|ok|right|exactly|correct|of course|certainly|absolutely|definitely|not really
		stop|stop it|enough|that is enough|that's enough|cancel|never mind|go on|go ahead|continue|next|again|go|help
		good morning|good evening|good night|good afternoon|goodbye|bye|bye bye|hello|hi|thanks|thank you|see you
		that is all|that's all|that will be all|that would be all|nothing|nothing else|no more|all of them|both|neither|none
		i do not know|i don't know|no idea|maybe|perhaps|please do|yes please|no thanks|no thank you|very good|well done|be quiet
	`)

	// courtesies end what they stand behind.
	courtesies = []string{"please", "thanks", "thank you", "thank you very much", "goodbye", "right now", "right away", "over"}

	// moments ask for time, and pondering shows that somebody thinks.
	moments = lines(`
		hold on|hang on|wait wait|wait a second|wait a minute|wait a moment|wait a bit|hold on a second|hold on a minute
		hang on a second|hang on a minute|hang on a moment|one moment|one second|one minute|just a moment|just a second|just a minute
		just one moment|just one second|give me a second|give me a minute|give me a moment|give me one second|give me one moment
		let me check|let me look|let me look it up|let me have a look|let me get it|bear with me
	`)
	pondering = lines(`
		let me think|let me see|you know|i mean|how should i put it|how shall i put it|how do i put this|how do you say
		what was i going to say|what was i saying|what was it again|what is it called|what do you call it|the thing is|that is to say
		where was i|i am thinking|sort of|kind of
	`)

	// announces are said before something that is dictated.
	announces = lines(`
		number is|number's|code is|postcode is|address is|email is|mail is|birthday is|date is|password is|spelled|spelt|spell it
		born on|born in|live at|lives at|that is spelled|it's spelled|serial number
	`)
)

// lines returns the phrases of a text that has several per line, separated by bars.
func lines(text string) (phrases []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		phrases = append(phrases, strings.Split(strings.TrimSpace(line), "|")...)
	}
	return phrases
}
