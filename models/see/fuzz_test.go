package see_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/models/see/wire"
)

// A mute is a helper that says nothing by itself, and accepts everything it is told.
type mute struct {
	handler chan helper.Handler
	asked   chan struct{}
}

func (m mute) Send(name string, _ any) error {
	if name == wire.LookName {
		m.asked <- struct{}{}
	}
	return nil
}

func (mute) SendSound(uint32, []byte) error { return nil }

func (m mute) Run(ctx context.Context, h helper.Handler) error {
	m.handler <- h
	<-ctx.Done()
	return nil
}

// FuzzHelper: whatever a helper says is either taken or refused as a fault of the helper, and a
// picture that is handed on is a possible one.
func FuzzHelper(f *testing.F) {
	f.Add(wire.ObservationName, []byte(`{"number":1,"width":4,"height":3,"seen":[{"what":"person","box":{"x":0,"y":0,"width":1,"height":1}}]}`), uint32(0), []byte{})
	f.Add(wire.PictureName, []byte(`{"request":1,"bytes":2,"width":4,"height":3}`), uint32(1), []byte("jp"))
	f.Add(wire.PictureName, []byte(`{"request":1,"bytes":1048577,"width":4,"height":3}`), uint32(1), []byte("jp"))
	f.Add(wire.PictureName, []byte(`{"request":1}`), uint32(1), []byte{})
	f.Add(wire.PictureName, []byte(`{"request":4294967295,"age":-1}`), uint32(1<<31), make([]byte, wire.MaxChunk+1))
	f.Add(wire.ReadyName, []byte(`{"width":4,"height":3,"rate":1e300}`), uint32(1), []byte{1})
	f.Add(wire.FaultName, []byte(`{"text":"gone","cure":"mend it","lasting":true}`), uint32(1), []byte{1})
	f.Add(wire.EndName, []byte(`null`), uint32(2), []byte{1})
	f.Fuzz(func(t *testing.T, name string, body []byte, stream uint32, data []byte) {
		m := mute{make(chan helper.Handler, 1), make(chan struct{}, 2*wire.MaxRequests)}
		c := see.New(see.Config{Dial: func() (helper.Link, error) { return m, nil }})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Run(ctx)
		}()
		h := testkit.Receive(t, testkit.Patience, "the handler of the camera", m.handler)
		refused := func(err error) {
			_, fault := errors.AsType[*helper.FaultError](err)
			if err != nil && !errors.Is(err, helper.ErrProtocol) && !fault {
				t.Errorf("refused with %v", err)
			}
		}
		refused(h.Control(helper.Control{Name: wire.ReadyName, Body: json.RawMessage(`{"width":4,"height":3}`)}))
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			p, err := c.Look(ctx, time.Time{}, false)
			if err == nil && (len(p.JPEG) == 0 || len(p.JPEG) > earshot.MaxPicture || p.Width <= 0 || p.Height <= 0) {
				t.Errorf("handed on %v", p)
			}
		}()
		select {
		case <-m.asked:
		case <-ended: // if it refused what the helper said
		case <-time.After(testkit.Patience):
			t.Fatal("waited in vain: the camera to be asked, or to end")
		}
		for range 2 {
			refused(h.Control(helper.Control{Name: name, Body: body}))
			refused(h.Sound(helper.Sound{Stream: stream, Data: data}))
			refused(h.Sound(helper.Sound{Stream: stream}))
		}
		stop()
		testkit.Receive(t, testkit.Patience, "the end of a look", looked)
		testkit.Receive(t, testkit.Patience, "the end of the camera", ended)
	})
}
