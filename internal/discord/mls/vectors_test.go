package mls

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/internal/testkit"
)

// The test vectors of the MLS working group, out of the module of the test-time
// peer. Each test says how many cases it has found, so that none is not success.

type octets []byte

func (o *octets) UnmarshalText(text []byte) (err error) {
	*o, err = hex.DecodeString(string(text))
	return err
}

func (o octets) reader() *reader { return &reader{whole: o} }

// vectors reads the cases of our suite, and of none in particular.
func vectors[T any](t *testing.T, name string) []T {
	t.Helper()
	out, err := testkit.Command(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/thomas-vilte/mls-go").Output()
	if err != nil {
		t.Fatalf("finding the vectors: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "testdata", "mls-interop-testvectors", "test-vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	var list []T
	for _, r := range raw {
		suite := struct {
			Suite uint16 `json:"cipher_suite"`
		}{cipherSuite}
		var v T
		if err := json.Unmarshal(r, &suite); err != nil {
			t.Fatal(err)
		}
		if suite.Suite != cipherSuite && name != "tree-operations" {
			continue
		}
		if err := json.Unmarshal(r, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// ran fails unless as many cases ran as there are.
func ran(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%d cases ran, not %d", got, want)
	}
}

func equal(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s is %x, want %x", what, got, want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestVectorsDeserialization(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		Header octets `json:"vlbytes_header"`
		Length int
	}](t, "deserialization") {
		n++
		r := v.Header.reader()
		if got := r.length(); got != v.Length || r.err != nil || r.more() {
			t.Errorf("%x is a length of %d, %v; want %d", v.Header, got, r.err, v.Length)
		}
		var w writer
		w.length(v.Length)
		equal(t, "the length", w, v.Header)
	}
	ran(t, n, 14)
}

func TestVectorsCrypto(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		RefHash struct {
			Label      string
			Value, Out octets
		} `json:"ref_hash"`
		Expand struct {
			Secret, Context, Out octets
			Label                string
			Length               int
		} `json:"expand_with_label"`
		Derive struct {
			Secret, Out octets
			Label       string
		} `json:"derive_secret"`
		Sign struct {
			Priv, Pub, Content, Signature octets
			Label                         string
		} `json:"sign_with_label"`
		Encrypt struct {
			Priv, Pub, Context, Plaintext, Ciphertext octets
			Label                                     string
			Output                                    octets `json:"kem_output"`
		} `json:"encrypt_with_label"`
	}](t, "crypto-basics") {
		n++
		equal(t, "RefHash", refHash(v.RefHash.Label, v.RefHash.Value), v.RefHash.Out)
		equal(t, "ExpandWithLabel", expandWithLabel(secret(v.Expand.Secret), v.Expand.Label, v.Expand.Context, v.Expand.Length), v.Expand.Out)
		equal(t, "DeriveSecret", deriveSecret(secret(v.Derive.Secret), v.Derive.Label), v.Derive.Out)

		s := must[*Signer](t)(signerOf(secret(v.Sign.Priv)))
		equal(t, "the public key", s.Public(), v.Sign.Pub)
		ours := must[[]byte](t)(s.sign(v.Sign.Label, v.Sign.Content))
		for _, signature := range [][]byte{v.Sign.Signature, ours} {
			if err := verify(v.Sign.Pub, v.Sign.Label, v.Sign.Content, signature); err != nil {
				t.Error(err)
			}
		}
		if verify(v.Sign.Pub, v.Sign.Label+"x", v.Sign.Content, ours) == nil {
			t.Error("a signature holds for another label")
		}

		e := v.Encrypt
		ours2 := must[hpkeCiphertext](t)(encryptWithLabel(e.Pub, e.Label, e.Context, e.Plaintext))
		for _, c := range []hpkeCiphertext{{e.Output, e.Ciphertext}, ours2} {
			equal(t, "the plaintext", must[secret](t)(decryptWithLabel(secret(e.Priv), e.Label, e.Context, c)), e.Plaintext)
		}
		if _, err := decryptWithLabel(secret(e.Priv), e.Label+"x", e.Context, ours2); err == nil {
			t.Error("a ciphertext opens for another label")
		}
	}
	ran(t, n, 1)
}

func TestVectorsTreeMath(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		Leaves                       int `json:"n_leaves"`
		Nodes                        int `json:"n_nodes"`
		Root                         nodeIndex
		Left, Right, Parent, Sibling []*nodeIndex
	}](t, "tree-math") {
		n++
		if rootOf(v.Leaves) != v.Root {
			t.Errorf("the root of %d leaves is %d, want %d", v.Leaves, rootOf(v.Leaves), v.Root)
		}
		for i := range v.Nodes {
			x := nodeIndex(i)
			for _, at := range []struct {
				what string
				f    func(nodeIndex) nodeIndex
				want *nodeIndex
			}{
				{"left", nodeIndex.left, v.Left[i]}, {"right", nodeIndex.right, v.Right[i]},
				{"parent", nodeIndex.parent, v.Parent[i]}, {"sibling", nodeIndex.sibling, v.Sibling[i]},
			} {
				if at.want != nil && at.f(x) != *at.want {
					t.Errorf("the %s of %d is %d, want %d", at.what, x, at.f(x), *at.want)
				}
			}
			if x.isLeaf() == (v.Left[i] != nil) {
				t.Errorf("node %d is a leaf: %v", x, x.isLeaf())
			}
		}
	}
	ran(t, n, 10)
}

