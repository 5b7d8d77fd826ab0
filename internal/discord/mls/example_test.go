package mls_test

import (
	"bytes"
	"fmt"
	"log"

	"earshot/internal/discord/mls"
)

// ExampleGroup: a service proposes that Bob joins the group that Ann founded. Ann commits that, Bob
// is welcomed, and both derive the same secret.
func ExampleGroup() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	keys := func(name string) *mls.KeyPackage {
		s, err := mls.NewSigner(nil) // nil is crypto/rand
		must(err)
		k, err := mls.NewKeyPackage(nil, s, []byte(name))
		must(err)
		return k
	}
	id := []byte("a call")
	service, err := mls.NewSigner(nil)
	must(err)
	sender := mls.ExternalSender{SignatureKey: service.Public(), Identity: []byte("service")}
	ann, err := mls.New(nil, keys("ann"), id, sender)
	must(err)

	bobs := keys("bob")
	message, _, err := mls.ProposeAdd(service, id, ann.Epoch(), bobs.Marshal())
	must(err)
	proposal, err := ann.Proposal(message)
	must(err)
	_, welcome, next, err := ann.Commit(nil, []*mls.Proposal{proposal}) // the other members apply the commit
	must(err)
	ann.Clear() // the epoch before is over
	welcome, err = mls.WelcomeFor(welcome, bobs.Ref())
	must(err)
	bob, err := mls.Join(welcome, bobs)
	must(err)

	a, err := next.Export("frames", nil, 16)
	must(err)
	b, err := bob.Export("frames", nil, 16)
	must(err)
	fmt.Println(bob.Epoch(), len(bob.Members()), bytes.Equal(a, b))
	// Output: 1 2 true
}
