// Command earshot is an assistant that stays within earshot: it reads, hears and
// sees, answers, and falls silent the moment somebody cuts in.
// Started without a command, it runs.
//
// What follows is a tour of the house, from the bottom up.
//
// # Words
//
// Package [earshot] holds the vocabulary and does nothing: who
// ([earshot.ParticipantID], [earshot.Handle]), what happened
// ([earshot.Event] and its bodies), who may see it ([earshot.Visibility],
// [earshot.Audience]), what a room lets in ([earshot.Mode]), and how a reply comes out ([earshot.Outlet],
// [earshot.Clause], [earshot.Heard]). Everybody may import it; it imports
// nothing of ours. What somebody said is an [earshot.Text], which prints as its
// length, so that no log can repeat it.
//
// # Small things that everybody leans on
//
// [earshot/internal/field] is a fault in the configuration and its key, a
// [field.Secret] that cannot be printed, and seconds as numbers.
// [earshot/internal/supervise] restarts whatever fails and says so once, and
// [earshot/internal/mailbox] is the queue between two goroutines, with a rule for what it drops.
// [earshot/internal/metrics] counts what happens, under labels that name nobody; [earshot/daemon/health]
// knows how each part is, and [earshot/daemon/diagnosis] puts together what a report of a fault
// needs.
// [earshot/internal/usage] counts what models cost, a day at a time, and
// [earshot/internal/power] says whether the machine runs on its battery: daemon/health decides
// by them whether there may be thought unasked.
// [earshot/internal/redact] keeps conversations out of the log, which [earshot/internal/logfile] is.
// [earshot/internal/sdnotify] tells a service manager how the program stands, and the watchdog
// of daemon/health does so for as long as every room comes round.
// [earshot/internal/terminal] is a terminal: keys, a line editor, a screen that
// prints a reply while one types, and [terminal.Safe], past which nothing gets
// that a terminal would act on.
//
// # Helpers, and sound
//
// C lives in processes of its own: cmd/earshot-sound holds the sound card,
// cmd/earshot-speech recognises, speaks and reads files of sound, and
// cmd/earshot-neural runs neural models, each one role a process, and
// cmd/earshot-camera sees, one camera a process.
// cmd/earshot-bus, the server through which several machines talk, has none and is a process
// of its own too, so that the daemon does not hold it.
// [earshot/internal/helper] is how the daemon talks with them;
// [earshot/internal/helper/helpertest] makes helpers for tests out of a function.
//
// [earshot/internal/audio] is sound as it is passed around: frames of 20 ms that
// say of themselves when they were captured and whether a voice is in them;
// [earshot/internal/audio/arbiter] has one of several microphones of a room speak for the others.
// [earshot/internal/sound] is the client of the sound card, with the deck that
// plays and the routes that streams take below it;
// [earshot/internal/codec] is that of files, and of the Opus of calls.
// [earshot/internal/sound/soundtest] is a sound server for tests, with devices that
// can be pulled out.
//
// [earshot/models/stt] and [earshot/models/tts] hear and speak through such a helper, or through
// what stands in for one: by [earshot/models/remote] a speech server does, of the protocol of
// [earshot/models/wyoming] or [earshot/models/openaispeech]. [earshot/models/engine] chooses among
// them, and lets one that keeps failing rest. [earshot/models/catalog] describes neural models, and
// [earshot/models/neural] finds those that are installed, and has each tried before it is used.
// [earshot/models/sets] installs them, by [earshot/internal/download], and [earshot/internal/trial]
// has a recogniser hear recordings and counts what it gets wrong.
// [earshot/models/wyoming/wyomingtest] runs Home Assistant's servers for tests, with the tiny models
// of [earshot/models/modeltest].
//
// # Discord
//
// [earshot/internal/discord] says what lies where.
// [earshot/internal/discord/gateway] is a session of a bot; over it run calls in voice channels,
// [earshot/internal/discord/voice], which are encrypted end to end by
// [earshot/internal/discord/dave], on [earshot/internal/discord/mls].
// [earshot/internal/discord/roster] knows the guilds, channels and members, and what was missed
// there; [earshot/internal/discord/interaction] registers and answers slash commands;
// [earshot/internal/discord/compose] makes messages of a text, which
// [earshot/internal/discord/posts] posts in time; and [earshot/internal/discord/calls] joins voice
// channels, with an ear for each person and a player for the agent.
// [earshot/internal/discord/discordtest] is a Discord on loopback, with the delivery service of
// [earshot/internal/discord/davetest], which sends through
// [earshot/internal/discord/discordtest/wire], and [earshot/internal/discord/peers] has other
// people's clients call us there.
//
// # On-device models
//
// [earshot/models] is the catalogue. [earshot/models/hear] finds in frames when
// somebody speaks, [earshot/models/stt] makes words of it, and
// [earshot/models/tts] sound of words, with a table of where each word begins:
// so it is known which of them were heard. [earshot/models/sense] says by the sound
// whether there is a voice, and whether its speaker has finished, for which the
// helper makes pictures of it by [earshot/models/mel]. [earshot/models/wire] is what they and
// the helper say to each other.
//
// [earshot/models/see] is the client of the helper that sees: what it makes of single
// pictures, and the pictures themselves for who asks. [earshot/models/see/scenery] says
// what moves and what is new in them, [earshot/models/see/mjpeg] reads streams, and
// [earshot/models/see/seetest] is a camera that is a server, for tests.
//
// # The floor
//
// [earshot/interrupt] says who may be heard. A turn takes the
// [interrupt.Floor]; whatever may end it is a typed [interrupt.Signal], judged
// by a table. It acts at once, on the goroutine that brought the signal: a cut
// waits in no queue.
//
// # Models
//
// [earshot/llm] is what is asked of a language model. The real engines are
// [earshot/llm/ollama] and [earshot/llm/openai]; [earshot/llm/llmtest] says what
// is written in a script, for tests, for the demonstration, and for somebody who
// has no model. A prompt that a chat template refuses is put in another [llm.Form];
// [earshot/llm/openai/llamatest] tries that on llama.cpp's own server. A [llm.Scheduler] gives an engine's slots to the most urgent,
// those of each [llm.Host] if there are several; a
// [llm.Ladder] over them does what can be done when one fails.
//
// # People and what they say
//
// [earshot/participants] knows who exists and who is there: people and agents,
// the handles by which providers know them, what they may be called, whom
// somebody may say to be, and which comings and goings are announced. Agents stand
// in a directory, [earshot/participants/agents], that is kept by the journal; it builds
// and reads their addresses too.
// [earshot/conversation] finds out whom a text addresses, renders the envelope by
// which a model sees who said what, takes envelopes out of replies, and decides
// whether something that was said aloud is for the agent. A voice is somebody
// unknown so far.
//
// [earshot/language] takes texts apart into words, for all who compare them with phrases, and
// [earshot/language/phones] says what words sound like.
//
// # Whose voice it is
//
// [earshot/speakers] is a registry of voices: those that somebody has agreed to keep, in
// a file, and those that nobody has named, in memory. [earshot/models/voiceprint]
// makes the numbers that it compares; [earshot/models/voicing] tells a voice from a
// door before anybody can know the words. A voice proves nothing, so nothing is allowed
// by it; docs/voice.md tells people what is kept.
//
// # The executive
//
// [earshot/executive] decides; the package itself is only its configuration.
// [earshot/executive/room] does things in one order, which its package comment
// explains: read that one first. There are as many rooms as the configuration says. Who
// may see something is fixed when it is admitted, and checked again before every
// prompt, outlet and answer. The room owns the order, the queue for the journal, the
// questions that wait and the live turn. Everything else is a component that knows no
// room and returns what it wants done:
//
//   - what comes in: [earshot/executive/admission] finds out who it is from, for whom it is and who
//     may see it, queues it for the journal, and handles what else is said aloud, such as words that
//     cut a reply and never end, [earshot/executive/intake] brings it into the form
//     that may be kept, [earshot/executive/mode] is whether the room listens and answers at all,
//     [earshot/executive/revision] says what changes an earlier message, and how, and
//     [earshot/executive/record] remembers what came lately and keeps what the journal refused;
//   - who and to whom: [earshot/executive/addressing] finds out for which agents something
//     that was written is, [earshot/executive/hearing] whose voice it is and for which agents
//     something that was said aloud is, [earshot/executive/askers] in whose name an agent acts;
//   - what happens around it: [earshot/executive/activity] knows who is about to say something,
//     [earshot/executive/echo] what of the agent's own voice comes back,
//     [earshot/executive/presence] who is probably here, [earshot/executive/sight] what the
//     cameras see, and [earshot/executive/scene] all that is going on, as far as
//     [earshot/executive/perception] took it there from the journal;
//   - a reply: [earshot/executive/decision] says whether there is one, and why
//     ([earshot/executive/reason] has every reason that the journal knows),
//     [earshot/executive/question] is what it answers, and the order in which that is done,
//     [earshot/executive/seat] is the agent in this room, [earshot/executive/dialogue] what it remembers,
//     [earshot/executive/memory] what is left of it when that has forgotten, and
//     [earshot/executive/recall] looks something up in all of it,
//     [earshot/executive/task] is work that goes on beside the talk,
//     [earshot/executive/schedule] has it done by the clock,
//     [earshot/executive/prompt] builds what its model is asked and says what that rests on,
//     [earshot/executive/generation] streams the model's words,
//     [earshot/executive/reply] makes the answer of all that, also ahead of time, and the tools that
//     an agent can use in a turn,
//     [earshot/executive/reflex] answers without a model what takes no thought,
//     [earshot/executive/turn] is one reply and the truth about what was heard of it, with a
//     step function for a heart, [earshot/executive/midturn] judges what is said to an agent
//     that works, [earshot/executive/exchange] lets agents ask one another, and knows when they
//     have said enough by what [earshot/executive/turncontrol] counts,
//     [earshot/executive/chain] has them answer one another until then,
//     [earshot/executive/latency] measures how long turns take, and
//     [earshot/executive/delivery] knows the outlets and who is around them;
//   - unasked: [earshot/executive/think] thinks beside the talk and gives way to it,
//     [earshot/executive/thoughts] knows what each thought is made from and rests on,
//     [earshot/executive/attention] decides when to think and to speak unasked,
//     [earshot/executive/unasked] chooses what is said, [earshot/executive/remind] is the
//     agenda, and [earshot/executive/explain] says in words what was decided;
//   - commands and tools: [earshot/executive/command] is the table of /commands,
//     [earshot/executive/slash] answers them as a client of the room,
//     [earshot/executive/snapshot] shows others what the room is like,
//     [earshot/executive/notice] tells them about faults, [earshot/executive/owner] lets other
//     goroutines have things done by the one that owns the room,
//     [earshot/executive/tool] has the registry of tools, in whose name they are used, and the
//     loop in which a model uses them, and [earshot/executive/tool/workspace] the files.
//
// # Senses and outlets
//
// A sense implements [providers.Provider]; an outlet [earshot.Outlet]. The
// console is both: [earshot/providers/console] and [earshot/outlets/console],
// on one terminal, in the daemon and in a client alike.
// [earshot/providers/microphone] hears and [earshot/outlets/loudspeaker] speaks.
// [earshot/providers/webcam] sees who comes and goes before a camera.
// [earshot/providers/discord] makes events of what happens on Discord, and
// [earshot/outlets/discord] posts and sound of replies. [earshot/internal/discord/bot] has them share one session.
// [earshot/providers/replay] performs a recorded scene, for tests and for bug
// reports; [earshot/internal/scenetest] performs those in testdata/scenes
// against the real room. [earshot/replay] performs a day again that is on record, and
// compares what is decided; cmd/earshot-replay is the program in which it does.
//
// # Memory
//
// [earshot/store] keeps the journal, which is the truth, and views on it. An
// event is acknowledged when it is on disk. It is read through an audience. What a search
// means, and which words of a text are shown, says [earshot/internal/search]. What is to be
// forgotten is chosen, erased and removed from the file there; [earshot/daemon/erase] shows
// first what that is, has it forgotten everywhere else too, and lets what is old go.
//
// The store has the writer, the readers and the lock, and is made of parts that work on a file or in
// a transaction: [earshot/store/journal] is the file, with its tables and rows,
// [earshot/store/index] the words in it, and [earshot/store/views] all the tables that are made from
// it. [earshot/store/edit] adds, revises and erases events, and [earshot/store/retention] says which
// are old, or were only overheard. [earshot/store/transfer] writes and reads exports,
// [earshot/store/backup] copies, and [earshot/store/salvage] reads what is left of a damaged file. [earshot/store/postgres] is the
// driver by which the same statements run in a database of PostgreSQL instead;
// [earshot/internal/testkit/pgtest] runs that for tests.
//
// # The door
//
// [earshot/server] lets other processes of the same user in, at a unix socket of [earshot/server/socket], and who
// has a token over a port of this machine, if there is to be one. [earshot/server/client] is
// how every command and other programs ask it, and [earshot/server/reconnect] stays with it when
// it goes away and comes back. An attached terminal is a sense and an outlet like the console:
// [earshot/server/attach] is its near end and [earshot/server/remote] its far
// one, with [earshot/server/wire] between them. [earshot/server/token] keeps the
// tokens by which people prove who they are. At a port of this machine the token alone
// says who it is; [earshot/api] has the types that are sent and received as JSON,
// [earshot/server/openapi] describes what can be asked, and
// [earshot/server/audit] writes down who changed something. [earshot/monitor] shows on a screen, or
// a line an event, what goes on in a room, as far as whoever watches may know it;
// [earshot/monitor/model] decides what stands on the screen.
//
// # Several machines
//
// [earshot/bus] passes messages between machines, within one process or by
// [earshot/bus/nats] over a network; [earshot/bus/bustest] tests either.
// [earshot/bus/natsserver] runs the server, and [earshot/bus/nats/natstest] does so for tests.
// [earshot/satellite] is what a daemon, the hub, and the microphones, loudspeakers and cameras of other
// machines say to each other over it: to the hub a satellite is a helper that runs elsewhere. A terminal
// there is served as any other, over [earshot/bus/stream].
// [earshot/satellite/hub] is the hub's side, [earshot/satellite/client] the other machine's, and
// [earshot/satellite/pairing] knows who is paired, in a file of [earshot/internal/keyfile], as
// tokens are. [earshot/daemon/buslink] is the daemon's connection. Several daemons can share one database
// and the rooms: [earshot/cluster] says by leases who has which, [earshot/daemon/membership] makes a daemon
// one of them, daemon/cluster.go runs its rooms, and daemon/follow.go has what is in memory follow what the
// others put on record. A request for a room elsewhere goes to its daemon by [earshot/bus/stream]; see
// server/relay.go. [earshot/internal/testkit/history] checks what clients saw of them. Tests of all this
// cut and delay a network of [earshot/internal/testkit/netlab].
//
// # The whole
//
// [earshot/config] places each package's section. [earshot/internal/probe] finds out whether
// what is needed works, for doctor, the start and the daemon. [earshot/daemon/health] says how its
// parts are and what the models cost, [earshot/daemon/access] who exists and who may enter which
// room, [earshot/daemon/admin] what its operators look after, and [earshot/daemon/cameras] what there
// is to see with. [earshot/daemon/console] is for whoever sits at the terminal in which it runs, and
// [earshot/daemon/backup] writes and restores backups. [earshot/daemon/devices] has its microphones and
// loudspeakers, [earshot/daemon/engines] its language models, and [earshot/daemon/roomset] its rooms.
// [earshot/daemon/section] runs what a section of the configuration makes, and makes it anew.
// [earshot/daemon] puts the parts together: daemon.go opens and runs it, backend.go is what its server
// asks, rooms.go makes its rooms, and reload.go applies another configuration while it runs. Whoever
// waits does so by [earshot/internal/wait]. examples/embed is a program of one's own around it.
//
// This command is its command line: commands.go is the table of commands, each has a file, and
// run.go is the main job. [earshot/internal/transcript] tells people what happened,
// [earshot/internal/completion] completes command lines, [earshot/internal/firststart] asks what
// earshot may use before it starts, and [earshot/internal/systemd] makes it a service. The rules of
// the repository, such as who may import whom, are tests in internal/archtest.
package main
