package posts

import (
	"context"
	"net/http"
	"time"

	"earshot/internal/discord/gateway"
)

// grace is how long to wait for Discord's answer after a cut.
const grace = 10 * time.Second

// REST is Discord's REST interface. [gateway.Session] is one.
type REST interface {
	Do(ctx context.Context, r gateway.Request) error
}

// A Channel is where messages are posted.
type Channel struct {
	ID   uint64
	REST REST
}

// A message is the JSON of a message to post.
type message struct {
	Content   string     `json:"content"`
	Allowed   mentions   `json:"allowed_mentions"`
	Reference *reference `json:"message_reference,omitempty"`
	Nonce     string     `json:"nonce,omitempty"`
	Enforce   bool       `json:"enforce_nonce,omitempty"`
}

// mentions says whom a message notifies: only these users and, if Replied is set, the author of the
// message that it refers to. Discord's default is everybody.
type mentions struct {
	Parse   []string `json:"parse"` // empty, but not left out
	Users   []string `json:"users"`
	Replied bool     `json:"replied_user"`
}

// reference names the message that is answered.
type reference struct {
	Message string `json:"message_id"`
	Fail    bool   `json:"fail_if_not_exists"` // false: it may have been deleted meanwhile
}

// mention returns the mentions of these users alone.
func mention(users []uint64) mentions {
	m := mentions{Parse: []string{}, Users: []string{}}
	for _, id := range users {
		m.Users = append(m.Users, gateway.Digits(id))
	}
	return m
}

func (c Channel) path() string { return "channels/" + gateway.Digits(c.ID) }

// post posts m and returns the message's number.
func (c Channel) post(ctx context.Context, m message) (id uint64, err error) {
	var got struct{ ID string }
	err = c.REST.Do(ctx, gateway.Request{
		Method: http.MethodPost, Path: c.path() + "/messages", Body: m, Into: &got, Again: m.Enforce, Grace: grace,
	})
	if err != nil {
		return 0, err
	}
	return gateway.Number(got.ID), nil
}

// remove deletes a message, even if ctx has ended.
func (c Channel) remove(ctx context.Context, message uint64) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	_ = c.REST.Do(ctx, gateway.Request{Method: http.MethodDelete, Path: c.path() + "/messages/" + gateway.Digits(message)})
}

// showTyping shows the typing indicator. A failure does no harm.
func (c Channel) showTyping(ctx context.Context) {
	_ = c.REST.Do(ctx, gateway.Request{Method: http.MethodPost, Path: c.path() + "/typing", Again: true})
}