// The only vectors are of suite 1, whose hash is ours; the keys mean nothing to a
// tree. The number of the suite in the key package is made ours.
func TestVectorsTreeOperations(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		TreeBefore     octets `json:"tree_before"`
		TreeAfter      octets `json:"tree_after"`
		TreeHashBefore octets `json:"tree_hash_before"`
		TreeHashAfter  octets `json:"tree_hash_after"`
		Proposal       octets
	}](t, "tree-operations") {
		if v.Proposal[1] == proposalAdd {
			v.Proposal[5] = cipherSuite
		}
		p, err := read(v.Proposal, readProposal)
		if err != nil {
			continue // an Update
		}
		n++
		tree := must[ratchetTree](t)(read(v.TreeBefore, readRatchetTree))
		equal(t, "the tree hash before", tree.hash(), v.TreeHashBefore)
		if p.add != nil {
			if _, err := tree.add(p.add.leaf); err != nil {
				t.Fatal(err)
			}
		} else {
			tree.remove(p.remove)
		}
		var w writer
		tree.write(&w)
		equal(t, "the tree", w, v.TreeAfter)
		equal(t, "the tree hash after", tree.hash(), v.TreeHashAfter)
	}
	ran(t, n, 4)
}

func TestVectorsTreeValidation(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		Tree        octets
		GroupID     octets   `json:"group_id"`
		TreeHashes  []octets `json:"tree_hashes"`
		Resolutions [][]nodeIndex
	}](t, "tree-validation") {
		n++
		tree := must[ratchetTree](t)(read(v.Tree, readRatchetTree))
		for x := range tree {
			equal(t, "a tree hash", tree.hashWithout(nodeIndex(x), nil), v.TreeHashes[x])
			if got := tree.resolution(nodeIndex(x)); !slices.Equal(got, v.Resolutions[x]) {
				t.Errorf("the resolution of node %d is %d, want %d", x, got, v.Resolutions[x])
			}
		}
		if err := tree.validate(v.GroupID, nil); err != nil {
			t.Error(err)
		}
		var w writer
		tree.write(&w)
		equal(t, "the tree", w, v.Tree)
	}
	ran(t, n, 14)
}

