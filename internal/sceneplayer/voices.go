package sceneplayer

import (
	"math/rand/v2"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// own is how much is known of the agent's voice before a scene begins, in seconds.
const own = 10

// mask returns e with a voice that can be told from others, where a scene has only the
// number of one.
func mask(e earshot.Event) earshot.Event {
	u, is := e.Body.(earshot.Utterance)
	if !is || u.Voice == nil || len(u.Voice.Print) != 1 {
		return e
	}
	v := masked(uint64(u.Voice.Print[0]), u.Voice.Heard.Seconds(), time.Duration(e.At.UnixNano()))
	v.Channel = u.Voice.Channel
	u.Voice = v
	e.Body = u
	return e
}

// masked returns so many seconds of the voice with a number: one that differs from others
// as people do, and each time a little from itself.
func masked(number uint64, seconds float64, take time.Duration) *earshot.Voice {
	who, how := rand.New(rand.NewPCG(number, 1)), rand.New(rand.NewPCG(number, uint64(take)))
	print := make([]float32, voiceprint.Size)
	for i := range print {
		print[i] = float32(who.NormFloat64() + 0.2*how.NormFloat64())
	}
	return &earshot.Voice{Heard: time.Duration(seconds * float64(time.Second)), Print: print, Channel: "scene"}
}
