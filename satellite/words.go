package satellite

import (
	"fmt"
	"time"

	"earshot"
	"earshot/internal/helper"
)

// An Utterance is sound that a satellite has sent and is to recognise. It is said again when it ends. Times
// are by the satellite's clock.
type Utterance struct {
	Number uint32    `json:"number"` // rises
	From   time.Time `json:"from"`
	Until  time.Time `json:"until,omitzero"`
	Cancel bool      `json:"cancel,omitempty"` // nobody wants its words any more
}

// Words are what a satellite has recognised in an utterance, as models/stt has it.
type Words struct {
	Number     uint32        `json:"number"`
	Text       earshot.Text  `json:"text,omitempty"`
	Heard      time.Duration `json:"heard,omitempty"`
	Lag        time.Duration `json:"lag,omitempty"`
	Confidence float64       `json:"confidence,omitempty"`
	Final      bool          `json:"final,omitempty"`
	Failed     bool          `json:"failed,omitempty"` // there will be none
}

const (
	maxWords = 8 << 10     // bytes; nobody says half as much in the half minute of an utterance
	maxHeard = time.Minute // of either duration
)

// DecodeWords decodes [Words], and refuses what no correct satellite sends.
func DecodeWords(c helper.Control) (w Words, err error) {
	if err := c.Decode(&w); err != nil {
		return Words{}, err
	}
	if len(w.Text) > maxWords || w.Heard < 0 || w.Heard > maxHeard || w.Lag < 0 || w.Lag > maxHeard || !(w.Confidence >= 0 && w.Confidence <= 1) {
		return Words{}, fmt.Errorf("%w: impossible words", helper.ErrProtocol)
	}
	return w, nil
}
