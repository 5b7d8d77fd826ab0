package voice

import "fmt"

// An action is what to do after a connection to the voice gateway has ended.
type action int

const (
	ask       action = iota // request new credentials from the main gateway
	await                   // wait for the main gateway: this is how a move looks
	again                   // identify with the same credentials
	continued               // resume the session
	end                     // nothing: a retry does not help
)

func (a action) String() string {
	return [...]string{"ask", "await", "again", "resume", "end"}[a]
}

// tries is how often the same action is tried before another.
const tries = 3

// after says what to do when a connection has ended with a code, or with 0 if it just broke: a
// session that was open can be resumed, and fails connections in a row have failed.
func after(code int, resumable bool, fails int) action {
	switch {
	case code == 4014, code == 4022:
		return await
	case endings[code] != "":
		return end
	case code >= 4000 && code != 4015, fails >= tries:
		return ask
	case resumable:
		return continued
	}
	return again
}

// Plain is the code of a call that we ended because it is not encrypted end to end.
const Plain = -1

// errPlain ends a connection for that reason.
var errPlain = &closed{Plain}

// endings says what a person can do about the codes after which a retry does not help.
var endings = map[int]string{
	4004: "Discord did not accept the bot in the voice channel (authentication failed); if joining again does not help, make a new token for the bot",
	4011: "Discord's voice server was not found; join again in a minute",
	4012: "Discord no longer supports version 8 of its voice gateway; install a newer earshot",
	4016: "Discord offers no encryption of packets that earshot knows; install a newer earshot",
	4017: "Discord requires a newer end-to-end encryption; install a newer earshot",
	Plain: "Discord makes this call plain: it is not encrypted end to end, since of somebody in it, or of the channel, it says that they cannot. " +
		"I do not stay in such a call; whoever runs me can allow it by providers.discord.require_encrypted_calls: false",
	4021: "Discord refuses more voice connections for now (rate limited); join again in some minutes",
}

// ended returns the end of a call by a code.
func ended(code int) *Ended {
	switch {
	case code == 4014:
		return &Ended{Code: code, Why: "somebody removed the bot from the voice channel, or the channel is gone; ask it to join again"}
	case code == 4022:
		return &Ended{Code: code, Why: "Discord ended the call; ask the bot to join again"}
	case endings[code] != "":
		return &Ended{Code: code, Why: endings[code]}
	}
	return &Ended{Code: code, Why: fmt.Sprintf("Discord closed the voice connection (%d)", code)}
}
