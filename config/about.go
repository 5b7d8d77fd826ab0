package config

// A note says what a key does. The sample and docs/configuration.md are made
// of them.
type note struct {
	class  Class  // when it does; empty for a section, which has no value
	effect string // what a changed value changes, in sentences
	later  string // the feature that the key belongs to, if it is still to come
}

// about has a note for every key of [Config] and every section, and none for
// anything else.
var about = map[string]note{
	"executive":                            {effect: "The agent: what it is, how it talks, how it thinks."},
	"executive.enabled":                    {class: Turn, effect: "Lets the agent answer. Without it earshot still listens, keeps and shows what was said, and answers nothing."},
	"executive.name":                       {class: Section, effect: "What the agent is called, and what wakes it in speech. Letters, digits, spaces and - ' . , at most 40."},
	"executive.update_interval_seconds":    {class: Turn, effect: "How often it is weighed at most whether what happens is new enough to think about."},
	"executive.context_window_seconds":     {class: Turn, effect: "How long what was perceived stays in the prompt as what is going on now. Dialogue is not affected."},
	"executive.agents_sleep_after_seconds": {class: Turn, effect: "How long nothing happens to an agent before it goes to sleep: its dialogue is freed, and read again when it is called. With 0 it never does."},

	"executive.llm":                     {effect: "The language model."},
	"executive.llm.name":                {class: Section, effect: "What agents and roles call the server. Empty means its provider, with a number if there are several, such as ollama-2."},
	"executive.llm.provider":            {class: Section, effect: "What kind of server answers: ollama, openai (any server that speaks its protocol), or script (a file with rules, for those who have no model)."},
	"executive.llm.model":               {class: Section, effect: "The model, as the server calls it: for ollama, what \"ollama list\" shows. Script has none."},
	"executive.llm.host":                {class: Section, effect: "Where the server is. What is said goes there: keep it on this machine unless you mean otherwise. Empty means this machine for ollama."},
	"executive.llm.api_key":             {class: Section, effect: "The key that the server asks for. Write env:NAME to take it from an environment variable, file:/a/path to take the first line of a file, or the key itself."},
	"executive.llm.slots":               {class: Section, effect: "How many replies the server makes at once; more wait, the urgent first. For ollama it is OLLAMA_NUM_PARALLEL. With 1, a thought is parked for each reply."},
	"executive.llm.slow_notice_seconds": {class: Turn, effect: "After how long without a first word whoever waits for a reply is told, where they asked, that none has come yet. With 0 they are not."},
	"executive.llm.first_token_seconds": {class: Section, effect: "How long the first word may take, from when the server begins. Then the model is unloaded and asked again, once, if the server does that, or the next engine is asked."},
	"executive.llm.load_seconds":        {class: Section, effect: "The same, where the server says that it has to load the model first, as Ollama does: it says nothing until that is done."},
	"executive.llm.idle_seconds":        {class: Section, effect: "How long it may take from one word to the next before the reply has failed."},
	"executive.llm.total_seconds":       {class: Section, effect: "How long a reply may take altogether, with all that is tried for it."},
	"executive.llm.tools":               {class: Section, effect: "How the model calls tools: native (by itself), schema (it answers with an object that says what it calls), none (not at all), or auto, which is native where the model can and schema where it cannot. A script's file says it itself."},
	"executive.llm.vision":              {class: Section, effect: "true says that the model of an openai server can look at pictures. Some servers say so themselves; ollama and a script always do. Pictures go to no model of which that is not known."},
	"executive.llm.script":              {class: Section, effect: "The file with the rules of provider script."},
	"executive.llm.engines":             {class: Section, effect: "More than one server: a list of entries with the keys name, provider, model, host, api_key, slots, tools, vision and script, asked in this order until one answers, but for the one that an agent or its role names, which goes first. Without a list, the server above is the only one."},

	"executive.llm.roles":                      {effect: "Which server and which model answer for a kind of agent. An agent that has its own goes by that."},
	"executive.llm.roles.user":                 {effect: "Agents that people talk with."},
	"executive.llm.roles.user.engine":          {class: Turn, effect: roleEngine},
	"executive.llm.roles.user.model":           {class: Turn, effect: roleModel},
	"executive.llm.roles.subagent":             {effect: "Agents that another one has made for a task, below it."},
	"executive.llm.roles.subagent.engine":      {class: Turn, effect: roleEngine},
	"executive.llm.roles.subagent.model":       {class: Turn, effect: roleModel},
	"executive.llm.roles.memory":               {effect: "What keeps a memory.", later: "the memory"},
	"executive.llm.roles.memory.engine":        {class: Turn, effect: roleEngine, later: "the memory"},
	"executive.llm.roles.memory.model":         {class: Turn, effect: roleModel, later: "the memory"},
	"executive.llm.roles.memory_search":        {effect: "What searches in a memory.", later: "the memory"},
	"executive.llm.roles.memory_search.engine": {class: Turn, effect: roleEngine, later: "the memory"},
	"executive.llm.roles.memory_search.model":  {class: Turn, effect: roleModel, later: "the memory"},
	"executive.llm.roles.task":                 {effect: "Agents that work on a task by themselves."},
	"executive.llm.roles.task.engine":          {class: Turn, effect: roleEngine},
	"executive.llm.roles.task.model":           {class: Turn, effect: roleModel},

	"executive.conversational":               {effect: "How the agent talks."},
	"executive.conversational.temperature":   {class: Turn, effect: "How freely the model chooses its words, from 0 (the same reply to the same prompt) to 2."},
	"executive.conversational.max_tokens":    {class: Turn, effect: "A reply that grows longer ends here."},
	"executive.conversational.system_prompt": {class: Turn, effect: "Tells the model who it is. The sentence about being interrupted keeps models from apologising for it."},

	"executive.reasoning":               {effect: "How the agent thinks beside the conversation: the main one of each room, for the room."},
	"executive.reasoning.temperature":   {class: Turn, effect: "The temperature of a thought, from 0 to 2."},
	"executive.reasoning.max_tokens":    {class: Turn, effect: "A stretch of a thought that grows longer ends here."},
	"executive.reasoning.enabled":       {class: Turn, effect: "Lets the agent think."},
	"executive.reasoning.engine":        {class: Turn, effect: "The name of the engine that thinks; empty for the one that the agent talks with. With one of its own, or one with a slot to spare, a thought gives way to nobody."},
	"executive.reasoning.model":         {class: Turn, effect: "The model of that engine that thinks; empty for the usual one."},
	"executive.reasoning.system_prompt": {class: Turn, effect: "Tells the model how to think."},
	"executive.reasoning.triggers":      {class: Turn, effect: "Words in somebody's message to the agent that make it think about it, beside its answer."},

	"executive.streaming":                 {effect: "How a reply comes."},
	"executive.streaming.enabled":         {class: Turn, effect: "Asks the model for its reply word by word. Without it the reply comes as a whole when the model has finished, and cannot be cut earlier."},
	"executive.streaming.buffer_size":     {class: Turn, effect: "How many pieces, mostly words, the model may be ahead of what comes out; of a voice, how many clauses. More lets it finish sooner; what is ahead is lost at a cut."},
	"executive.streaming.display_partial": {class: Turn, effect: "Shows a reply while it is made. Without it a console shows each sentence when it is complete."},

	"executive.interruption":                       {effect: "Who may cut the agent off, and what becomes of the rest."},
	"executive.interruption.enabled":               {class: Turn, effect: "Lets the agent be interrupted. Without it a message that comes while it talks is answered afterwards."},
	"executive.interruption.sources":               {class: Turn, effect: "The ways in which it may be: text, audio, discord. A way that is not listed waits. Discord is what is written and said there."},
	"executive.interruption.save_partial":          {class: Turn, effect: "Keeps the part of an interrupted reply that nobody heard, so that \"what were you saying?\" can be answered with it. Without it only what was heard is remembered."},
	"executive.interruption.resume_within_seconds": {class: Turn, effect: "For how long after a cut \"what were you saying?\" goes on with the reply that was cut off, whatever was answered in between. 0 is never."},

	"executive.speech":                   {effect: "When the agent answers what is said aloud: when it is called by its name, and while it is in talk with the one who speaks. Whatever else it hears is written down and left alone."},
	"executive.speech.follow_up_seconds": {class: Turn, effect: "How long after its reply it answers the same voice without being called. With 0 it must be called each time."},
	"executive.speech.heard_as":          {class: Turn, effect: "More ways in which a recogniser writes its name, such as [ear shot]. Those that are known for Earshot need not be listed."},
	"executive.speech.least_confidence":  {class: Turn, effect: "How sure a recogniser must be, from 0 to 1, of words that are to be answered without the name in them."},

	"executive.speech.announce_new_voices":  {class: Turn, effect: "Says aloud that what is said is written down, when a voice is heard that is not known, once each time earshot is started; after three times once in ten minutes at most, for all. Nothing interrupts that; stop ends what was to follow. Needs multi_party.speaker_attribution."},
	"executive.speech.ask_back":             {class: Turn, effect: "Says \"Sorry?\" to somebody who speaks to the agent in their turn and is hardly understood: once, until they are."},
	"executive.speech.backchannels":         {class: Turn, effect: "Lets the agent show that it listens, by a quiet \"uh-huh\" in a pause of somebody who tells it something long: after 8 seconds at the earliest, and at most every 12. It is in no record."},
	"executive.speech.filler_after_seconds": {class: Turn, effect: "How long after the end of what was said the first words of a spoken reply may come without a short sign that they are on their way, such as \"let me see\". The sign is cut like any word, and is in no record. With 0 there is none."},
	"executive.speech.answer_typed_aloud":   {class: Turn, effect: "Says answers to what was typed aloud too; the screen then shows them at the pace of speech. Without it, who types reads and who speaks hears."},
	"executive.speech.prepare_reply":        {class: Turn, effect: "Asks the model already when somebody sounds done, so that the answer comes sooner. Words that are added make it ask again, which costs a server some work for nothing."},

	"executive.parallel":                      {effect: "How thinking and talking share the time."},
	"executive.parallel.enabled":              {class: Turn, effect: "Thinks beside the conversation. Without it a thought is one step after a reply, when somebody has asked for it; whoever speaks ends it."},
	"executive.parallel.reasoning_continuous": {class: Turn, effect: "Also thinks about what nobody has asked, when something new happens. Somebody must have allowed it: the first start at a terminal asks. Without it the agent thinks when it is asked to."},
	"executive.parallel.reasoning_interval":   {class: Turn, effect: "The least time from a thought to the next that nobody has asked for, in seconds."},

	"executive.parallel.reasoning_tokens_per_day":   {class: Turn, effect: "How many tokens are thought a day that nobody has asked for, prompts and thoughts together; then there is no such thought until midnight. A thought is some thousand. What is asked for is always thought about. 0 is any number; earshot today says how many it were."},
	"executive.parallel.reasoning_rests_on_battery": {class: Turn, effect: "Thinks only when it is asked while the machine runs on its battery."},

	"executive.attention":                   {effect: "When the agent speaks although nobody asked it. What it was asked it always answers; /snooze keeps it quiet for a while."},
	"executive.attention.speak_unasked":     {class: Turn, effect: "Lets the agent say what it has found out and takes to be worth it, and answer a question to the room that nobody answers."},
	"executive.attention.quiet_hours":       {class: Turn, effect: "When it does neither, by the clock of this machine. Empty means never."},
	"executive.attention.hourly_budget":     {class: Turn, effect: "How often in an hour it speaks unasked at most, from 0 to 60."},
	"executive.attention.cool_down_seconds": {class: Turn, effect: "How long it is silent after that, before it speaks unasked again."},
	"executive.attention.least_confidence":  {class: Turn, effect: "How sure the agent must be, from 0 to 1, of what it says unasked."},

	"executive.sight":                             {effect: "What the agent makes of what cameras see."},
	"executive.sight.greet":                       {class: Turn, effect: "Greets somebody who comes into view after an absence, as executive.attention and the turn-taking style allow: polite once, when nobody talks or types; aggressive more readily; passive never."},
	"executive.sight.greet_after_absence_seconds": {class: Turn, effect: "How long nobody must have been noticed before that: seen, heard or typing. In the aggressive style a fifth of it is enough."},

	"executive.sight.rooms":             {class: Turn, effect: "The rooms whose agents can look through the cameras, and so whoever is there asks them to: elsewhere, such as in a channel of a chat, they have no camera."},
	"executive.sight.captions_per_hour": {class: Turn, effect: "How many pictures a model describes in an hour, at most, of what is new: when somebody came into view, the camera was moved, or sees again. Only a model that can look at pictures does, and only while nobody speaks or waits. 0 is none."},

	"executive.multi_party":                      {effect: "How the agent behaves among several people."},
	"executive.multi_party.enabled":              {class: Turn, effect: "Lets more than one person talk with the agent. If false, it answers nobody but who operates it while several people are here; what the others say is kept, and does not interrupt it."},
	"executive.multi_party.speaker_attribution":  {class: Section, effect: "Tells voices apart: who has said what, and who is in talk with the agent. If false, whoever is heard through one microphone is one person, whom nobody knows. See docs/voice.md."},
	"executive.multi_party.turn_taking_protocol": {class: Turn, effect: "How the agent yields. Polite stops for voices and comes back when it was nothing; aggressive stops only for those who speak to it; passive stops for everything and does not come back by itself."},
	"executive.multi_party.turn_limit":           {class: Turn, effect: "How many messages agents may say in a row, AIs and bots from outside included, before they leave the floor to a person. 0 lets no agent answer another; people are always answered. See docs/agents.md."},

	"executive.tools":           {effect: "What agents may do besides talking: look things up, remind, keep notes and files, ask one another. See docs/agents.md."},
	"executive.tools.enabled":   {class: Turn, effect: "Lets them. Without it a model is offered no tools, and a call that it makes all the same is refused."},
	"executive.tools.workspace": {class: Restart, effect: "The whole path of the folder in which each agent has one for its files, and nothing outside which it reads or writes. Empty means workspaces, beside store.directory."},

	"external_actors": {effect: "Who may come in from outside: people, and programs that talk. See docs/people.md."},
	"external_actors.actors": {class: Section, effect: "Who is known beforehand: a list of entries with the keys actor_id (which never changes), type (human, ai_assistant, external_agent, group or other), " +
		"display_name, description, requires_auth (true if a name alone does not do: see \"earshot token\"), handles (such as console:uid1000: who comes by one of them is this actor) and capabilities (send_messages, use_tools, read_memory, operate; whoever has the last needs a token)."},
	"external_actors.allow_dynamic_creation": {class: Section, effect: "Lets somebody come in under a name that nobody has yet. Without it only those who are known may."},
	"external_actors.allow_anonymous":        {class: Section, effect: "Lets somebody come in without a name, as \"anonymous\". Who it was is forgotten when they leave."},
	"external_actors.anonymous_pattern":      {class: Section, effect: "What somebody without a name is called. In it {timestamp} and {number} are replaced."},

	"agents": {class: Section, effect: "Agents besides the main one, which the section executive describes: a list of entries with the keys name (by which it is called), description (what it is for, in one line, for people, other agents and itself), " +
		"prompt (who it is, for the model; none means the one that earshot comes with), engine (the name of one of executive.llm.engines) and model (of that engine; none means as executive.llm.roles has it), " +
		"rooms (where it sits; none means everywhere), main (true where it answers what is for nobody in particular; a room has one such agent), " +
		"auto_reply (false keeps it from calling the agent that it answers; true if nothing is said) and user (the ID of a subuser that it belongs to; none means the owner). " +
		"An agent whose entry goes is ended, and does not come back: an entry that is written again is a new agent; see docs/agents.md. \"earshot agents add\" makes more while earshot runs."},

	"rooms": {class: Section, effect: "Where conversations are shared, each with a dialogue of its own: a list of entries with the keys id (as in \"earshot chat --room ID\"), name, and actors (the actor_ids of those who may enter; nobody listed means everybody). " +
		"Whoever operates earshot may enter each. The room desk is always there: it has the microphone, the loudspeaker and the local console; list it to name or close it."},

	"providers":                 {effect: "The senses."},
	"providers.console":         {effect: "What is typed in the terminal that earshot runs in, or comes on its standard input."},
	"providers.console.enabled": {class: Restart, effect: "Reads it. Other terminals can still attach with \"earshot chat\"."},

	"providers.microphone":                          {effect: "What is said at this machine. It is understood here, without a network; what is built in is for clean English only."},
	"providers.microphone.enabled":                  {class: Section, effect: "Listens. Somebody must have allowed it: the first start at a terminal asks. \"earshot run --no-voice\" does without for once. While it is false, nothing is captured."},
	"providers.microphone.device":                   {class: Section, effect: "The name of the microphone, as \"earshot devices\" shows it. Empty means the system's default."},
	"providers.microphone.least_confidence":         {class: Section, effect: "How sure, from 0 to 1, recognition must be that what it heard is speech. What is less is not even written down, unless the agent asks back what was said to it."},
	"providers.microphone.deaf_seconds":             {class: Section, effect: "After how long without any sound at all, not even noise, the microphone is reported to be muted. 0 is never."},
	"providers.microphone.ear":                      {effect: "When a voice begins and ends."},
	"providers.microphone.ear.duck_frames":          {class: Section, effect: "How many of 5 frames of 20 ms must hold a voice for the agent to lower its own. More is calmer and slower."},
	"providers.microphone.ear.begin_frames":         {class: Section, effect: "How many of 8 frames of 20 ms must hold a voice for it to be listened to."},
	"providers.microphone.ear.end_seconds":          {class: Section, effect: "How much silence ends what somebody says."},
	"providers.microphone.ear.end_finished_seconds": {class: Section, effect: "The same, after what is clearly all: a question, a command, \"please\"."},
	"providers.microphone.ear.end_open_seconds":     {class: Section, effect: "The same, while the sentence asks for more, as after \"and\", and in the first words of an answer to the agent's question."},
	"providers.microphone.ear.end_dictated_seconds": {class: Section, effect: "The same, while somebody thinks (\"um\"), or dictates a number, an address, a date or letters."},
	"providers.microphone.ear.end_wait_seconds":     {class: Section, effect: "The same, after \"wait\" or \"one moment\"."},
	"providers.microphone.ear.pre_roll_seconds":     {class: Section, effect: "How much from before a voice was noticed is listened to as well: words begin with quiet sounds."},
	"providers.microphone.ear.longest_seconds":      {class: Section, effect: "What is longer than this is taken in parts."},
	"providers.microphone.ear.margin_db":            {class: Section, effect: "How much louder than the room a voice must be, in decibels."},

	"providers.webcam":         {effect: "What is before the cameras of this machine: who comes and goes, and pictures for a model that can see. Pictures stay in memory."},
	"providers.webcam.enabled": {class: Section, effect: "Looks. Somebody must have allowed it: the first start at a terminal asks. While it is false, no camera is opened."},
	"providers.webcam.cameras": {class: Section, effect: "The cameras: a list of entries with the keys name (small letters; none means camera), device (its name as \"earshot devices\" shows it, its path, a file, or an address that begins with rtsp://, rtsps://, http:// or https://; none means the first), " +
		"masks (up to 16 parts of the picture that are blackened before anything looks, each with the keys x, y, width and height, in shares of the picture from its upper left corner, such as {x: 0, y: 0, width: 0.5, height: 1}), " +
		"hours (when it looks, such as 08:00-20:00, by the clock of this machine; none means always; at other times it is closed), width and height (of its pictures, in pixels; none means 640 and 480), " +
		"idle_rate and active_rate (how many pictures a second are looked at while nothing moves, and while something does; none means 2 and 5) and loop (true has a file begin again at its end). " +
		"Without a list it is the first camera that is connected, if there is one."},

	"providers.discord":                         {effect: "A bot of yours on Discord: it reads in text channels, hears in voice channels, and answers there. See docs/discord.md."},
	"providers.discord.enabled":                 {class: Section, effect: "Goes there. That needs a token, and everything else has a default."},
	"providers.discord.token_file":              {class: Section, effect: "The whole path of a file whose first line is the bot's token, and which only you can read. The variable EARSHOT_DISCORD_TOKEN goes before it. The token itself cannot be written here."},
	"providers.discord.guilds":                  {class: Section, effect: "The numbers of the guilds where it takes part. Empty means all that it was invited to."},
	"providers.discord.channels":                {class: Section, effect: "The numbers of the channels where it takes part, with their threads. Empty means all that it can see."},
	"providers.discord.users":                   {class: Section, effect: "The numbers of the users whom it reads and hears. Empty means everybody."},
	"providers.discord.operators":               {class: Section, effect: "The numbers of the users who operate this earshot when they write there. What is said aloud never does."},
	"providers.discord.bots":                    {class: Section, effect: "What other bots and webhooks are: ignore, or agents, who count towards executive.multi_party.turn_limit like those of the house."},
	"providers.discord.direct_messages":         {class: Section, effect: "Lets people write to it alone. Nobody else sees that, or the answer."},
	"providers.discord.join":                    {class: Section, effect: "When it comes into a voice channel: never, command (somebody gives /join), or people (also when somebody is there)."},
	"providers.discord.voice_channels":          {class: Section, effect: "The numbers of the voice channels that it may come into. Empty means every one where it takes part."},
	"providers.discord.announce":                {class: Section, effect: "Says when it comes into a voice channel that it listens, in its chat and aloud, and says so in its chat to who comes later."},
	"providers.discord.require_encrypted_calls": {class: Section, effect: "Leaves a voice channel, and says so in its chat, where Discord does not encrypt end to end what is said: then Discord could listen. Without it such a call is one like any other, and /status says how it is."},
	"providers.discord.recognisers":             {class: Section, effect: "How many who speak at once are understood at once, each by a process of its own. Others are understood a moment later."},
	"providers.discord.base":                    {class: Section, effect: "Where Discord's interface is, for tests. Empty means Discord."},

	"outlets":                 {effect: "Where a reply comes out."},
	"outlets.console":         {effect: "The terminal that earshot runs in, or its standard output."},
	"outlets.console.enabled": {class: Restart, effect: "Prints there. Other terminals can still attach with \"earshot chat\"."},

	"outlets.loudspeaker":         {effect: "The voice of the agent. While it speaks, consoles show the words as they are spoken."},
	"outlets.loudspeaker.enabled": {class: Section, effect: "Speaks. \"earshot run --no-voice\" does without for once."},
	"outlets.loudspeaker.device":  {class: Section, effect: "The name of the loudspeaker, as \"earshot devices\" shows it. Empty means the system's default."},
	"outlets.loudspeaker.volume":  {class: Section, effect: "How loud the voice is, from 0 to 1."},
	"outlets.loudspeaker.voice":   {class: Section, effect: "Which voice: slt, rms, awb or kal16."},
	"outlets.loudspeaker.speed":   {class: Section, effect: "How fast it speaks; 1 is as it was taught."},

	"outlets.discord":            {effect: "Discord, where providers.discord is enabled."},
	"outlets.discord.text":       {class: Section, effect: "Writes replies there."},
	"outlets.discord.voice":      {class: Section, effect: "Says replies to what was said there aloud. What was written is answered in writing."},
	"outlets.discord.transcript": {class: Section, effect: "Writes also, in the chat of the voice channel, what it says there."},
	"outlets.discord.voice_name": {class: Section, effect: "Which voice: slt, rms, awb or kal16."},
	"outlets.discord.speed":      {class: Section, effect: "How fast it speaks; 1 is as it was taught."},

	"speakers":               {effect: "Whose voice something is said with. A voice proves nothing: nobody may do or see more because of it. See docs/voice.md."},
	"speakers.enabled":       {class: Section, effect: "Tells voices apart. Without it nobody is known by voice and nothing is learnt; what is kept stays, and can be forgotten."},
	"speakers.sure":          {class: Turn, effect: "How likely it must be, from 0.5 to 1, that a voice is somebody's, for what was said with it to be theirs. What is less is said by nobody in particular; what is less than 0.9 has a question mark."},
	"speakers.begin_seconds": {class: Turn, effect: "How much must be heard of a voice that is like none that is known, to count it as one that was not there before."},
	"speakers.enrol_seconds": {class: Turn, effect: "How much must have been heard of a voice before it can be kept, which \"earshot speakers enroll\" asks for."},
	"speakers.most_unknown":  {class: Turn, effect: "How many voices are known at once of which nothing is kept. They live in memory only; the one heard longest ago gives way."},

	"store":                           {effect: "The journal: what was said, and what was heard of it."},
	"store.directory":                 {class: Restart, effect: "The whole path of the folder that holds it, for its owner alone. Empty means earshot in the user's state directory."},
	"store.retention":                 {effect: "For how long what happened is kept: days, by kind, and hours of what was overheard; with 0 until somebody forgets it. What was made of something goes with it: with a message the replies to it and those in whose prompt it stood. Looked after at the start and each hour; see docs/keeping.md."},
	"store.retention.overheard_hours": {class: Turn, effect: "For how many hours what was said aloud, and not to an agent, is kept; with 0 until somebody forgets it. What an agent thought of it unasked goes too; what it did for somebody who spoke to it stays."},
	"store.retention.message":         {class: Turn, effect: "What was written."},
	"store.retention.utterance":       {class: Turn, effect: "What was said aloud, as it was understood."},
	"store.retention.reply":           {class: Turn, effect: "What agents answered."},
	"store.retention.decision":        {class: Turn, effect: "Why agents spoke or kept silent."},
	"store.retention.use":             {class: Turn, effect: "Which tools were used, and what came of it."},
	"store.retention.thought":         {class: Turn, effect: "What agents thought beside the conversation."},
	"store.retention.finding":         {class: Turn, effect: "What they found out by it."},
	"store.retention.memo":            {class: Turn, effect: "What was to be kept in mind."},
	"store.retention.edit":            {class: Turn, effect: "Corrections of what is known."},
	"store.retention.reminder":        {class: Turn, effect: "Reminders, also those that are still to be said."},
	"store.retention.sight":           {class: Turn, effect: "What a camera noticed."},
	"store.retention.presence":        {class: Turn, effect: "Who came and went, and when."},
	"store.retention.notice":          {class: Turn, effect: "What was wrong with a model."},

	"server":                     {effect: "The door for the other commands, such as \"earshot chat\"."},
	"server.socket":              {class: Restart, effect: "The whole path of the unix socket. Its folder must be closed to others. Empty means earshot/earshot.sock in the user's runtime directory."},
	"server.listen":              {class: Section, effect: "A host of this machine and a port, such as 127.0.0.1:8765, where programs can ask too, each with a token; see docs/api.md. What others could reach is refused. Empty listens nowhere."},
	"server.allowed_hosts":       {class: Section, effect: "Names by which the port may be asked besides localhost and the addresses of this machine, such as earshot.example or earshot.example:443. A name that somebody else can make point to this machine must not be among them."},
	"server.allowed_origins":     {class: Section, effect: "Pages in a browser that may ask at the port, by their origin, such as http://localhost:3000. No other page may."},
	"server.requests_per_second": {class: Section, effect: "How much each person, and each address without a token, may ask at the port; for two seconds of it at once. 0 is as much as they like. The socket has a limit of 1000."},

	"log":       {effect: "What the daemon writes down about itself. It is never what somebody said."},
	"log.level": {class: Section, effect: "The least that is written down: debug, info, warn or error."},
	"log.file":  {class: Section, effect: "The whole path of the file; - is standard error. A pipe is refused: earshot would wait for whoever reads it. Empty means earshot.log in the user's state directory."},
}

// What each role chooses.
const (
	roleEngine = "The name of one of the servers. Empty means the first."
	roleModel  = "A model of that server. Empty means the one that it has above."
)

// text returns the note as it is shown.
func (n note) text() string {
	if n.later == "" {
		return n.effect
	}
	return n.effect + " Takes effect later, with " + n.later + "."
}
