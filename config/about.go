package config

import "earshot/api"

// A note says what a key does. The sample and docs/configuration.md are made
// of them.
type note struct {
	class  api.ChangeClass // when it does; empty for a section, which has no value
	effect string          // what a changed value changes, in sentences
	later  string          // the feature that the key belongs to, if it is still to come
}

// about has a note for every key of [Config] and every section, and none for
// anything else.
var about = map[string]note{
	"executive":                            {effect: "The agent: what it is, how it talks, how it thinks."},
	"executive.enabled":                    {class: Turn, effect: "Lets the agent answer. Without it earshot still listens, keeps and shows what was said, and answers nothing."},
	"executive.name":                       {class: Section, effect: "What the agent is called, and what wakes it in speech. Letters, digits, spaces and - ' . , at most 40."},
	"executive.update_interval_seconds":    {class: Turn, effect: "How often the agent considers, at most, whether something new is worth thinking about."},
	"executive.context_window_seconds":     {class: Turn, effect: "How long what was perceived stays in the prompt as what is going on now. The dialogue is not affected."},
	"executive.agents_sleep_after_seconds": {class: Turn, effect: "After how long without any event an agent goes to sleep: its dialogue is freed, and read again when it is called. With 0 it never does."},

	"executive.llm":                     {effect: "The language model."},
	"executive.llm.name":                {class: Section, effect: "What agents and roles call the server. Empty means its provider, with a number if there are several, such as ollama-2."},
	"executive.llm.provider":            {class: Section, effect: "What kind of server answers: ollama, openai (any server that speaks its protocol), or script (a file with rules, for those who have no model)."},
	"executive.llm.model":               {class: Section, effect: "The model, as the server calls it: for ollama, what \"ollama list\" shows. Script has none."},
	"executive.llm.host":                {class: Section, effect: "Where the server is. What is said goes there: keep it on this machine unless you mean otherwise. Empty means this machine for ollama."},
	"executive.llm.api_key":             {class: Section, effect: "The key that the server asks for. Write env:NAME to take it from an environment variable, file:/a/path to take the first line of a file, or the key itself."},
	"executive.llm.slots":               {class: Section, effect: "How many replies the server makes at once. Others wait, the most urgent first. For ollama it is OLLAMA_NUM_PARALLEL. With 1, a thought is parked for each reply."},
	"executive.llm.slow_notice_seconds": {class: Turn, effect: "After how long without a first word the person who waits for a reply is told so. With 0 they are not."},
	"executive.llm.first_token_seconds": {class: Section, effect: "How long the first word may take, from when the server begins. After that the model is unloaded and asked again, once, if the server can do that; otherwise the next engine is asked."},
	"executive.llm.load_seconds":        {class: Section, effect: "The same, where the server says that it has to load the model first, as Ollama does: it sends nothing until that is done."},
	"executive.llm.idle_seconds":        {class: Section, effect: "How long it may take from one word to the next. After that the reply has failed."},
	"executive.llm.total_seconds":       {class: Section, effect: "How long a reply may take altogether, with every attempt."},
	"executive.llm.tools":               {class: Section, effect: "How the model calls tools: native (by itself), schema (it answers with an object that says what it calls), none (not at all), or auto, which is native where the model can and schema where it cannot. A script's file says it itself."},
	"executive.llm.vision":              {class: Section, effect: "true says that the model of an openai server can look at pictures. Some servers say so themselves; ollama and a script always do. Pictures go only to a model that is known to be able to."},
	"executive.llm.script":              {class: Section, effect: "The file with the rules of provider script."},
	"executive.llm.engines":             {class: Section, effect: "More than one server: a list of entries with the keys name, provider, model, host, api_key, slots, tools, vision and script. They are asked in this order until one answers; entries with the same name are hosts of one engine (docs/models.md); the one that an agent or its role names is asked first. Without a list, the server above is the only one."},

	"executive.llm.roles":                      {effect: "Which server and which model answer for a kind of agent. An agent's own setting takes precedence."},
	"executive.llm.roles.user":                 {effect: "Agents that people talk with."},
	"executive.llm.roles.user.engine":          {class: Turn, effect: roleEngine},
	"executive.llm.roles.user.model":           {class: Turn, effect: roleModel},
	"executive.llm.roles.subagent":             {effect: "Agents that another agent has made for a task."},
	"executive.llm.roles.subagent.engine":      {class: Turn, effect: roleEngine},
	"executive.llm.roles.subagent.model":       {class: Turn, effect: roleModel},
	"executive.llm.roles.memory":               {effect: "What an agent remembers by; see executive.memory."},
	"executive.llm.roles.memory.engine":        {class: Turn, effect: roleEngine},
	"executive.llm.roles.memory.model":         {class: Turn, effect: roleModel},
	"executive.llm.roles.memory_search":        {effect: "What searches in a memory."},
	"executive.llm.roles.memory_search.engine": {class: Turn, effect: roleEngine},
	"executive.llm.roles.memory_search.model":  {class: Turn, effect: roleModel},
	"executive.llm.roles.task":                 {effect: "Agents that work on a task by themselves."},
	"executive.llm.roles.task.engine":          {class: Turn, effect: roleEngine},
	"executive.llm.roles.task.model":           {class: Turn, effect: roleModel},

	"executive.conversational":               {effect: "How the agent talks."},
	"executive.conversational.temperature":   {class: Turn, effect: "How freely the model chooses its words, from 0 (the same reply to the same prompt) to 2."},
	"executive.conversational.max_tokens":    {class: Turn, effect: "The length at which a reply is ended."},
	"executive.conversational.system_prompt": {class: Turn, effect: "Tells the model who it is. The sentence about being interrupted keeps models from apologising for it."},

	"executive.reasoning":               {effect: "How the main agent of each room thinks beside the conversation."},
	"executive.reasoning.temperature":   {class: Turn, effect: "The temperature of a thought, from 0 to 2."},
	"executive.reasoning.max_tokens":    {class: Turn, effect: "The length at which a stretch of a thought is ended."},
	"executive.reasoning.enabled":       {class: Turn, effect: "Lets the agent think."},
	"executive.reasoning.engine":        {class: Turn, effect: "The name of the engine that thinks; empty for the one that the agent talks with. With an engine of its own, or one with a free slot, a thought is not parked for replies."},
	"executive.reasoning.model":         {class: Turn, effect: "The model of that engine that thinks; empty for the usual one."},
	"executive.reasoning.system_prompt": {class: Turn, effect: "Tells the model how to think."},
	"executive.reasoning.triggers":      {class: Turn, effect: "Words in somebody's message to the agent that make it think about it, beside its answer."},

	"executive.streaming":                 {effect: "How a reply comes."},
	"executive.streaming.enabled":         {class: Turn, effect: "Asks the model for its reply word by word. If false, the reply comes as a whole when the model has finished, and cannot be cut earlier."},
	"executive.streaming.buffer_size":     {class: Turn, effect: "How many pieces, mostly words, the model may be ahead of what comes out; of a voice, how many clauses. More lets it finish sooner; what is ahead is lost at a cut."},
	"executive.streaming.display_partial": {class: Turn, effect: "Shows a reply while it is made. If false, a console shows each sentence when it is complete."},

	"executive.interruption":                       {effect: "Who may cut the agent off, and what becomes of the rest."},
	"executive.interruption.enabled":               {class: Turn, effect: "Lets the agent be interrupted. If false, a message that comes while it talks is answered afterwards."},
	"executive.interruption.sources":               {class: Turn, effect: "What may interrupt it: text, audio, discord (what is written and said there). What comes by another way waits."},
	"executive.interruption.save_partial":          {class: Turn, effect: "Keeps the part of an interrupted reply that nobody heard, so that \"what were you saying?\" can be answered with it. If false, only what was heard is remembered."},
	"executive.interruption.resume_within_seconds": {class: Turn, effect: "For how long after a cut \"what were you saying?\" continues the reply, whatever was answered in between. 0 means never."},

	"executive.speech":                   {effect: "When the agent answers what is said aloud: when it is called by its name, and while it is talking with the speaker. Anything else is written down and left alone."},
	"executive.speech.follow_up_seconds": {class: Turn, effect: "How long after its reply it answers the same voice without being called. With 0 it must be called each time."},
	"executive.speech.heard_as":          {class: Turn, effect: "More ways in which a recogniser writes its name, such as [hair shirt]. What sounds like it need not be listed."},
	"executive.speech.least_confidence":  {class: Turn, effect: "How sure a recogniser must be, from 0 to 1, of words that are to be answered without the name in them."},

	"executive.speech.announce_new_voices":  {class: Turn, effect: "Says aloud, when a new voice is heard, that what is said is written down: once for each voice until the next start, and after three times at most every ten minutes for all of them. Nothing interrupts that; \"stop\" ends what was to follow. Needs multi_party.speaker_attribution."},
	"executive.speech.ask_back":             {class: Turn, effect: "Says \"Sorry?\" to somebody who speaks to the agent in their turn and is hardly understood: once, until they are understood."},
	"executive.speech.backchannels":         {class: Turn, effect: "Shows that the agent listens, by a quiet \"uh-huh\" in a pause of a long story: after 8 seconds at the earliest, and at most every 12. It is not recorded."},
	"executive.speech.filler_after_seconds": {class: Turn, effect: "How long a spoken reply may be late before the agent says a short \"let me see\". It can be cut like any word, and is not recorded. With 0 there is none."},
	"executive.speech.answer_typed_aloud":   {class: Turn, effect: "Also speaks answers to what was typed; the screen then shows them at the pace of speech. If false, a typed question is answered on the screen only."},
	"executive.speech.prepare_reply":        {class: Turn, effect: "Asks the model as soon as somebody seems to have finished, so that the answer comes sooner. If they go on, it asks again, and the first answer is thrown away."},

	"executive.parallel":                      {effect: "How thinking and talking share the time."},
	"executive.parallel.enabled":              {class: Turn, effect: "Thinks beside the conversation. If false, a thought is one step after a reply, when somebody has asked for it; whoever speaks ends it."},
	"executive.parallel.reasoning_continuous": {class: Turn, effect: "Also thinks unasked, when something new happens. Somebody must have allowed it: the first start at a terminal asks. If false, the agent thinks only when it is asked to."},
	"executive.parallel.reasoning_interval":   {class: Turn, effect: "The least time between two unasked thoughts, in seconds."},

	"executive.parallel.reasoning_tokens_per_day":   {class: Turn, effect: "How many tokens a day unasked thinking may use, prompts and thoughts together; then it rests until midnight. A thought takes some thousand. What somebody asks for is always thought about. 0 means any number; \"earshot today\" shows how many were used."},
	"executive.parallel.reasoning_rests_on_battery": {class: Turn, effect: "Thinks only when it is asked while the machine runs on its battery."},

	"executive.attention":                   {effect: "When the agent speaks unasked. What it is asked it always answers; /snooze keeps it quiet for a while."},
	"executive.attention.speak_unasked":     {class: Turn, effect: "Lets the agent say what it has found out and considers worth saying, and answer a question to the room that nobody answers."},
	"executive.attention.quiet_hours":       {class: Turn, effect: "When it does neither, by the clock of this machine. Empty means never."},
	"executive.attention.hourly_budget":     {class: Turn, effect: "How often it speaks unasked in an hour at most, from 0 to 60."},
	"executive.attention.cool_down_seconds": {class: Turn, effect: "How long it is silent after that, before it speaks unasked again."},
	"executive.attention.least_confidence":  {class: Turn, effect: "How sure the agent must be, from 0 to 1, of what it says unasked."},

	"executive.sight":                             {effect: "What the agent makes of what cameras see."},
	"executive.sight.greet":                       {class: Turn, effect: "Greets somebody who comes into view after an absence, as executive.attention and the turn-taking style allow: polite once, when nobody talks or types; aggressive more readily; passive never."},
	"executive.sight.greet_after_absence_seconds": {class: Turn, effect: "How long nobody must have been seen, heard or typing before that. In the aggressive style a fifth of it is enough."},

	"executive.sight.rooms":             {class: Turn, effect: "The rooms whose agents can look through the cameras, and where people can ask them to. In other rooms, such as a chat channel, they have no camera."},
	"executive.sight.captions_per_hour": {class: Turn, effect: "How many pictures of something new a model describes in an hour at most: when somebody came into view, the camera was moved, or sees again. It takes a model that can look at pictures, and happens only while nobody speaks or waits. 0 means none."},

	"executive.multi_party":                      {effect: "How the agent behaves among several people."},
	"executive.multi_party.enabled":              {class: Turn, effect: "Lets more than one person talk with the agent. If false, it answers only whoever operates it while several people are here; what the others say is kept, and does not interrupt it."},
	"executive.multi_party.speaker_attribution":  {class: Section, effect: "Tells voices apart: who has said what, and who is talking with the agent. If false, everybody at one microphone counts as one unknown person. See docs/voice.md."},
	"executive.multi_party.turn_taking_protocol": {class: Turn, effect: "How the agent yields. Polite stops for voices and continues when it was nothing; aggressive stops only for those who speak to it; passive stops for everything and does not continue by itself."},
	"executive.multi_party.turn_limit":           {class: Turn, effect: "How many messages agents may say in a row, AIs and bots from outside included, before they leave the floor to a person. 0 lets no agent answer another; people are always answered. See docs/agents.md."},

	"executive.tools":                {effect: "What agents may do besides talking: look things up, remind, keep notes and files, ask one another. See docs/agents.md."},
	"executive.tools.enabled":        {class: Turn, effect: "Offers tools to models. If false, a call that a model makes all the same is refused."},
	"executive.memory":               {effect: "What agents remember of what left their dialogue. See docs/agents.md."},
	"executive.memory.enabled":       {class: Turn, effect: "Reads, when nobody talks, what was said, and writes down what will matter later: facts, and a summary; and lets agents do so by their tool remember. Somebody must have allowed it: the first start at a terminal asks. If false, only what is remembered already is known. It costs tokens of executive.parallel.reasoning_tokens_per_day, and rests on battery as thinking does. The model is that of executive.llm.roles.memory."},
	"executive.memory.quiet_seconds": {class: Turn, effect: "How long nothing is said in a room before that."},
	"executive.memory.most_tokens":   {class: Turn, effect: "How much of a prompt what is remembered may be. 0 shows the model nothing of it."},
	"executive.task":                 {effect: "Work that agents do beside the talk, for minutes to days. See docs/agents.md."},
	"executive.task.enabled":         {class: Turn, effect: "Lets people set tasks, by /task or by asking an agent, and agents work on them. The model is that of executive.llm.roles.task."},
	"executive.task.most":            {class: Turn, effect: "How many tasks may be open."},
	"executive.task.at_once":         {class: Turn, effect: "How many are worked on at a time. The others come by turns."},
	"executive.task.tokens":          {class: Turn, effect: "How many tokens one task may read and write; then it ends with what it knows. This and the next two hold for tasks that are set from then on."},
	"executive.task.time_seconds":    {class: Turn, effect: "How long one task may be worked on, without waiting for people."},
	"executive.task.calls":           {class: Turn, effect: "How many calls of tools one task may make."},
	"executive.schedule":             {effect: "What is done by the clock: /every, earshot cron. See docs/agents.md."},
	"executive.schedule.enabled":     {class: Turn, effect: "Does it. Without it nothing new can be set, and what is due meanwhile counts as missed."},
	"executive.schedule.most":        {class: Turn, effect: "How many schedules one person can have."},
	"executive.schedule.zone":        {class: Turn, effect: "By which clocks, if a schedule names none: a zone of the IANA database, such as Europe/Berlin. Empty means that of the machine, wherever it is."},
	"executive.recall":               {effect: "How agents have looked up what was said. See docs/agents.md."},
	"executive.recall.enabled":       {class: Turn, effect: "Lets agents use the tool search_memory: a search agent of theirs makes queries of a question, reads what they find, and answers with its sources. It asks a model twice, which takes as long as two replies. If false, agents have only the tool recall. The model is that of executive.llm.roles.memory_search."},
	"executive.tools.workspace":      {class: Restart, effect: "The absolute path of the folder that holds the folder of each agent. An agent reads and writes nothing outside its own. Empty means workspaces, beside store.directory."},

	"executive.recall.embedding":        {effect: "The model for embeddings by which search_memory also finds what means the same in other words. While nobody talks, it gets all that was said, a few texts at a time; what it makes of them is kept in the journal, and goes with them."},
	"executive.recall.embedding.engine": {class: Turn, effect: "The name of the server that has it, an ollama or openai one. Empty means the first."},
	"executive.recall.embedding.model":  {class: Turn, effect: "The model, such as nomic-embed-text. Empty means that words alone are looked for. With another model all is done anew."},

	"external_actors": {effect: "Who may come in from outside: people, and programs that talk. See docs/people.md."},
	"external_actors.actors": {class: Section, effect: "Who is known beforehand: a list of entries with the keys actor_id (which never changes), type (human, ai_assistant, external_agent, group or other), " +
		"display_name, description, requires_auth (true if a name alone is not enough: see \"earshot token\"), handles (such as console:uid1000: whoever comes by one of them is this actor) and capabilities (send_messages, use_tools, read_memory, operate; whoever has the last needs a token)."},
	"external_actors.allow_dynamic_creation": {class: Section, effect: "Lets somebody come in under a name that nobody has yet. If false, only those who are known may."},
	"external_actors.allow_anonymous":        {class: Section, effect: "Lets somebody come in without a name, as \"anonymous\". They are forgotten when they leave."},
	"external_actors.anonymous_pattern":      {class: Section, effect: "What somebody without a name is called. In it {timestamp} and {number} are replaced."},

	"agents": {class: Section, effect: "Agents besides the main one, which the section executive describes: a list of entries with the keys name (by which it is called), username (a further name by which it is called in writing), description (what it is for, in one line, for people, other agents and itself), " +
		"prompt (who it is, for the model; none means the one that earshot comes with), engine (the name of one of executive.llm.engines) and model (of that engine; none means as executive.llm.roles has it), " +
		"workspace (one word: the folder of its files; none means the one at its path), rooms (where it sits; none means everywhere), main (true where it answers what is for nobody in particular; a room has one such agent), " +
		"auto_reply (false keeps it from calling the agent that it answers; true if nothing is said), user (the ID of a subuser that it belongs to; none means the owner) and connector (console or discord: it answers there what calls nobody, instead of the main agent). " +
		"An agent whose entry is removed ends for good: an entry that is written again is a new agent; see docs/agents.md. \"earshot agents add\" makes more while earshot runs."},

	"rooms": {class: Section, effect: "Where conversations are shared, each with a dialogue of its own: a list of entries with the keys id (as in \"earshot chat --room ID\"), name, and actors (the actor_ids of those who may enter; nobody listed means everybody). " +
		"Whoever operates earshot may enter each. The room desk is always there: it has the microphone, the loudspeaker and the local console; list it to name or close it."},

	"providers":                 {effect: "The senses."},
	"providers.console":         {effect: "What is typed in the terminal that earshot runs in, or comes on its standard input."},
	"providers.console.enabled": {class: Restart, effect: "Reads it. Other terminals can still attach with \"earshot chat\"."},

	"providers.microphone":                          {effect: "What is said at this machine. It is recognised here, without a network, and in clean English only."},
	"providers.microphone.enabled":                  {class: Section, effect: "Listens. Somebody must have allowed it: the first start at a terminal asks. \"earshot run --no-voice\" turns it off for one run. While it is false, nothing is captured."},
	"providers.microphone.device":                   {class: Section, effect: "The name of the microphone, as \"earshot devices\" shows it. Empty means the system's default."},
	"providers.microphone.least_confidence":         {class: Section, effect: "How sure, from 0 to 1, recognition must be that what it heard is speech. Anything less is not even written down, unless the agent asks back."},
	"providers.microphone.deaf_seconds":             {class: Section, effect: "After how long without any sound at all, not even noise, the microphone is reported to be muted. 0 means never."},
	"providers.microphone.ear":                      {effect: "When a voice begins and ends."},
	"providers.microphone.ear.duck_frames":          {class: Section, effect: "How many of 5 frames of 20 ms must hold a voice for the agent to lower its own. More is calmer and slower."},
	"providers.microphone.ear.begin_frames":         {class: Section, effect: "How many of 8 frames of 20 ms must hold a voice for it to be listened to."},
	"providers.microphone.ear.end_seconds":          {class: Section, effect: "How much silence ends what somebody says."},
	"providers.microphone.ear.end_finished_seconds": {class: Section, effect: "The same, after a complete sentence: a question, a command, \"please\"."},
	"providers.microphone.ear.end_open_seconds":     {class: Section, effect: "The same, while the sentence asks for more, as after \"and\", and in the first words of an answer to the agent's question."},
	"providers.microphone.ear.end_dictated_seconds": {class: Section, effect: "The same, while somebody thinks (\"um\"), or dictates a number, an address, a date or letters."},
	"providers.microphone.ear.end_wait_seconds":     {class: Section, effect: "The same, after \"wait\" or \"one moment\"."},
	"providers.microphone.ear.pre_roll_seconds":     {class: Section, effect: "How much sound from before a voice was noticed is used as well, since words begin with quiet sounds."},
	"providers.microphone.ear.longest_seconds":      {class: Section, effect: "Longer speech is split into parts."},
	"providers.microphone.ear.margin_db":            {class: Section, effect: "How much louder than the room a voice must be, in decibels."},

	"providers.webcam":         {effect: "What is before the cameras of this machine: who comes and goes, and pictures for a model that can see. Pictures stay in memory."},
	"providers.webcam.enabled": {class: Section, effect: "Looks. Somebody must have allowed it: the first start at a terminal asks. While it is false, no camera is opened."},
	"providers.webcam.cameras": {class: Section, effect: "The cameras: a list of entries with the keys name (small letters; none means camera), device (its name as \"earshot devices\" shows it, its path, a file, or an address that begins with rtsp://, rtsps://, http:// or https://; none means the first), " +
		"masks (up to 16 parts of the picture that are blackened before anything looks, each with the keys x, y, width and height, in shares of the picture from its upper left corner, such as {x: 0, y: 0, width: 0.5, height: 1}), " +
		"hours (when it looks, such as 08:00-20:00, by the clock of this machine; none means always; at other times it is closed), width and height (of its pictures, in pixels; none means 640 and 480), " +
		"idle_rate and active_rate (how many pictures a second are looked at while nothing moves, and while something does; none means 2 and 5) and loop (true has a file begin again at its end). " +
		"Without a list it is the first camera that is connected, if there is one."},

	"providers.discord":                         {effect: "A bot of yours on Discord: it reads in text channels, hears in voice channels, and answers there. See docs/discord.md."},
	"providers.discord.enabled":                 {class: Section, effect: "Connects to Discord. That needs a token; everything else has a default."},
	"providers.discord.token_file":              {class: Section, effect: "The absolute path of a file whose first line is the bot's token, and which only you can read. The variable EARSHOT_DISCORD_TOKEN takes precedence. The token itself cannot be written here."},
	"providers.discord.guilds":                  {class: Section, effect: "The numbers of the guilds where it takes part. Empty means all that it was invited to."},
	"providers.discord.channels":                {class: Section, effect: "The numbers of the channels where it takes part, with their threads. Empty means all that it can see."},
	"providers.discord.users":                   {class: Section, effect: "The numbers of the users whom it reads and hears. Empty means everybody."},
	"providers.discord.operators":               {class: Section, effect: "The numbers of the users who operate this earshot when they write there. What is said aloud never does."},
	"providers.discord.bots":                    {class: Section, effect: "How other bots and webhooks are treated: ignore, or agents, which count towards executive.multi_party.turn_limit like earshot's own."},
	"providers.discord.direct_messages":         {class: Section, effect: "Lets people write to it alone. Nobody else sees that, or the answer."},
	"providers.discord.join":                    {class: Section, effect: "When it comes into a voice channel: never, command (somebody gives /join), or people (also when somebody is there)."},
	"providers.discord.voice_channels":          {class: Section, effect: "The numbers of the voice channels that it may come into. Empty means every one where it takes part."},
	"providers.discord.announce":                {class: Section, effect: "Says, in the chat and aloud, that it listens when it joins a voice channel, and in the chat to those who join later."},
	"providers.discord.require_encrypted_calls": {class: Section, effect: "Leaves a voice channel that Discord does not encrypt end to end, and says so in its chat: Discord could listen there. If false, it stays in such a call, and /status says that it is not encrypted."},
	"providers.discord.recognisers":             {class: Section, effect: "How many people who speak at once are understood at once, each by a process of its own. Others are understood a moment later."},
	"providers.discord.base":                    {class: Section, effect: "The address of Discord's API, for tests. Empty means Discord."},

	"outlets":                 {effect: "Where a reply comes out."},
	"outlets.console":         {effect: "The terminal that earshot runs in, or its standard output."},
	"outlets.console.enabled": {class: Restart, effect: "Prints there. Other terminals can still attach with \"earshot chat\"."},

	"outlets.loudspeaker":         {effect: "The voice of the agent. While it speaks, consoles show the words as they are spoken."},
	"outlets.loudspeaker.enabled": {class: Section, effect: "Speaks. \"earshot run --no-voice\" turns it off for one run."},
	"outlets.loudspeaker.device":  {class: Section, effect: "The name of the loudspeaker, as \"earshot devices\" shows it. Empty means the system's default."},
	"outlets.loudspeaker.volume":  {class: Section, effect: "How loud the voice is, from 0 to 1."},
	"outlets.loudspeaker.voice":   {class: Section, effect: "Which voice: slt, rms, awb or kal16."},
	"outlets.loudspeaker.speed":   {class: Section, effect: "How fast it speaks; 1 is the normal speed."},

	"outlets.discord":            {effect: "Discord, where providers.discord is enabled."},
	"outlets.discord.text":       {class: Section, effect: "Writes replies there."},
	"outlets.discord.voice":      {class: Section, effect: "Speaks replies to what was said there aloud. What was written is answered in writing."},
	"outlets.discord.transcript": {class: Section, effect: "Also writes what it says into the chat of the voice channel."},
	"outlets.discord.voice_name": {class: Section, effect: "Which voice: slt, rms, awb or kal16."},
	"outlets.discord.speed":      {class: Section, effect: "How fast it speaks; 1 is the normal speed."},

	"speech":                      {effect: "By what earshot recognises speech and speaks: the engines that come with it, or servers that you have, such as Home Assistant's."},
	"speech.remote":               {class: Section, effect: "Allows servers on other machines. Everything that is said in a room, by whomever, goes to them as sound, and everything that the agent says as text."},
	"speech.turn":                 {effect: "How it is told that somebody speaks, and that they have finished. The words count in any case."},
	"speech.turn.engine":          {class: Section, effect: "embedded (by loudness and words), neural (also by models that are installed and listen to the sound of the voice), or auto: neural if there are such models."},
	"speech.turn.neural":          {effect: "Models on this machine that listen to the sound of a voice; earshot models list shows them."},
	"speech.turn.neural.model":    {class: Section, effect: "What tells whether somebody has finished, such as smart-turn: the name of a model that is installed, or the whole path of its folder. Empty means one that is installed and that anybody may use."},
	"speech.turn.neural.vad":      {class: Section, effect: "What tells whether a sound is a voice, such as silero, likewise. What it takes for none pauses nobody."},
	"speech.wake":                 {effect: "By what the agent's name, and phrases such as \"stop talking\", are noticed at the microphone while the agent speaks. The words that are recognised count in any case."},
	"speech.wake.engine":          {class: Section, effect: "embedded (comes with earshot), neural (a model that is installed), wyoming (the server below), or auto: a model that is installed, fast enough here and free for anybody, else a server that has an address, else embedded. It gives way as speech.hear.engine does."},
	"speech.wake.neural":          {effect: "A model on this machine that seeks names, whatever they are; earshot models list shows them."},
	"speech.wake.neural.model":    {class: Section, effect: "The name of a model that is installed, such as kws-phones, or the whole path of its folder. Empty means one for the language that needs at most half of a processor and that anybody may use."},
	"speech.wake.wyoming":         {effect: "A server that listens for wake words and speaks the Wyoming protocol, such as wyoming-openwakeword. Its wake word counts as the agent's name; the embedded recogniser still listens for \"stop\"."},
	"speech.wake.wyoming.address": {class: Section, effect: "Where it is, as HOST:PORT. Empty means that there is none."},
	"speech.wake.wyoming.model":   {class: Section, effect: "Which of its wake words, such as ok_nabu. Empty means any."},
	"speech.hear":                 {effect: "How speech is recognised, at the microphone and in calls."},
	"speech.hear.engine":          {class: Section, effect: "embedded (comes with earshot; English), neural (a model that is installed), wyoming or openai (the servers below), or auto: a model that is installed and fast enough here, else a server that has an address, else embedded. An engine that fails three times within ten minutes gives way to the next until it is well."},
	"speech.hear.language":        {class: Section, effect: "What people speak, as two letters. The embedded recogniser knows en only; so does the judgement of whether a sentence is complete."},
	"speech.hear.neural":          {effect: "A model on this machine that recognises speech; earshot models list shows them. The embedded recogniser still listens for \"stop\" and for the name while the agent speaks."},
	"speech.hear.neural.model":    {class: Section, effect: "The name of a model that is installed, or the whole path of its folder. Empty means the largest for the language that needs at most half of a processor and that anybody may use."},
	"speech.hear.neural.second":   {class: Section, effect: "A model for whole utterances that corrects what was heard, if it is done 0.3 seconds after somebody has finished. Empty means none."},
	"speech.hear.wyoming":         {effect: "A server that recognises speech and speaks the Wyoming protocol, such as wyoming-faster-whisper. It knows the words only when somebody has finished; the embedded recogniser still listens for \"stop\" and for the name while the agent speaks."},
	"speech.hear.wyoming.address": {class: Section, effect: "Where it is, as HOST:PORT. Empty means that there is none."},
	"speech.hear.wyoming.model":   {class: Section, effect: "Which of its models; empty means its own choice."},
	"speech.hear.openai":          {effect: "A server that recognises speech and has OpenAI's protocol for sound, such as speaches. As above, it knows the words at the end."},
	"speech.hear.openai.url":      {class: Section, effect: "Where it is, such as http://127.0.0.1:8000/v1. Empty means that there is none."},
	"speech.hear.openai.api_key":  {class: Section, effect: "The key that it asks for. Write env:NAME to take it from an environment variable, file:/a/path to take the first line of a file, or the key itself."},
	"speech.hear.openai.model":    {class: Section, effect: "Which of its models."},
	"speech.say":                  {effect: "How the agent speaks, at the loudspeaker and in calls."},
	"speech.say.engine":           {class: Section, effect: "embedded (comes with earshot), neural (a model that is installed), wyoming or openai (the servers below), or auto: a model that is installed and fast enough here, else a server that has an address, else embedded. It gives way as speech.hear.engine does."},
	"speech.say.neural":           {effect: "A model on this machine that speaks; earshot models list shows them."},
	"speech.say.neural.model":     {class: Section, effect: "The name of a model that is installed, or the whole path of its folder. Empty means the largest that speaks English, needs less than 0.7 seconds to begin, and that anybody may use."},
	"speech.say.neural.speaker":   {class: Section, effect: "Which speaker of a model that has several, by name or number, such as af_heart. Empty means the first."},
	"speech.say.neural.speed":     {class: Section, effect: "How fast it speaks, from 0.25 to 4; 1 is the voice's own."},
	"speech.say.wyoming":          {effect: "A server that speaks and understands the Wyoming protocol, such as wyoming-piper. How fast it speaks is its own setting."},
	"speech.say.wyoming.address":  {class: Section, effect: "Where it is, as HOST:PORT. Empty means that there is none."},
	"speech.say.wyoming.voice":    {class: Section, effect: "Which of its voices, such as en_US-lessac-medium; empty means its own choice."},
	"speech.say.wyoming.speaker":  {class: Section, effect: "Which speaker of a voice that has several."},
	"speech.say.openai":           {effect: "A server that speaks and has OpenAI's protocol for sound, such as Kokoro-FastAPI or speaches."},
	"speech.say.openai.url":       {class: Section, effect: "Where it is, such as http://127.0.0.1:8880/v1. Empty means that there is none."},
	"speech.say.openai.api_key":   {class: Section, effect: "The key that it asks for. Write env:NAME to take it from an environment variable, file:/a/path to take the first line of a file, or the key itself."},
	"speech.say.openai.model":     {class: Section, effect: "Which of its models."},
	"speech.say.openai.voice":     {class: Section, effect: "Which of its voices, such as af_heart."},
	"speech.say.openai.speed":     {class: Section, effect: "How fast it speaks, from 0.25 to 4; 1 is the voice's own."},

	"speakers":               {effect: "Recognising people by their voices. A voice proves nothing: nobody may do or see more because of it. See docs/voice.md."},
	"speakers.enabled":       {class: Section, effect: "Tells voices apart. If false, nobody is known by voice and nothing is learnt; kept voices stay, and can be forgotten."},
	"speakers.sure":          {class: Turn, effect: "How likely it must be, from 0.5 to 1, that a voice is somebody's, for a sentence to get their name. Below it the speaker is nobody in particular; below 0.9 the name has a question mark."},
	"speakers.begin_seconds": {class: Turn, effect: "How much must be heard of a voice unlike all known ones to count it as a new voice."},
	"speakers.enrol_seconds": {class: Turn, effect: "How much must have been heard of a voice before it can be kept, which \"earshot speakers enroll\" asks for."},
	"speakers.most_unknown":  {class: Turn, effect: "How many voices that are not kept are known at once. They live in memory only; the one heard longest ago makes room for a new one."},

	"store":                           {effect: "The journal: what was said, and what was heard of it."},
	"store.directory":                 {class: Restart, effect: "The absolute path of the folder that holds it, for its owner alone. Empty means earshot in the user's state directory."},
	"store.url":                       {class: Restart, effect: "The address of a database of PostgreSQL that holds the journal instead: postgres://user:password@host/earshot, or with several hosts, of which one can be written to. Write env:NAME to take it from an environment variable, or file:/a/path to take the first line of a file. Empty means a file in the directory, which no other program needs. See docs/keeping.md."},
	"store.retention":                 {effect: "For how long events are kept: days by kind, and hours for what was overheard; with 0 until somebody forgets them. What was derived from an event goes with it: with a message the replies to it and those in whose prompt it stood. This is done at the start and each hour; see docs/keeping.md."},
	"store.retention.overheard_hours": {class: Turn, effect: "For how many hours speech that was not to an agent is kept; with 0 until somebody forgets it. What an agent thought of it unasked goes too; what it did for somebody who spoke to it stays."},
	"store.retention.message":         {class: Turn, effect: "What was written."},
	"store.retention.utterance":       {class: Turn, effect: "What was said aloud, as it was understood."},
	"store.retention.reply":           {class: Turn, effect: "What agents answered."},
	"store.retention.decision":        {class: Turn, effect: "Why agents spoke or kept silent."},
	"store.retention.use":             {class: Turn, effect: "Which tools were used, and what came of it."},
	"store.retention.thought":         {class: Turn, effect: "What agents thought beside the conversation."},
	"store.retention.finding":         {class: Turn, effect: "What they found out by thinking."},
	"store.retention.memo":            {class: Turn, effect: "What was to be kept in mind."},
	"store.retention.edit":            {class: Turn, effect: "Corrections of what is known."},
	"store.retention.reminder":        {class: Turn, effect: "Reminders, also those that are still to be said."},
	"store.retention.sight":           {class: Turn, effect: "What a camera noticed."},
	"store.retention.presence":        {class: Turn, effect: "Who came and went, and when."},
	"store.retention.fact":            {class: Turn, effect: "Facts that agents remember."},
	"store.retention.task":            {class: Turn, effect: "What was to be worked on, and what became of it, also what is still worked on."},
	"store.retention.step":            {class: Turn, effect: "The steps of that work."},
	"store.retention.schedule":        {class: Turn, effect: "What is to be done by the clock, also what is still to be done."},
	"store.retention.summary":         {class: Turn, effect: "Summaries of earlier talk. What was read for one that is gone is read again, if it is of the last week."},
	"store.retention.notice":          {class: Turn, effect: "What was wrong with a model."},

	"server":                     {effect: "How other commands, such as \"earshot chat\", and programs reach the daemon."},
	"server.socket":              {class: Restart, effect: "The absolute path of the unix socket. Its folder must be closed to others. Empty means earshot/earshot.sock in the user's runtime directory."},
	"server.listen":              {class: Section, effect: "A host of this machine and a port, such as 127.0.0.1:8765, where programs can ask too, each with a token; see docs/api.md. An address that other machines could reach is refused. Empty listens nowhere."},
	"server.allowed_hosts":       {class: Section, effect: "Names by which the port may be asked besides localhost and the addresses of this machine, such as earshot.example or earshot.example:443. A name that somebody else can make point to this machine must not be among them."},
	"server.allowed_origins":     {class: Section, effect: "Pages in a browser that may ask at the port, by their origin, such as http://localhost:3000. No other page may."},
	"server.requests_per_second": {class: Section, effect: "How many requests a second each person, and each address without a token, may make at the port, with bursts of twice as many. 0 means no limit. At the socket the limit is 1000."},

	"bus":                 {effect: "How satellites, the microphones and loudspeakers of other machines, reach this one; see \"earshot pair\". Without listen or servers there are none."},
	"bus.listen":          {class: Section, effect: "A host and a port, such as :4223, where they connect, encrypted and each with its own key. Empty listens nowhere."},
	"bus.addresses":       {class: Turn, effect: "Names or addresses with a port, such as hub.local:4223, by which other machines reach this one, or bus.servers. None means those servers, or the addresses that this machine has."},
	"bus.servers":         {class: Section, effect: "NATS servers to use instead, HOST:PORT, reached by TLS. They must know the key of earshot and those that \"earshot pair\" prints."},
	"bus.cluster":         {effect: "The servers of several daemons, each with bus.listen: what is published at one reaches the others. See [several daemons](several-machines.md#several-daemons)."},
	"bus.cluster.listen":  {class: Restart, effect: "A host and a port, such as :6222, where the others connect. They must have the certificate of this one, which they share by the database."},
	"bus.cluster.servers": {class: Restart, effect: "The hosts and ports of all of them, such as attic:6222, this one or not."},
	"bus.seed":            {class: Section, effect: "The seed of the nkey by which earshot connects to those servers."},

	"cluster":      {effect: "Several daemons that serve one earshot, each on its own machine, with the same configuration but for this name, their bus and their devices; they share the database at store.url and the bus."},
	"cluster.name": {class: Restart, effect: "The name of this daemon among them: small letters, digits and hyphens, such as attic. Empty means that it is alone."},

	"log":       {effect: "What the daemon writes about itself. It never contains what somebody said."},
	"log.level": {class: Section, effect: "The lowest level that is written: debug, info, warn or error."},
	"log.file":  {class: Section, effect: "The absolute path of the file; - is standard error. A pipe is refused: earshot would wait for whoever reads it. Empty means earshot.log in the user's state directory."},
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
