package microphone

import (
	"earshot/internal/audio"
	"earshot/models/stt"
)

// A recogniser converts the results of models/stt to those of a [Recogniser].
type recogniser struct{ sttRecogniser }

type sttRecogniser interface {
	Begin(on func(stt.Result)) *stt.Session
	Spot(f *audio.Frame)
}

// UseSTT returns a Recogniser on models/stt: on a recogniser of its own, or on that of one person
// in a call.
func UseSTT(r sttRecogniser) Recogniser { return recogniser{r} }

// Begin implements [Recogniser].
func (r recogniser) Begin(on func(Result)) Session {
	return r.sttRecogniser.Begin(func(s stt.Result) {
		on(Result{Text: s.Text, Heard: s.Heard, Confidence: s.Confidence, Final: s.Final, Err: s.Err})
	})
}
