package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDiscordSecrets: the token is in no log, in no complaint, and in nothing that is
// shown, whatever goes wrong; what people write on Discord is in no log.
func TestDiscordSecrets(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: "+replied+"\n", "", "EARSHOT_LOG_LEVEL=debug")
	d := c.comes()
	general := c.Channel("general").ID
	c.calls(c.ann, general, said)
	c.answers(general, 1)
	c.Drop(c.bot.ID)
	c.RateLimit(10*time.Millisecond, 10*time.Millisecond)
	c.calls(c.ann, general, said+" again")
	c.answers(general, 2)
	var shown strings.Builder
	look := func(args ...string) {
		r := c.earshot(nil, args...)
		shown.WriteString(r.out + r.err)
	}
	look("doctor")
	look("doctor", "--json")
	if !strings.Contains(shown.String(), "token, intents and permissions are good; answers in writing and aloud") {
		t.Errorf("doctor says\n%s", shown.String())
	}
	d.end(syscall.SIGINT)
	shown.WriteString(d.out.String())
	wrong := strings.Replace(c.bot.Token, ".", ".x", 1)
	for _, broken := range [][]string{
		{"EARSHOT_DISCORD_TOKEN=" + wrong},
		{"EARSHOT_PROVIDERS_DISCORD_BASE=http://127.0.0.1:1/"},
		{"EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=" + c.dir},
	} {
		h := c.with(broken...)
		r := h.earshot(nil, "doctor")
		shown.WriteString(r.out + r.err)
		if r.code == success || !strings.Contains(r.out, "✗ discord") || !strings.Contains(r.out, "→") {
			t.Errorf("with %s doctor says\n%s", strings.Replace(broken[0], wrong, "…", 1), r.out)
		}
		r = h.ask("what time is it?")
		shown.WriteString(r.out + r.err)
	}
	log := c.log()
	for where, text := range map[string]string{"the log": log, "what is shown": shown.String(), "the journal": c.everything("state/earshot/journal")} {
		for _, secret := range []string{c.bot.Token, wrong} {
			if strings.Contains(text, secret) {
				t.Errorf("the token is in %s", where)
			}
		}
	}
	if strings.Contains(log, said) || strings.Contains(log, replied) {
		t.Error("what was said is in the log")
	}
}
