package attach_test

import (
	"net"
	"testing"
	"testing/synctest"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/attach"
	"earshot/server/wire"
)

// TestReceipt: a terminal that is attached again brings the last receipt that it was given, once, and none that
// is not needed any more.
func TestReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		pr := connect(t, r, sense(idle), &testkit.Voice{Called: "console"})
		for n, tt := range []struct {
			brings string
			gives  [][]byte
		}{{"", [][]byte{[]byte("one"), []byte("one two")}}, {"one two", nil}, {"", [][]byte{[]byte("three"), nil}}, {"", nil}} {
			if n > 0 {
				near, far := net.Pipe()
				pr.serve(t, near)
				go func() {
					pr.clients <- attach.Run(t.Context(), wire.NewConn(far, far, wire.MaxDown), sense(idle), &testkit.Voice{Called: "console"}, &pr.names)
				}()
			}
			o := (<-r.entered).(earshot.ReceiptHolder)
			if got := string(o.TakeReceipt()); got != tt.brings {
				t.Errorf("connection %d brings %q, want %q", n, got, tt.brings)
			}
			synctest.Wait()
			for _, given := range tt.gives {
				o.KeepReceipt(given)
			}
			synctest.Wait()
			pr.stop()
			if err := <-pr.daemons; err != nil {
				t.Error(err)
			}
			<-pr.clients // it has lost the daemon
		}
		pr.hangUp()
	})
}
