package discordtest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// A Secret is a text that only Discord and one client may know: with it anybody could impersonate
// that client, or listen.
type Secret struct{ What, Text string }

// Secrets returns all secrets so far, for a test that searches for leaks. A key is listed in every
// form in which it could have been printed.
func (s *Server) Secrets() (all []Secret) {
	s.with(func() { all = slices.Clone(s.secrets) })
	return all
}

// secret makes an unguessable word, and records it.
func (s *Server) secret(what string) string {
	word := random()
	s.secrets = append(s.secrets, Secret{what, word})
	return word
}

// enough is how many bytes of a key do not occur elsewhere by chance.
const enough = 9

// Printed returns a key of 16 bytes or more in every form in which it, or some of it, could be
// printed.
func Printed(what string, key []byte) (all []Secret) {
	some := key[:enough]
	list := strings.Trim(fmt.Sprint(some), "[]")
	source := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", some), "[]byte{"), "}")
	for form, text := range map[string]string{
		"hexadecimal": hex.EncodeToString(some), "base64": base64.StdEncoding.EncodeToString(some),
		"numbers": list, "JSON": strings.ReplaceAll(list, " ", ","), "Go": source, "bytes": string(some),
	} {
		all = append(all, Secret{what + " (" + form + ")", text})
	}
	return all
}
