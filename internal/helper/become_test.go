package helper_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"earshot/internal/helper"
)

// as is the variable that makes the test program a helper of some kind.
const as = "EARSHOT_TEST_AS"

// ready is the variable that makes a helper say when it works.
const ready = "EARSHOT_TEST_READY"

func TestMain(m *testing.M) {
	helper.Hasten()
	if kind := os.Getenv(as); kind != "" {
		os.Exit(become(kind))
	}
	goleak.VerifyTestMain(m)
}

func become(kind string) int {
	ctx := context.Background()
	if work := works[kind]; work != nil {
		err := helper.Serve(ctx, kind, helper.Stdio(os.Stdin, os.Stdout), func(ctx context.Context, s *helper.Server) error {
			if os.Getenv(ready) != "" {
				s.Send("ready", nil)
			}
			return work(ctx, s)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return rough[kind](pipes{
		os.NewFile(3, "control"), os.NewFile(4, "reply"), os.Stdin, os.Stdout,
	})
}

// works are helpers that speak the protocol, whatever they say.
var works = map[string]func(context.Context, *helper.Server) error{
	"echo": echo,
	"last words": func(_ context.Context, s *helper.Server) error {
		fmt.Fprintln(os.Stderr, "last line")
		if err := s.Send("last", nil); err != nil {
			return err
		}
		if err := s.SendSound(7, []byte("last")); err != nil {
			return err
		}
		return errors.New("out of order")
	},
	"stuck": func(ctx context.Context, s *helper.Server) error {
		s.Guard(100 * time.Millisecond)
		select {}
	},
	"ignores the end": func(context.Context, *helper.Server) error { select {} },
	"echo beside a child": func(ctx context.Context, s *helper.Server) error {
		pipes{os.Stdin, os.Stdout, os.Stdin, os.Stdout}.leave("is such a child", false)
		return echo(ctx, s)
	},
	"ignores all beside a child": func(context.Context, *helper.Server) error {
		pipes{os.Stdin, os.Stdout, os.Stdin, os.Stdout}.leave("is such a child", false)
		select {}
	},
	"reads sound only": func(_ context.Context, s *helper.Server) error {
		return s.Sounds(func(helper.Sound) error { return nil })
	},
	"reads control only": func(_ context.Context, s *helper.Server) error {
		return s.Controls(func(c helper.Control) error { return s.Send(c.Name, nil) })
	},
	"floods control": func(_ context.Context, s *helper.Server) error {
		for {
			if err := s.Send("more", nil); err != nil {
				return err
			}
		}
	},
	"floods sound": func(_ context.Context, s *helper.Server) error {
		for {
			if err := s.SendSound(0, nil); err != nil {
				return err
			}
		}
	},
	"shouts": func(_ context.Context, s *helper.Server) error {
		for range 10_000 {
			fmt.Fprintln(os.Stderr, "again and again")
		}
		return nil
	},
	"prints anything": func(_ context.Context, s *helper.Server) error {
		os.Stderr.WriteString(strings.Repeat("x", 100_000) + "\n\xff\x00\x1b[2J\nhalf a line")
		return nil
	},
	"tells its environment": func(_ context.Context, s *helper.Server) error {
		return s.Send("environment", os.Environ())
	},
	"prints on standard output": func(_ context.Context, s *helper.Server) error {
		fmt.Println("a library says")
		return s.SendSound(1, []byte("sound"))
	},
}

// echo sends everything back.
func echo(_ context.Context, s *helper.Server) error {
	sound := make(chan error, 1)
	go func() {
		sound <- s.Sounds(func(m helper.Sound) error { return s.SendSound(m.Stream, m.Data) })
	}()
	err := s.Controls(func(c helper.Control) error { return s.Send(c.Name, c.Body) })
	return errors.Join(err, <-sound)
}

// pipes are the helper's ends of its pipes, without a protocol.
type pipes struct{ control, reply, sound, back *os.File }

func (p pipes) hello() pipes {
	write(p.reply, `{"name":"hello","body":{"version":1,"name":"rough"}}`)
	return p
}

// beats sends beats until the end.
func (p pipes) beats() int {
	for t := time.NewTicker(helper.HastyBeat()); write(p.reply, `{"name":"beat"}`) == nil; {
		<-t.C
	}
	return 0
}

// forever does nothing, for longer than any test takes.
func forever(pipes) int {
	<-time.After(time.Hour)
	return 0
}

func write(f *os.File, message string) error {
	_, err := f.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// rough are helpers that do not follow the protocol.
var rough = map[string]func(pipes) int{
	"never says hello":   forever,
	"beats before hello": func(p pipes) int { return p.beats() },
	"is of another version": func(p pipes) int {
		write(p.reply, `{"name":"hello","body":{"version":2,"name":"rough"}}`)
		return p.beats()
	},
	"dies at once": func(pipes) int { return 3 },
	"ends at once": func(pipes) int { return 0 },
	"is killed": func(p pipes) int {
		p.hello()
		unix.Kill(os.Getpid(), unix.SIGKILL)
		return forever(p)
	},
	"dies within a message": func(p pipes) int {
		p.hello().reply.Write([]byte{100, 0, 0, 0, '{'})
		return 4
	},
	"dies within a length": func(p pipes) int {
		p.hello().back.Write([]byte{100, 0})
		return 5
	},
	"falls silent": func(p pipes) int { return forever(p.hello()) },
	"is stopped": func(p pipes) int {
		p.hello()
		unix.Kill(os.Getpid(), unix.SIGSTOP)
		return p.beats()
	},
	"sends too much control": func(p pipes) int {
		p.hello().reply.Write([]byte{0, 0, 0, 255})
		return p.beats()
	},
	"sends too much sound": func(p pipes) int {
		p.hello().back.Write([]byte{255, 255, 255, 255})
		return p.beats()
	},
	"sends no JSON":              func(p pipes) int { write(p.hello().reply, "nonsense"); return p.beats() },
	"sends a name without end":   func(p pipes) int { write(p.hello().reply, `{"name":"`+strings.Repeat("a", 65)+`"}`); return p.beats() },
	"sends sound of no stream":   func(p pipes) int { write(p.hello().back, "abc"); return p.beats() },
	"closes its sound":           func(p pipes) int { p.hello().back.Close(); return p.beats() },
	"closes its control":         func(p pipes) int { p.hello().reply.Close(); return forever(p) },
	"closes within a message":    func(p pipes) int { p.hello().back.Write([]byte{9}); p.back.Close(); return p.beats() },
	"closes what it should read": func(p pipes) int { p.control.Close(); p.sound.Close(); p.hello(); return p.beats() },
	"leaves a child behind":      func(p pipes) int { return p.hello().leave("is such a child", false) },
	"leaves a child that fled":   func(p pipes) int { return p.hello().leave("is such a child", true) },
	"leaves a grandchild":        func(p pipes) int { return p.hello().leave("is a child that leaves one", true) },
	"hangs beside children":      func(p pipes) int { p.hello().leave("is a child that leaves one", true); return deaf(p) },
	"is such a child":            deaf,
	"is a child that leaves one": func(p pipes) int { return p.leave("is such a child", true) },
	"prints without end":         printWithoutEnd,
	"answers, leaves a child":    askedAndLeaves(false),
	"answers, and children flee": askedAndLeaves(true),
	"never answers":              deaf,
	"finds": func(pipes) int {
		path, err := helper.Find("earshot-something")
		fmt.Println(path, err)
		return 0
	},
	"is a daemon": beDaemon,
}

// deaf ignores requests to end, for longer than any test takes.
func deaf(p pipes) int {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	return forever(p)
}

// leave leaves behind a process of some kind that holds all pipes open.
func (p pipes) leave(kind string, fled bool) int {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), as+"="+kind)
	child.Stdin, child.Stdout, child.Stderr = p.sound, p.back, os.Stderr
	child.ExtraFiles = []*os.File{p.control, p.reply}
	child.SysProcAttr = &unix.SysProcAttr{Setsid: fled}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return 6
}

// printWithoutEnd answers a question without end.
func printWithoutEnd(pipes) int {
	for {
		if _, err := os.Stdout.Write(make([]byte, 64<<10)); err != nil {
			return 7
		}
	}
}

// askedAndLeaves answers, and leaves processes behind that hold the answer open.
func askedAndLeaves(fled bool) func(pipes) int {
	return func(pipes) int {
		fmt.Println("an answer")
		return pipes{os.Stdin, os.Stdout, os.Stdin, os.Stdout}.leave("is a child that leaves one", fled) - 6
	}
}

// beDaemon starts a helper of the kind that it reads from its standard input, prints the number of
// that process once it works, and waits to be killed.
func beDaemon(pipes) int {
	kind := make([]byte, 100)
	n, err := os.Stdin.Read(kind)
	if err != nil {
		return 1
	}
	os.Setenv(ready, "yes")
	p, err := start(string(kind[:n]), nil)
	if err != nil {
		return 2
	}
	p.Run(context.Background(), helper.Handler{Control: func(helper.Control) error {
		fmt.Println(p.Pid())
		return nil
	}})
	return 3
}
