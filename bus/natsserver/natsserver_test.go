package natsserver_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"earshot/bus/natsserver"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// users returns so many users.
func users(t *testing.T, n int) (all []natsserver.User) {
	for range n {
		key, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, natsserver.User{Key: public})
	}
	return all
}

// TestServer runs a server that is a fake: each life begins with the users that there are then, and is
// told of changes, and what is wrong comes back.
func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		var end chan error
		dial := helpertest.Dialer(helper.BusProgram, func(ctx context.Context, s *helper.Server) error {
			end = make(chan error, 1)
			go func() {
				s.Controls(func(c helper.Control) error {
					var start natsserver.Start
					var users []natsserver.User
					switch c.Name {
					case natsserver.SayStart:
						if err := c.Decode(&start); err != nil {
							return err
						}
						heard = append(heard, fmt.Sprint(start.Listen, start.Hub, start.PEM, start.Key, len(start.Users)))
						return s.Send(natsserver.SayStarted, natsserver.Started{Address: "here:1"})
					case natsserver.SayUsers:
						if err := c.Decode(&users); err != nil {
							return err
						}
						heard = append(heard, fmt.Sprint(len(users)))
					}
					return nil
				})
			}()
			select {
			case err := <-end:
				if err != nil {
					s.Send(natsserver.SayFault, helper.NewFault(err))
				}
				return err
			case <-ctx.Done():
				return nil
			}
		})
		s := natsserver.New(dial, natsserver.Config{
			Listen: ":1", Hub: "U", Certificate: natsserver.Certificate{PEM: []byte("C"), Key: "K"}, Users: users(t, 2),
		})
		short, done := context.WithTimeout(t.Context(), time.Hour)
		if _, err := s.Await(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for one that does not run: %v", err)
		}
		done()
		if err := s.SetUsers(users(t, 3)); err != nil {
			t.Error(err)
		}
		if err := s.SetUsers(users(t, natsserver.MaxUsers+1)); err == nil {
			t.Error("there may be too many users")
		}
		if err := s.SetUsers([]natsserver.User{{Key: "U"}}); err == nil {
			t.Error("a user may have any key")
		}
		for _, fault := range []error{nil, errors.New("broken")} {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			if started, err := s.Await(t.Context()); err != nil || started.Address != "here:1" {
				t.Errorf("it listens at %v, %v", started, err)
			}
			if err := s.SetUsers(users(t, 1)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if fault == nil {
				stop()
			} else {
				end <- fault
			}
			if err := <-ended; (err == nil) != (fault == nil) || err != nil && !strings.Contains(err.Error(), "broken") {
				t.Errorf("it ends with %v", err)
			}
			if err := s.SetUsers(users(t, 4)); err != nil {
				t.Error(err)
			}
			stop()
		}
		if got, want := strings.Join(heard, " "), ":1UCK3 1 :1UCK4 1"; got != want {
			t.Errorf("it was told %s; want %s", got, want)
		}
	})
}

// TestProtocol: a helper that says what it must not is ended.
func TestProtocol(t *testing.T) {
	for name, body := range map[string]any{"hello again": nil, natsserver.SayStarted: 1, natsserver.SayFault: 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := natsserver.New(helpertest.Dialer(helper.BusProgram, func(ctx context.Context, s *helper.Server) error {
					go s.Controls(func(helper.Control) error { return nil })
					s.Send(name, body)
					<-ctx.Done()
					return nil
				}), natsserver.Config{})
				if err := s.Run(t.Context()); !errors.Is(err, helper.ErrProtocol) {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
	if err := natsserver.New(nil, natsserver.Config{Users: users(t, natsserver.MaxUsers+1)}).Run(t.Context()); err == nil {
		t.Error("it runs with too many users")
	}
	missing := errors.New("missing")
	if err := natsserver.New(func() (helper.Link, error) { return nil, missing }, natsserver.Config{}).Run(t.Context()); !errors.Is(err, missing) {
		t.Errorf("without its program it ends with %v", err)
	}
}

// TestCertificate: it is made once, kept for this user alone, and refused when it may be another one.
func TestCertificate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bus.pem")
	first, err := natsserver.LoadCertificate(path)
	if err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(path); err != nil || is.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", is, err)
	}
	var made sync.Map // by several at the same time, such as a daemon and earshot pair
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			c, err := natsserver.LoadCertificate(filepath.Join(filepath.Dir(path), "other.pem"))
			if made.Store(c.SHA256(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Finish(t, testkit.Patience, "all have a certificate", makers.Wait)
	different := 0
	for range made.Range {
		different++
	}
	if different != 1 {
		t.Errorf("at the same time, %d different ones are made", different)
	}
	again, err := natsserver.LoadCertificate(path)
	if err != nil || again.SHA256() != first.SHA256() || again.Key != first.Key {
		t.Errorf("it is another one, %v", err)
	}
	pair, err := tls.X509KeyPair(again.PEM, []byte(again.Key.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(pair.Certificate[0]); hex.EncodeToString(sum[:]) != first.SHA256() {
		t.Errorf("the SHA-256 is %s", first.SHA256())
	}
	if (natsserver.Certificate{}).SHA256() != "" || strings.Contains(fmt.Sprintf("%+v %s", first, first), first.Key.Reveal()) {
		t.Error("what is nothing has a SHA-256, or the key is shown")
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"others may read":  func() error { return os.Chmod(path, 0o640) },
		"others may write": func() error { return os.Chmod(path, 0o602) },
		"empty":            func() error { return os.WriteFile(path, nil, 0o600) },
		"cut":              func() error { return os.WriteFile(path, good[:len(good)-20], 0o600) },
		"only the key":     func() error { return os.WriteFile(path, []byte(first.Key.Reveal()), 0o600) },
		"damaged":          func() error { return os.WriteFile(path, append([]byte("x"), good...), 0o600) },
		"a folder":         func() error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			os.RemoveAll(path)
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if c, err := natsserver.LoadCertificate(path); err == nil {
				t.Errorf("it is taken: %v", c.SHA256() == first.SHA256())
			} else if !strings.Contains(err.Error(), path) {
				t.Errorf("it says %v", err)
			}
		})
	}
	if _, err := natsserver.LoadCertificate(filepath.Join(t.TempDir(), "none", "bus.pem")); err == nil {
		t.Error("it is kept where no folder is")
	}
}
