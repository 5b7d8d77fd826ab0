package membership

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"
)

const (
	// peopleKey is the key of the lock in the database under which one daemon at a time decides who there
	// is: "people" in ASCII.
	peopleKey = 0x70656f706c65

	// longestExclusion is how long somebody waits for other daemons that decide who there is.
	longestExclusion = 5 * time.Second
)

// ExcludeOthers keeps other daemons from deciding who there is until release is called, and has catchUp take in
// what they have decided before. After five seconds of waiting it returns an error. A machine that is switched off
// with the lock loses it after some ten seconds, as it does all its connections: see [postgres.NewConnector].
func (m *Membership) ExcludeOthers(ctx context.Context, catchUp func(context.Context) error) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longestExclusion, errors.New("another daemon is deciding who there is, or the database does not answer; try again"))
	defer cancel()
	select { // of many who wait here one needs a connection, or they would keep the leases from being renewed
	case m.deciding <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	conn, err := m.DB.Conn(ctx)
	if err != nil {
		<-m.deciding
		return nil, err
	}
	if _, err = conn.ExecContext(ctx, "SELECT pg_advisory_lock(?)", int64(peopleKey)); err == nil {
		err = catchUp(ctx)
	}
	release = func() {
		defer func() { <-m.deciding }()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestExclusion)
		defer cancel()
		_, err := conn.ExecContext(bounded, "SELECT pg_advisory_unlock_all()")
		if err != nil { // a connection that has the lock must not be used again
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close()
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