func TestVectorsTreeKEM(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		GroupID    octets `json:"group_id"`
		Epoch      uint64
		Transcript octets `json:"confirmed_transcript_hash"`
		Tree       octets `json:"ratchet_tree"`
		Leaves     []struct {
			Index       leafIndex
			Encryption  octets `json:"encryption_priv"`
			Signature   octets `json:"signature_priv"`
			PathSecrets []struct {
				Node   nodeIndex
				Secret octets `json:"path_secret"`
			} `json:"path_secrets"`
		} `json:"leaves_private"`
		Paths []struct {
			Sender  leafIndex
			Path    octets   `json:"update_path"`
			Secrets []octets `json:"path_secrets"`
			Commit  octets   `json:"commit_secret"`
			Hash    octets   `json:"tree_hash_after"`
		} `json:"update_paths"`
	}](t, "treekem") {
		n++
		before := must[ratchetTree](t)(read(v.Tree, readRatchetTree))
		if err := before.validate(v.GroupID, nil); err != nil {
			t.Fatal(err)
		}
		keys := make(map[leafIndex]privateKeys)
		signers := make(map[leafIndex]*Signer)
		for _, l := range v.Leaves {
			keys[l.Index] = privateKeys{l.Index.node(): secret(l.Encryption)}
			for _, s := range l.PathSecrets {
				private, public, err := deriveNodeKey(secret(s.Secret))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "a node's key", public, before[s.Node].encryptionKey())
				keys[l.Index][s.Node] = private
			}
			signers[l.Index] = must[*Signer](t)(signerOf(secret(l.Signature)))
		}
		context := groupContext{groupID: v.GroupID, epoch: v.Epoch, confirmedTranscriptHash: v.Transcript}
		for _, u := range v.Paths {
			tree := slices.Clone(before)
			p := must[*updatePath](t)(read(u.Path, readUpdatePath))
			var w writer
			p.write(&w)
			equal(t, "the path", w, u.Path)
			if err := p.merge(tree, u.Sender, v.GroupID, nil); err != nil {
				t.Fatal(err)
			}
			equal(t, "the tree hash", tree.hash(), u.Hash)
			context.treeHash = u.Hash
			for l := range keys {
				if l == u.Sender {
					continue
				}
				derived, commitSecret, err := p.open(tree, u.Sender, l, keys[l], nil, context.marshal())
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "commit_secret", commitSecret, u.Commit)
				lowest := commonAncestor(l, u.Sender)
				_, public, err := deriveNodeKey(secret(u.Secrets[l]))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "the lowest common node", public, tree[lowest].encryptionKey())
				if derived[lowest] == nil {
					t.Error("no private key of the lowest common node")
				}
			}

			// And a path of our own, which all must open.
			tree = slices.Clone(before)
			fresh, err := tree.refresh(nil, u.Sender, signers[u.Sender], v.GroupID)
			if err != nil {
				t.Fatal(err)
			}
			context.treeHash = tree.hash()
			ours := must[*updatePath](t)(fresh.seal(tree, nil, context.marshal()))
			if err := tree.validate(v.GroupID, nil); err != nil {
				t.Error(err)
			}
			for l := range keys {
				if l == u.Sender {
					continue
				}
				merged := slices.Clone(before)
				if err := ours.merge(merged, u.Sender, v.GroupID, nil); err != nil {
					t.Fatal(err)
				}
				_, commitSecret, err := ours.open(merged, u.Sender, l, keys[l], nil, context.marshal())
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "our commit_secret", commitSecret, fresh.commit)
			}
		}
	}
	ran(t, n, 11)
}

