package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"earshot/api"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/internal/testkit/netlab"
	"earshot/internal/testkit/pgtest"
	"earshot/satellite/pairing"
	"earshot/server/client"
)

// blocks returns the blocks of a kind, such as sh, in a page.
func blocks(page, kind string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// shellCommands returns the commands of shell in a page, one a line, without the remarks on them.
func shellCommands(page string) (all []string) {
	for _, line := range strings.Split(strings.TrimSpace(strings.Join(blocks(page, "sh"), "")), "\n") {
		command, _, _ := strings.Cut(line, "  # ")
		all = append(all, strings.TrimSpace(command))
	}
	return all
}

// merge adds a section of a configuration to another, under the keys that stand there already.
func merge(into, section map[string]any) map[string]any {
	into = maps.Clone(into)
	for key, value := range section {
		switch was := into[key].(type) {
		case map[string]any:
			value = merge(was, value.(map[string]any))
		case []any:
			value = slices.Concat(was, value.([]any))
		}
		into[key] = value
	}
	return into
}

// TestSeveralMachinesPage does what docs/several-machines.md says: it pairs a satellite with a daemon, and makes
// three of that one, with the commands and the configuration of the page, each daemon in a network of its own. What
// no test can do is left out: apt-get, sudo, the files of PostgreSQL, and make install.
func TestSeveralMachinesPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/several-machines.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	one, several, found := strings.Cut(page, "\n## Several daemons\n")
	if n := len(shellCommands(several)); !found || n != 10 || !strings.Contains(several, "Ten commands") {
		t.Errorf("from one machine to three it takes %d commands", n)
	}
	does := func(part, command string) []string {
		t.Helper()
		if !slices.Contains(shellCommands(part), command) {
			t.Fatalf("the page does not say %q, but %q", command, shellCommands(part))
		}
		return strings.Fields(command)[1:]
	}
	names := []string{"attic", "barn", "cellar"}
	lab := netlab.New(t, append(names, "far", "further")...)
	named := func(section string) string {
		for _, name := range names {
			section = strings.ReplaceAll(section, name+":", lab.Addr(name)+":")
		}
		return section
	}
	path := helpertest.Build(t, helper.BusProgram)
	at := func(node string) *home {
		h := newHome(t, "PATH="+path)
		h.scripted("reply: All is well.\n")
		h.start = func(c *exec.Cmd) (err error) {
			lab.In(node, func() { err = c.Start() })
			return err
		}
		return h
	}
	pairs := func(h *home, node string, hubs ...*home) (said string) {
		t.Helper()
		var printed bytes.Buffer
		pair := h.command(does(one, "earshot pair kitchen --room=kitchen")...)
		pair.Stdout, pair.Stderr = &printed, t.Output()
		if err := h.start(pair); err != nil { // in its network, whose addresses the code has
			t.Fatal(err)
		}
		testkit.Finish(t, testkit.Patience, "the end of earshot pair", func() { _ = pair.Wait() })
		if code, err := pairing.Decode(printed.String()); err != nil || len(hubs) > 1 && strings.Join(code.Addresses, " ") != named("attic:4223 barn:4223 cellar:4223") {
			t.Fatalf("the code is for %v, %v", code.Addresses, err)
		}
		far := at(node)
		c := far.command(does(one, "earshot satellite")...)
		out, err := os.Create(filepath.Join(far.dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		c.Stdin, c.Stdout, c.Stderr = &printed, out, out
		if err := far.start(c); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		t.Cleanup(func() {
			_ = c.Process.Signal(syscall.SIGTERM)
			testkit.Receive(t, testkit.Patience, "the end of the satellite", ended)
		})
		testkit.Await(t, soon, "the satellite is connected", func() bool {
			return slices.ContainsFunc(hubs, func(h *home) bool {
				s, err := (&client.Client{Socket: h.socket, Room: "kitchen"}).State(t.Context())
				return err == nil && len(s.Satellites) == 1 && s.Satellites[0].Connected
			})
		})
		return out.Name()
	}
	succeeds := func(h *home, args ...string) string {
		t.Helper()
		r := h.earshot(nil, args...)
		if r.code != success {
			t.Errorf("%q ends with %d: %s%s", args, r.code, r.out, r.err)
		}
		return r.out
	}

	var first, added map[string]any
	for _, c := range []struct {
		part string
		into *map[string]any
	}{{one, &first}, {several, &added}} {
		found := blocks(c.part, "yaml")
		if len(found) != 1 {
			t.Fatalf("%d configurations stand there", len(found))
		}
		if err := yaml.Unmarshal([]byte(named(found[0])), c.into); err != nil {
			t.Fatal(err)
		}
	}
	configure := func(h *home, name string, c map[string]any) {
		out, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		h.write("config/earshot/config.yaml", string(out))
		succeeds(h, "check")
	}

	attic := at("attic")
	configure(attic, "attic", first)
	alone := attic.daemon()
	far := pairs(attic, "far", attic)
	succeeds(attic, "say", "how is it?")
	succeeds(attic, does(several, "earshot export events")...)
	alone.end(syscall.SIGTERM)

	server := pgtest.Start(t)
	for _, command := range shellCommands(several)[1:4] { // the server has a superuser who is called earshot
		c := testkit.Command(t, "sh", "-c", strings.Replace(strings.TrimPrefix(command, "sudo -u postgres "), "--pwprompt earshot", "--pwprompt someone", 1))
		c.Env, c.Stdin = append(os.Environ(), "PGHOST="+server.Dir, "PGUSER=earshot", "PGDATABASE=postgres"), strings.NewReader("secret\nsecret\n")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	homes := []*home{attic, at("barn"), at("cellar")}
	for i, h := range homes {
		own := map[string]any{"store": map[string]any{"url": pgtest.URL("earshot", server)}, "cluster": map[string]any{"name": names[i]}}
		all := merge(first, added)
		for key := range own {
			if _, is := all[key].(map[string]any); !is {
				t.Errorf("the page does not set %s", key)
			}
		}
		configure(h, names[i], merge(all, own))
	}
	succeeds(attic, does(several, "earshot import events")...)
	does(several, "earshot run")
	var daemons []*process
	for _, h := range homes {
		daemons = append(daemons, h.daemon())
	}
	testkit.Await(t, soon, "three daemons have all the rooms", func() bool {
		s, err := homes[2].client().Cluster(t.Context())
		rooms := 0
		for _, m := range s.Members {
			rooms += len(m.Rooms)
		}
		return err == nil && len(s.Members) == 3 && rooms == 3 && len(s.Problems) == 0 &&
			!slices.ContainsFunc(s.Members, func(m api.ClusterMember) bool { return !m.Present })
	})
	if said := succeeds(homes[1], "history"); !strings.Contains(said, "how is it?") {
		t.Errorf("what was said before is not there: %s", said)
	}
	if answer := succeeds(homes[2], "say", "--room", "den", "how is it?"); !strings.Contains(answer, "All is well.") {
		t.Errorf("in another room the answer is %q", answer)
	}
	ran := make(map[string]bool)
	for _, m := range regexp.MustCompile("`earshot ([^`]+)`").FindAllStringSubmatch(several, -1) {
		args := strings.Fields(m[1])
		if ran[fmt.Sprint(args)] || slices.Contains([]string{"chat", "today"}, args[0]) {
			continue
		}
		ran[fmt.Sprint(args)] = true
		succeeds(homes[1], args...)
	}
	if len(ran) < 3 {
		t.Errorf("of the commands in the text it ran %v", ran)
	}
	if r := homes[1].earshot(nil, "cluster", "drain", "nobody"); r.code != notFound || !strings.Contains(r.err, "there are: attic, barn, cellar") {
		t.Errorf("draining nobody: %+v", r)
	}
	said, err := os.ReadFile(far)
	if _, since, was := strings.Cut(string(said), "connected, room Kitchen"); err != nil || !was || strings.Contains(since, "does not know the key") {
		t.Errorf("the satellite was refused when the daemon began again: %v, %s", err, said)
	}
	succeeds(homes[2], "pair", "remove", "kitchen")
	testkit.Await(t, soon, "the removal reaches another daemon", func() bool {
		return !strings.Contains(homes[1].earshot(nil, "pair", "list").out, "kitchen")
	})
	pairs(homes[1], "further", homes...)

	server.Kill(t)
	testkit.Await(t, soon, "the database is missed", func() bool {
		return strings.Contains(homes[0].earshot(nil, "cluster", "status").out, "does not answer")
	})
	if r := homes[0].earshot(nil, "doctor"); !strings.Contains(r.out, "✗ cluster        the database") || !strings.Contains(r.out, "✓ daemon ") {
		t.Errorf("without a database the doctor says\n%s%s", r.out, r.err)
	}
	if daemons[0].end(syscall.SIGTERM); !strings.Contains(daemons[0].out.String(), "earshot chat opens one") {
		t.Errorf("whoever starts a daemon at a terminal does not read how to talk to it:\n%s", daemons[0].out.String())
	}
}
