package mls

import (
	"bytes"
	"errors"
	"testing"
)

// The fuzz tests here: whatever arrives, there is no panic, a refusal is an Error, and what is read
// and written again gives the same bytes.

// refusedOr fails t unless err is nil, an Error, or one of others.
func refusedOr(t *testing.T, err error, others ...error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, o := range others {
		if errors.Is(err, o) {
			return
		}
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("refused with %T: %v", err, err)
	}
}

func written(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("read %x, written %x", want, got)
	}
}

func FuzzProposal(f *testing.F) {
	c := newCast(f)
	f.Add(c.add(f, c.spare))
	f.Add(c.remove(f, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := c.victim().Proposal(b)
		refusedOr(t, err)
		message, rest, err := Next(b)
		refusedOr(t, err)
		if err == nil {
			written(t, append(message[:len(message):len(message)], rest...), b)
		}
		if m, err := read(b, readPublicMessage); err == nil {
			written(t, m.marshal(), b)
			again := *m
			again.framedContent.write()
			written(t, again.raw, m.raw)
		}
	})
}

func FuzzCommit(f *testing.F) {
	c := newCast(f)
	known := c.read(f, c.add(f, c.spare), c.remove(f, 2))
	commit, _, _, err := c.villain().Commit(nil, known)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(commit)
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := c.victim().Apply(b, known)
		refusedOr(t, err, ErrRemoved)
		h, rest, err := Inspect(b)
		refusedOr(t, err)
		if err == nil && len(h.Refs) > len(b)/hashSize || len(rest) > len(b) {
			t.Errorf("%d references and %d bytes behind them, of %d", len(h.Refs), len(rest), len(b))
		}
		if m, err := read(b, readPublicMessage); err == nil && m.commit != nil {
			again := *m
			again.framedContent.write()
			written(t, again.raw, m.raw)
		}
	})
}

// FuzzUpdatePath tests what follows the signature of a path.
func FuzzUpdatePath(f *testing.F) {
	c := newCast(f)
	commit, _, _, err := c.villain().Commit(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	m, err := read(commit, readPublicMessage)
	if err != nil {
		f.Fatal(err)
	}
	var w writer
	m.commit.path.write(&w)
	f.Add([]byte(w))
	g := c.victim()
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := read(b, readUpdatePath)
		refusedOr(t, err)
		if err != nil {
			return
		}
		var w writer
		p.write(&w)
		written(t, w, b)
		tree := append(ratchetTree(nil), g.tree...)
		refusedOr(t, p.merge(tree, 0, hostileGroup, g.context.extensions))
		path, _ := g.tree.filteredDirectPath(0)
		if len(p.nodes) == len(path) {
			_, _, err := p.open(g.tree, 0, g.own, g.privateKeys, nil, g.context.marshal())
			refusedOr(t, err)
		}
	})
}

func FuzzWelcome(f *testing.F) {
	c := newCast(f)
	_, w, _, err := c.villain().Commit(nil, c.read(f, c.add(f, c.spare)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w)
	ref := c.spare.Ref()
	f.Fuzz(func(t *testing.T, b []byte) {
		k := *c.spare
		k.init = bytes.Clone(k.init) // a successful Join uses it up
		_, err := Join(b, &k)
		refusedOr(t, err)
		part, err := WelcomeFor(b, ref)
		refusedOr(t, err)
		if len(part) > len(b) {
			t.Errorf("a part of %d bytes of a welcome of %d", len(part), len(b))
		}
		if w, err := read(b, readWelcome); err == nil {
			written(t, w.marshal(), b)
		}
	})
}

// FuzzGroupSecrets tests, like FuzzGroupInfo, what is encrypted in a welcome.
func FuzzGroupSecrets(f *testing.F) {
	f.Add([]byte(groupSecrets{joiner: make(secret, hashSize), path: make(secret, hashSize)}.marshal()))
	f.Add([]byte(groupSecrets{joiner: make(secret, hashSize)}.marshal()))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := read(b, readGroupSecrets)
		refusedOr(t, err)
		if err == nil {
			written(t, s.marshal(), b)
		}
	})
}

func FuzzGroupInfo(f *testing.F) {
	c := newCast(f)
	info, err := c.villain().groupInfo()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(info)
	f.Fuzz(func(t *testing.T, b []byte) {
		info, err := read(b, readGroupInfo)
		refusedOr(t, err)
		if err != nil {
			return
		}
		var w writer
		w.bytes(info.context.marshal())
		writeExtensions(&w, info.extensions)
		w.opaque(info.confirmationTag)
		w.uint32(uint32(info.signer))
		written(t, w, info.signed)
		_, err = info.group(c.spare)
		refusedOr(t, err)
	})
}

func FuzzRatchetTree(f *testing.F) {
	c := newCast(f)
	var w writer
	c.villain().tree.write(&w)
	f.Add([]byte(w))
	tree, _, err := c.villain().applyProposals(c.read(f, c.add(f, c.spare)), 0)
	if err != nil {
		f.Fatal(err)
	}
	w = nil
	tree.write(&w)
	f.Add([]byte(w))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := read(b, readRatchetTree)
		refusedOr(t, err)
		if err != nil {
			return
		}
		var w writer
		tree.write(&w)
		written(t, w, b)
		tree.hash()
		refusedOr(t, tree.validate(hostileGroup, nil))
		if err := tree.validateUnmerged(); err != nil {
			refusedOr(t, err)
			return
		}
		refusedOr(t, tree.validateUnique())
		refusedOr(t, tree.validateParentHashes())
	})
}

func FuzzKeyPackage(f *testing.F) {
	c := newCast(f)
	f.Add(c.spare.Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := ReadKeyPackage(b)
		refusedOr(t, err)
		if _, _, err := ProposeAdd(c.service, hostileGroup, 1, b); err != nil {
			refusedOr(t, err)
		}
	})
}

func FuzzExternalSender(f *testing.F) {
	c := newCast(f)
	f.Add(ExternalSender{c.service.Public(), identityOf(1)}.Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseExternalSender(b)
		refusedOr(t, err)
		if err == nil {
			written(t, e.Marshal(), b)
		}
	})
}
