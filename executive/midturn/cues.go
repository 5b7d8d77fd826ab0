package midturn

import (
	"earshot/internal/lazyregexp"
	"strings"
)

// match returns the expression x, which may be laid out over lines; in it _ is a space.
func match(x string) *lazyregexp.Regexp {
	return lazyregexp.New(strings.ReplaceAll(strings.Join(strings.Fields(x), ""), "_", " "))
}

// The cues. They are matched against folded words, in lower case and without punctuation: "don't"
// is "dont".
var (
	// courtesy is polite or passing talk that concerns no work.
	courtesy = match(`^(
		(many_)?thanks(_(a_lot|so_much))?|thank_you(_.*)?|thats_kind|cheers|ok|okay|yes|no|fine|good|great|cool|nice|wow|sure|right|
		no_(hurry|rush|problem|worries|idea|wonder|thanks|pressure)|take_your_time|
		(just_)?(kidding|wondering)|too_(bad|late)|by_the_way|at_last|as_if|and_(you|then)
	)(_(thanks|thats_kind))?$`)

	// ending says that the work is no longer wanted.
	ending = match(`^(
		(you_(can|may|should)_)?(stop|quit|cancel|abort|drop|scratch|scrap|forget|leave|end)
			(_(it|that|this|about_(it|that)|everything|working|thinking|looking|searching|trying|writing|
			(working|thinking|looking|searching)_(on|about|for)_(it|that|this)|it_be|all_of_it))?|
		never_?mind(_(it|that|about_(it|that)))?|let_it_(be|go)|enough|thats_enough|that_is_enough|that_will_do|thatll_do|
		dont_bother|(theres_|there_is_)?no_(more_)?need(_for_(it|that)|_to)?(_any_?more)?|give_(it_)?up|
		it_(doesnt|does_not)_matter(_any_?more)?|(i_|ive_|weve_|we_)?changed_(my|our)_mind|
		(i|we)_(dont|do_not|no_longer)_(need|want)_(it|that|this|one|them)(_any_?more)?|
		(its_|it_is_)?(not|no_longer)_(needed|wanted|necessary)(_any_?more)?|
		you_(dont|neednt|do_not)(_have_to|_need_to)?(_(do|finish|bother_with)(_(it|that|this))?)?(_any_?more)?
	)$`)

	// dropping says the same of work that it names.
	dropping = match(`^(forget|drop|leave|scrap|skip|cancel|stop|never_?mind)_(about_)?(the|that|this|it|all|your|my|our)\b.*`)

	// elsewhere leaves the subject for another.
	elsewhere = match(`^lets_(do|talk_about|turn_to)_something_else\b`)

	// howFar asks how the work is going. A question may also end with one of the words that bare
	// removes.
	howFar = match(`^(
		how_far(_along)?_(are|have|did)_you\b.{0,20}|
		(are|arent)_you(_(still|already|nearly|almost|even))*_(there|here|done|ready|finished|at_it|on_it|busy|stuck|alive|
			(working|thinking|looking|searching|trying|writing|reading)(_(on|about|for|at)_(it|that|this|one))?)(_(with|on)_(it|that|this))?|
		(is|are)_(it|that|this|they|everything)_(done|ready|finished|complete|(going_to_take|taking)_(so_)?(long|much_longer))|
		(almost_|nearly_)?(done|ready|finished)|still(_(there|at_it|busy|working|thinking|looking|searching)(_(on|about|for)_(it|that|this))?)?|
		(found|got)_(anything|something|it|one)|any_(progress|news|luck|results?|updates?)|
		what_are_you(_still)?_(doing|at|up_to|thinking(_about)?|working_on|busy_with|looking_at)|
		what_(have|did)_you_(got|get|find|found|have|done|do)|
		(have|did)_you(_already)?_(found|find|got|get|finished?|done|made|make|reached?|come_to|know)
			(_(anything|something|it|one|any|(a|any)_conclusion|(any_)?progress))?|
		how_(long|much_(longer|more_time))(_(will|does|do|is)_(it|this|that|you))?(_still)?(_(take|need|be|going_to_take))?(_you)?|
		how(s|_is|_are)_(it|that|this|things|everything)_(going|coming(_along)?|getting_on|looking)|
		what(s|_is)_(the_|your_)?(status|progress|state)(_of_(it|that|things))?|what(s|_is)_taking_(you_|it_)?so_long|
		where_are_you(_with_(it|that|this|the_\w+))?|(status|progress|update)(_report)?|
		will_(it|this|that)_take_(long|much_longer)
	)$`)

	// before and after say that something is to be done after the work.
	before = match(`^(
		next|afterwards|after_(that|this)|when_(you_are|youre|thats|that_is|its|it_is|you_have)_(done|ready|finished)|
		once_(you_are|youre|thats|that_is|its|it_is)_(done|ready|finished)
	)_`)
	after = match(`_(afterwards|after_that|when_(youre|you_are|thats|that_is|its|it_is)_(done|ready|finished))$`)

	// asked is how an order begins that is phrased as a question.
	asked = match(`^(and_|also_)?(can|could|would|will|cant|couldnt)_you(_(also|please|maybe|just|perhaps))*_|^(id|i_would)_like_you_to_`)

	// orders is how something begins that could be a task of its own.
	orders = match(`^(also_|and_)?(
		write|draft|find|look_(up|for|after)|search|google|book|order|buy|plan|tell|explain|calculate|compute|remind|list|compare|translate|
		summari[sz]e|read|open|close|create|draw|check|send|call|phone|play|show|set|turn|switch|help|fetch|get|give_me|describe|invite|
		schedule|count|convert|solve|copy|delete|save|analy[sz]e|think_(about|of)|figure_out|work_out|reserve|make_(me|us|a|an)|prepare|
		print|design|recommend|suggest|sing|note
	)\b`)

	// pronoun refers to what the agent is working on.
	pronoun = match(`^(\w+_){1,3}(it|that|this|them|these|those)(_(in|into|as|to|for|by|with|without|again|too|more|less)\b.*)?$`)

	// adjusts is how an order begins about the way in which something is done.
	adjusts = match(`^(also_|and_)?(
		make_(it|that|this|them|sure|the)|use|keep|consider|assume|suppose|imagine|include|exclude|add|skip|omit|remove|leave_out|ignore|
		focus|concentrate|start|begin|mention|remember|avoid|prefer|put|change|replace|limit|sort|group|shorten|expand|bear_in_mind|
		take_.*into_account|take|try|treat|mind|be|dont_(forget|use|mention|include|touch|make|take|be|do|put|add|go|worry_about)|do_not|
		think_also|look_at|stop_\w+ing|leave|drop|cut|say_(it|that)|phrase|rewrite|rephrase
	)\b`)

	// mayIt asks for a change to what the agent is working on.
	mayIt = match(`^(can|could|should|shouldnt|couldnt)_(it|this|they|the_\w+)_(also_)?(be|have|use|keep|skip|include|ignore|go|start|end|do|run|show)\b`)

	// suggests proposes another way.
	suggests = match(`^(and_|but_)?(what|how)_about_|_would_be_(even_|much_)?(better|nicer?|best|preferable|fine|good)\b`)

	// meant takes something back and says what was meant instead.
	meant = match(`^(no|not|nope)_\w|^i_(meant?|said|was_talking_about)\b|^(its|it_is|thats|that_is)_(the|not_the|about)_`)

	// fragment is how a part of a sentence begins that only says in what way.
	fragment = match(`^(
		but|and|or|except|only|with|without|in|as|for|near|by|at|on|to|from|until|under|below|above|over|within|less|more|rather|fewer|
		somewhere|something|somebody|preferably|ideally|if|also|too|(a_bit_|much_)?(short|long|simpl|small|bigg|larg|cheap|nic|warm|slow|
		fast|quick|earli|lat|friendli|clear|quiet|loud|soft|high|low|strict|easi|brief|deep|light|dark)er|briefly|quickly|slowly|half|twice|
		step_by_step|one|two|three
	)\b`)

	// limits says what must or must not be.
	limits = match(`\b(only|at_(most|least)|no_more_than|not_more_than)\b|^(it|they|this|that|there|he|she|everything)_(should|must|has_to|have_to|needs_to|may_not|cannot|cant|mustnt|shouldnt)\b`)

	// wish says what somebody would prefer.
	wish = match(`^(i|we)(_would|d)?_(rather|prefer|want_(it|that|this|them)|like_(it|that|this)|need_(it|that|this|them))\b`)
)