func TestVectorsKeySchedule(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		GroupID octets `json:"group_id"`
		Initial octets `json:"initial_init_secret"`
		Epochs  []struct {
			Tree          octets `json:"tree_hash"`
			Commit        octets `json:"commit_secret"`
			PSK           octets `json:"psk_secret"`
			Transcript    octets `json:"confirmed_transcript_hash"`
			Context       octets `json:"group_context"`
			Joiner        octets `json:"joiner_secret"`
			Welcome       octets `json:"welcome_secret"`
			Init          octets `json:"init_secret"`
			Exported      octets `json:"exporter_secret"`
			Confirmation  octets `json:"confirmation_key"`
			Membership    octets `json:"membership_key"`
			Authenticator octets `json:"epoch_authenticator"`
			Exporter      struct {
				Label           string
				Context, Secret octets
				Length          int
			}
		}
	}](t, "key-schedule") {
		init := secret(v.Initial)
		for i, e := range v.Epochs {
			n++
			c := groupContext{groupID: v.GroupID, epoch: uint64(i), treeHash: e.Tree, confirmedTranscriptHash: e.Transcript}
			equal(t, "group_context", c.marshal(), e.Context)
			joiner := joinerSecret(init, secret(e.Commit), e.Context)
			equal(t, "joiner_secret", joiner, e.Joiner)
			member := extract(joiner, e.PSK) // memberSecret, but with a pre-shared key
			equal(t, "welcome_secret", welcomeSecret(member), e.Welcome)
			s := deriveEpochSecrets(epochSecret(member, e.Context))
			equal(t, "init_secret", s.init, e.Init)
			equal(t, "exporter_secret", s.exporter, e.Exported)
			equal(t, "confirmation_key", s.confirmation, e.Confirmation)
			equal(t, "membership_key", s.membership, e.Membership)
			equal(t, "epoch_authenticator", s.authenticator, e.Authenticator)
			equal(t, "an exported secret", s.export(e.Exporter.Label, e.Exporter.Context, e.Exporter.Length), e.Exporter.Secret)
			init = s.init
		}
	}
	ran(t, n, 5)
}

func TestVectorsTranscriptHashes(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		Key       octets `json:"confirmation_key"`
		Content   octets `json:"authenticated_content"`
		Before    octets `json:"interim_transcript_hash_before"`
		Confirmed octets `json:"confirmed_transcript_hash_after"`
		Interim   octets `json:"interim_transcript_hash_after"`
	}](t, "transcript-hashes") {
		n++
		// An AuthenticatedContent is a PublicMessage without its version and its
		// membership tag.
		message := slices.Concat([]byte{0, protocolVersion}, v.Content, []byte{hashSize}, make([]byte, hashSize))
		m := must[*publicMessage](t)(read(message, readPublicMessage))
		equal(t, "the content", m.authenticatedContent(), v.Content)
		confirmed := confirmedTranscriptHash(v.Before, m)
		equal(t, "confirmed_transcript_hash", confirmed, v.Confirmed)
		equal(t, "interim_transcript_hash", interimTranscriptHash(confirmed, m.confirmationTag), v.Interim)
		equal(t, "confirmation_tag", m.confirmationTag, mac(secret(v.Key), confirmed))
	}
	ran(t, n, 1)
}

// The proposal as a public message alone: DAVE has no private ones, and the commit of the
// vector brings a pre-shared key.
func TestVectorsMessageProtection(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		GroupID     octets `json:"group_id"`
		Epoch       uint64
		Tree        octets `json:"tree_hash"`
		Transcript  octets `json:"confirmed_transcript_hash"`
		Signature   octets `json:"signature_pub"`
		Private     octets `json:"signature_priv"`
		Membership  octets `json:"membership_key"`
		Proposal    octets
		ProposalPub octets `json:"proposal_pub"`
	}](t, "message-protection") {
		g := &Group{
			context: groupContext{groupID: v.GroupID, epoch: v.Epoch, treeHash: v.Tree, confirmedTranscriptHash: v.Transcript},
			tree:    ratchetTree{{}, {}, {leaf: &leafNode{signatureKey: v.Signature}}}, // the sender is leaf 1
			secrets: &epochSecrets{membership: secret(v.Membership)},
		}
		s := must[*Signer](t)(signerOf(secret(v.Private)))
		for _, message := range []octets{v.ProposalPub} {
			n++
			m := must[*publicMessage](t)(read(message, readPublicMessage))
			if err := g.authenticate(m); err != nil {
				t.Error(err)
			}
			equal(t, "the message", m.marshal(), message)

			// And the other way: ours, protected, is accepted.
			again := *m
			again.framedContent.write()
			equal(t, "the content", again.raw, m.raw)
			again.signature = must[[]byte](t)(s.sign("FramedContentTBS", again.tbs(&g.context)))
			again.membershipTag = again.membership(&g.context, secret(v.Membership))
			if err := g.authenticate(must[*publicMessage](t)(read(again.marshal(), readPublicMessage))); err != nil {
				t.Error(err)
			}
			again.membershipTag[0] ^= 1
			if g.authenticate(&again) == nil {
				t.Error("a wrong membership tag is accepted")
			}
		}
		var w writer
		must[*publicMessage](t)(read(v.ProposalPub, readPublicMessage)).proposal.write(&w)
		equal(t, "the proposal", w, v.Proposal)
	}
	ran(t, n, 1)
}

