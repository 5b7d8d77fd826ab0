package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"earshot/internal/discord/gateway"
	"earshot/providers"
	"earshot/providers/discord"
	"earshot/providers/providertest"
)

// A script is a session that plays back its lines, and gives empty answers to requests.
type script struct {
	sense *discord.Sense
	lines [][2]string
}

func (s *script) Run(ctx context.Context) error {
	for _, line := range s.lines {
		s.sense.Take(gateway.Decode(line[0], []byte(line[1])))
	}
	<-ctx.Done()
	return nil
}

func (s *script) Ask(_ context.Context, _, _ string, _, into any) error {
	_ = json.Unmarshal([]byte("null"), into)
	return nil
}

const (
	me      = "1100000000000000001"
	ann     = "1100000000000000002"
	guild   = "1100000000000000003"
	general = "1100000000000000004"
)

var opening = [][2]string{
	{"READY", `{"user":{"id":"` + me + `","username":"earshot","bot":true},"application":{"id":"` + me + `"}}`},
	{"GUILD_CREATE", `{"id":"` + guild + `","name":"The House","channels":[{"id":"` + general + `","type":0,"name":"general"}]}`},
}

// wrote makes a message by somebody; more is added to its JSON.
func wrote(id int, by, text, more string) [2]string {
	content, _ := json.Marshal(text)
	return [2]string{"MESSAGE_CREATE", fmt.Sprintf(`{"id":"11000000000001%05d","channel_id":"%s","guild_id":"%s","author":{"id":"%s","username":"ann"},"member":{"roles":[]},"content":%s%s}`,
		id, general, guild, by, content, more)}
}

func TestProvider(t *testing.T) {
	providertest.Run(t, func(*testing.T) providers.Provider {
		s := &script{lines: append(opening[:2:2],
			wrote(1, ann, "hello", ""), wrote(2, ann, "", `,"attachments":[{"filename":"a.png","size":3}]`),
			[2]string{"MESSAGE_UPDATE", wrote(1, ann, "hello!", `,"edited_timestamp":"1999-12-01T00:00:00+00:00"`)[1]},
			[2]string{"MESSAGE_DELETE", `{"id":"1100000000000100001","channel_id":"` + general + `","guild_id":"` + guild + `"}`},
			[2]string{"TYPING_START", `{"user_id":"` + ann + `","channel_id":"` + general + `","guild_id":"` + guild + `"}`},
		)}
		h := newHouse()
		s.sense = discord.New(config(), discord.Parts{Session: s, House: h, Agent: func() string { return "Robin" }})
		return s.sense
	})
}
