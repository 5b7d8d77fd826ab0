package server_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// asking is the environment variable that makes the test below run itself as another user, to send
// requests to a socket.
const asking = "EARSHOT_TEST_ASK"

// TestAnotherUser: the kernel tells processes of another user from ours, even if the file modes let
// them in.
func TestAnotherUser(t *testing.T) {
	if at := os.Getenv(asking); at != "" {
		_, err := (&client.Client{Socket: at}).State(t.Context())
		resp := get(t, "unix", at, "GET /v1/state HTTP/1.1\r\nHost: x\r\n\r\n")
		body, _ := io.ReadAll(resp.Body)
		fmt.Printf("client: %v\nby hand: %s %s", err, resp.Status, body)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only the superuser can become another user")
	}
	h := newHouse()
	at, _ := serve(t, h)
	for _, dir := range []string{filepath.Dir(at), filepath.Dir(filepath.Dir(at))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(at, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := testkit.Command(t, readable(t, filepath.Dir(at)), "-test.run=^TestAnotherUser$")
	cmd.Dir = "/"
	cmd.Env = []string{asking + "=" + at}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"the earshot at this socket belongs to another user", "by hand: 403 Forbidden"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("another user is told\n%s\nwant %q", out, want)
		}
	}
	if len(h.asked) != 0 {
		t.Errorf("the house was asked about %v", h.asked)
	}
}

// readable returns a copy of this program that anybody may run.
func readable(t *testing.T, dir string) string {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOurUser: the house is asked about our own account, by its ID.
func TestOurUser(t *testing.T) {
	h := newHouse()
	at, _ := serve(t, h)
	if _, err := (&client.Client{Socket: at}).State(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := earshot.Handle{Provider: "console", ID: "uid" + strconv.Itoa(os.Getuid())}
	if len(h.asked) != 1 || h.asked[0] != want {
		t.Errorf("the house was asked about %v, want %v", h.asked, want)
	}
}