// inMessage is what an MLSMessage of a wire format holds.
func inMessage(t *testing.T, message octets, format byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(message, []byte{0, protocolVersion, 0, format}) {
		t.Fatalf("no message of wire format %d: %x", format, message[:4])
	}
	return message[4:]
}

const (
	wireWelcome    = 3
	wireKeyPackage = 5
)

// The welcome vector has no tree, so it goes as far as the group info.
func TestVectorsWelcome(t *testing.T) {
	n := 0
	for _, v := range vectors[struct {
		Init       octets `json:"init_priv"`
		KeyPackage octets `json:"key_package"`
		Signer     octets `json:"signer_pub"`
		Welcome    octets
	}](t, "welcome") {
		n++
		k := must[*keyPackage](t)(read(inMessage(t, v.KeyPackage, wireKeyPackage), readKeyPackage))
		if err := k.validate(nil); err != nil {
			t.Error(err)
		}
		raw := inMessage(t, v.Welcome, wireWelcome)
		w := must[*welcome](t)(read(raw, readWelcome))
		equal(t, "the welcome", w.marshal(), raw)
		w = must[*welcome](t)(w.only(makeKeyPackageRef(k.raw)))
		plain := must[secret](t)(decryptWithLabel(secret(v.Init), "Welcome", w.encryptedGroupInfo, w.secrets[0].secrets))
		s := must[groupSecrets](t)(read(plain, readGroupSecrets))
		equal(t, "the group secrets", s.marshal(), plain)
		member := memberSecret(s.joiner)
		info := must[groupInfo](t)(read(must[[]byte](t)(openGroupInfo(member, w.encryptedGroupInfo)), readGroupInfo))
		if err := verify(v.Signer, "GroupInfoTBS", info.signed, info.signature); err != nil {
			t.Error(err)
		}
		g := &Group{context: info.context}
		g.enter(member)
		equal(t, "the confirmation tag", g.confirmationTag, info.confirmationTag)
	}
	ran(t, n, 1)
}

type passive struct {
	KeyPackage    octets `json:"key_package"`
	Signature     octets `json:"signature_priv"`
	Encryption    octets `json:"encryption_priv"`
	Init          octets `json:"init_priv"`
	Welcome       octets
	Tree          octets `json:"ratchet_tree"`
	Authenticator octets `json:"initial_epoch_authenticator"`
	PSKs          []struct {
		ID  octets `json:"psk_id"`
		PSK octets
	} `json:"external_psks"`
	Epochs []passiveEpoch
}

type passiveEpoch struct {
	Proposals     []octets
	Commit        octets
	Authenticator octets `json:"epoch_authenticator"`
}

