package server

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/internal/field"
	"earshot/participants"
	"earshot/server/wire"
)

// claimBytes is the longest name, room or token: longer than any real one, and short enough to
// read before it is known who sent it.
const claimBytes = 256

// A Claim is what a client says about itself. The zero Claim is the person of the account, at the
// desk.
type Claim struct {
	Name  string
	Room  earshot.RoomID
	Token field.Secret // proves the name, where a name alone is not enough
	New   bool         // an unknown name may become a new participant
}

// A Principal is the author of a request: a participant in a room.
type Principal struct {
	participants.Participant
	Account  earshot.Handle   // with which they came in
	Audience earshot.Audience // the people who read what is shown to them; Room is the room
	Present  bool             // they are there apart from this request
}

// A guest is a principal, with the assertion for who they are.
type guest struct {
	Principal
	claim  Claim
	remote string // the address, if only the token vouches for them; else empty
}

// identify returns the author of r, a request for a route from a visitor. Reading alone makes
// nobody known.
func (s *Server) identify(to route, r *http.Request, v *visitor) (guest, error) {
	c, err := claimOf(r.Header)
	if err != nil {
		return guest{}, err
	}
	c.New = to.path == messagesPath || to.path == wire.AttachPath || r.Header.Get(wire.NewHeader) != ""
	if v.addr.IsValid() {
		return s.vouch(r.Context(), v, c)
	}
	if !v.known {
		return guest{}, &fault{http.StatusForbidden, errors.New("this earshot belongs to another user")}
	}
	p, err := s.Backend.Identify(r.Context(), v.handle, c)
	if err != nil {
		return guest{}, shut(err)
	}
	p.Account = v.handle
	return guest{p, c, ""}, nil
}

// vouch returns the owner of the token in a claim. Being at the desk means little at the port: the
// client may be anywhere.
func (s *Server) vouch(ctx context.Context, v *visitor, c Claim) (guest, error) {
	if c.Token == "" {
		return guest{}, &fault{http.StatusUnauthorized, &wire.Refusal{
			Problem: "this needs a token, in the header Authorization: Bearer …",
			Mend:    "create one on the machine where earshot runs: earshot token create NAME",
		}}
	}
	p, err := s.Backend.Identify(ctx, earshot.Handle{}, c)
	if err != nil {
		return guest{}, shut(err)
	}
	p.Present = false
	return guest{p, c, v.from}, nil
}

// shut is the fault of a participant whom the daemon does not let in.
func shut(err error) error {
	if errors.Is(err, participants.ErrToken) {
		return &fault{http.StatusUnauthorized, err}
	}
	return &fault{http.StatusForbidden, err}
}

// stay reports why a guest may not stay: the configuration may have changed, and a token can be
// revoked. It uses their current name, since they may have been renamed.
func (s *Server) stay(ctx context.Context, g guest) error {
	if err := s.Backend.Recheck(g.Principal); err != nil {
		return err
	}
	c, account := g.claim, earshot.Handle{}
	if g.remote == "" {
		if c.Token == "" || !g.RequiresAuth && !g.Can(participants.Operate) {
			return nil
		}
		account, c.New = g.Account, false // they were let in already
	}
	if c.Name != "" {
		c.Name = s.Journal.Name(g.ID)
	}
	_, err := s.Backend.Identify(ctx, account, c)
	return err
}

// claimOf reads the claim in the headers of a request.
func claimOf(h http.Header) (c Claim, err error) {
	if c.Name, err = percent(h, wire.IdentityHeader); err != nil {
		return Claim{}, err
	}
	room, err := percent(h, wire.RoomHeader)
	if err != nil {
		return Claim{}, err
	}
	c.Room = earshot.RoomID(room)
	c.Token, err = tokenOf(h)
	return c, err
}

// one returns the value of a header that may appear once.
func one(h http.Header, name string) (value string, ok bool, err error) {
	switch all := h.Values(name); {
	case len(all) == 0:
		return "", false, nil
	case len(all) > 1:
		return "", false, bad("the header %s appears %d times", name, len(all))
	case all[0] == "": // a client that forgot to fill it in must not become the person of the account
		return "", false, bad("the header %s is empty", name)
	default:
		return all[0], true, nil
	}
}

// percent decodes the text in a header.
func percent(h http.Header, name string) (string, error) {
	value, ok, err := one(h, name)
	if !ok {
		return "", err
	}
	text, err := url.PathUnescape(value)
	switch {
	case err != nil:
		return "", bad("the header %s is not percent-encoded", name)
	case len(text) > claimBytes:
		return "", bad("the header %s has %d bytes; at most %d are possible", name, len(text), claimBytes)
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return "", bad("the header %s is not text", name)
	}
	return text, nil
}

// tokenOf returns the token in a request.
func tokenOf(h http.Header) (field.Secret, error) {
	value, ok, err := one(h, wire.TokenHeader)
	if !ok {
		return "", err
	}
	token, ok := strings.CutPrefix(value, wire.Bearer)
	if !ok || token == "" || len(token) > claimBytes || strings.ContainsFunc(token, notOfToken) {
		return "", bad("the header %s must be %q and a token", wire.TokenHeader, strings.TrimSpace(wire.Bearer))
	}
	return field.Secret(token), nil
}

// notOfToken reports whether r cannot be part of a token.
func notOfToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
}

// handleOf returns the handle of a user of this machine: the daemon's own user and the superuser
// have one each, others have none. What rights a handle has is decided elsewhere.
func handleOf(uid, own int) (h earshot.Handle, ok bool) {
	if uid != own && uid != 0 {
		return earshot.Handle{}, false
	}
	return earshot.Handle{Provider: "console", ID: "uid" + strconv.Itoa(uid)}, true
}