// join lets the client of a vector join as [Join] does where it can. Where a welcome
// needs a pre-shared key or a tree that comes on another way, which [Join] refuses,
// the test brings them, so that the rest of the vector can be tried.
func (v *passive) join(t *testing.T) (g *Group, public bool) {
	t.Helper()
	k := &KeyPackage{
		signer: must[*Signer](t)(signerOf(secret(v.Signature))),
		public: must[*keyPackage](t)(read(inMessage(t, v.KeyPackage, wireKeyPackage), readKeyPackage)),
		init:   secret(v.Init), leaf: secret(v.Encryption),
	}
	raw := inMessage(t, v.Welcome, wireWelcome)
	g, err := Join(raw, k)
	if err == nil {
		return g, true
	}
	if len(v.PSKs) == 0 && v.Tree == nil {
		t.Fatal(err)
	}
	w := must[*welcome](t)(must[*welcome](t)(read(raw, readWelcome)).only(k.Ref()))
	r := octets(must[secret](t)(decryptWithLabel(k.init, "Welcome", w.encryptedGroupInfo, w.secrets[0].secrets))).reader()
	s := groupSecrets{joiner: r.opaque()}
	if r.present() {
		s.path = r.opaque()
	}
	member := extract(s.joiner, v.pskSecret(t, r))
	info := must[groupInfo](t)(read(must[[]byte](t)(openGroupInfo(member, w.encryptedGroupInfo)), readGroupInfo))
	if v.Tree != nil {
		info.extensions = append(info.extensions, extension{extensionRatchetTree, v.Tree})
	}
	g = must[*Group](t)(info.group(k))
	if s.path != nil {
		if err := g.takePath(info.signer, s.path); err != nil {
			t.Fatal(err)
		}
	}
	g.enter(member)
	equal(t, "the confirmation tag", g.confirmationTag, info.confirmationTag)
	return g, false
}

// pskSecret is psk_secret of section 8.4 for external keys.
func (v *passive) pskSecret(t *testing.T, r *reader) secret {
	t.Helper()
	type id struct{ id, raw []byte }
	ids := vector(r, func(r *reader) id {
		from := r.at
		if r.uint8() != 1 {
			r.fail("8.4", "no external key")
		}
		name := r.opaque()
		r.opaque() // psk_nonce
		return id{name, r.since(from)}
	})
	if r.err != nil {
		t.Fatal(r.err)
	}
	s := make(secret, hashSize)
	for i, id := range ids {
		for _, p := range v.PSKs {
			if bytes.Equal(p.ID, id.id) {
				w := writer(slices.Clone(id.raw))
				w.uint16(uint16(i))
				w.uint16(uint16(len(ids)))
				s = extract(expandWithLabel(extract(make([]byte, hashSize), p.PSK), "derived psk", w, hashSize), s)
			}
		}
	}
	return s
}

// Every case joins; it is followed until a commit brings what there is not here.
func TestVectorsPassiveClient(t *testing.T) {
	for _, tt := range []struct {
		name                           string
		joined, byJoin, applied, ended int
	}{
		{name: "passive-client-welcome", joined: 8, byJoin: 2},
		{name: "passive-client-handling-commit", joined: 13, applied: 17, ended: 9},
	} {
		var joined, byJoin, applied, ended int
		for _, v := range vectors[passive](t, tt.name) {
			g, public := v.join(t)
			joined++
			if public {
				byJoin++
			}
			equal(t, "the epoch authenticator", g.EpochAuthenticator(), v.Authenticator)
			for _, e := range v.Epochs {
				next, err := e.follow(t, g)
				if err != nil && strings.Contains(err.Error(), "proposal of type") {
					ended++
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				g = next
				equal(t, "the epoch authenticator", g.EpochAuthenticator(), e.Authenticator)
				applied++
			}
		}
		if joined != tt.joined || byJoin != tt.byJoin || applied != tt.applied || ended != tt.ended {
			t.Errorf("%s: %d joined, %d of them by Join, %d commits applied, %d unknown; want %d, %d, %d, %d", tt.name,
				joined, byJoin, applied, ended, tt.joined, tt.byJoin, tt.applied, tt.ended)
		}
	}
}

// follow applies the commit of an epoch, with the proposals of members and those that
// it carries itself, which [Group.Apply] refuses.
func (e *passiveEpoch) follow(t *testing.T, g *Group) (*Group, error) {
	t.Helper()
	var known []*Proposal
	for _, p := range e.Proposals {
		m, err := read(p, readPublicMessage)
		if err != nil {
			return nil, err
		}
		known = append(known, must[*Proposal](t)(g.accept(m)))
	}
	return g.apply(e.Commit, func(p proposalOrRef) (*Proposal, error) {
		if p.proposal != nil {
			return g.consider(p.proposal, nil)
		}
		return lookUp(known, p.ref)
	})
}
