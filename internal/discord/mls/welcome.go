package mls

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"slices"
)

const (
	keySize   = 16 // Nk of the AEAD
	nonceSize = 12 // Nn
)

// A welcome is Welcome of section 12.4.3.1.
type welcome struct {
	secrets            []encryptedGroupSecrets
	encryptedGroupInfo []byte
}

type encryptedGroupSecrets struct {
	newMember []byte // a reference to a key package
	secrets   hpkeCiphertext
}

func readWelcome(r *reader) *welcome {
	if suite := r.uint16(); r.err == nil && suite != cipherSuite {
		r.fail("12.4.3.1", "a welcome of cipher suite %d", suite)
	}
	return &welcome{vector(r, func(r *reader) encryptedGroupSecrets {
		return encryptedGroupSecrets{r.sized(hashSize, "a reference"), readHPKECiphertext(r)}
	}), r.opaque()}
}

func (w *welcome) marshal() []byte {
	var out writer
	out.uint16(cipherSuite)
	writeVector(&out, w.secrets, func(out *writer, s encryptedGroupSecrets) {
		out.opaque(s.newMember)
		out.ciphertext(s.secrets)
	})
	out.opaque(w.encryptedGroupInfo)
	return out
}

// only returns the welcome with the secrets for one key package.
func (w *welcome) only(ref []byte) (*welcome, error) {
	for _, s := range w.secrets {
		if bytes.Equal(s.newMember, ref) {
			return &welcome{[]encryptedGroupSecrets{s}, w.encryptedGroupInfo}, nil
		}
	}
	return nil, faultf("12.4.3.1", "a welcome for others")
}

// groupSecrets is GroupSecrets of section 12.4.3.1, without pre-shared keys.
type groupSecrets struct {
	joiner secret
	path   secret // nil if there is none
}

func readGroupSecrets(r *reader) (s groupSecrets) {
	s.joiner = r.sized(hashSize, "a joiner secret")
	if r.present() {
		s.path = r.sized(hashSize, "a path secret")
	}
	if psks := r.opaque(); len(psks) > 0 {
		r.fail("12.4.3.1", "a welcome with a pre-shared key")
	}
	return s
}

func (s groupSecrets) marshal() secret {
	w := make(writer, 0, 2*hashSize+8) // so that growing leaves no copies behind
	w.opaque(s.joiner)
	if w.present(s.path != nil) {
		w.opaque(s.path)
	}
	w.opaque(nil)
	return secret(w)
}

func (s groupSecrets) clear() {
	s.joiner.clear()
	s.path.clear()
}

// groupInfo is GroupInfo of section 12.4.3.
type groupInfo struct {
	context         groupContext
	extensions      []extension
	confirmationTag []byte
	signer          leafIndex
	signature       []byte

	signed []byte // GroupInfoTBS
}

func readGroupInfo(r *reader) (i groupInfo) {
	from := r.at
	i.context = readGroupContext(r)
	i.extensions = readExtensions(r)
	i.confirmationTag = r.sized(hashSize, "a confirmation tag")
	i.signer = leafIndex(r.uint32())
	i.signed = r.since(from)
	i.signature = r.opaque()
	return i
}

// groupInfo describes the group, with only its tree in the extensions: other members refuse a
// description that contains the external senders, which belong in the group context.
func (g *Group) groupInfo() ([]byte, error) {
	var tree, w writer
	g.tree.write(&tree)
	w.bytes(g.context.marshal())
	writeExtensions(&w, []extension{{extensionRatchetTree, tree}})
	w.opaque(g.confirmationTag)
	w.uint32(uint32(g.own))
	signature, err := g.signer.sign("GroupInfoTBS", w)
	w.opaque(signature)
	return w, err
}

// sealGroupInfo and openGroupInfo use the key and nonce of section 12.4.3.1.

func sealGroupInfo(member secret, info []byte) ([]byte, error) {
	a, nonce, err := welcomeCipher(member)
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nonce, info, nil), nil
}

func openGroupInfo(member secret, sealed []byte) ([]byte, error) {
	a, nonce, err := welcomeCipher(member)
	if err != nil {
		return nil, err
	}
	info, err := a.Open(nil, nonce, sealed, nil)
	if err != nil {
		return nil, faultf("12.4.3.1", "a group info that does not open")
	}
	return info, nil
}

// welcomeCipher returns AES-128-GCM under the key of a welcome.
func welcomeCipher(member secret) (a cipher.AEAD, nonce secret, err error) {
	s := welcomeSecret(member)
	defer s.clear()
	key := expandWithLabel(s, "key", nil, keySize)
	defer key.clear()
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	a, err = cipher.NewGCM(block)
	return a, expandWithLabel(s, "nonce", nil, nonceSize), err
}

// welcome makes the Welcome for the members that a commit has added. The group is the one after
// it.
func (g *Group) welcome(joiner secret, fresh *freshPath, proposals []*Proposal, added []leafIndex) ([]byte, error) {
	info, err := g.groupInfo()
	if err != nil {
		return nil, err
	}
	member := memberSecret(joiner)
	defer member.clear()
	w := new(welcome)
	if w.encryptedGroupInfo, err = sealGroupInfo(member, info); err != nil {
		return nil, err
	}
	for _, p := range proposals {
		if p.Add == nil {
			continue
		}
		s := groupSecrets{joiner: joiner}
		if at := slices.Index(fresh.path, commonAncestor(g.own, added[0])); at >= 0 {
			s.path = fresh.pathSecrets[at]
		}
		added = added[1:]
		plain := s.marshal()
		c, err := encryptWithLabel(p.proposal.add.initKey, "Welcome", w.encryptedGroupInfo, plain)
		plain.clear()
		if err != nil {
			return nil, err
		}
		w.secrets = append(w.secrets, encryptedGroupSecrets{makeKeyPackageRef(p.proposal.add.raw), c})
	}
	return w.marshal(), nil
}

// Join enters the group that a Welcome leads to, which must carry the tree (section 12.4.3.1). The
// caller judges the group itself, such as its external sender. On success the key package's init
// key is overwritten.
func Join(message []byte, k *KeyPackage) (*Group, error) {
	w, err := read(message, readWelcome)
	if err != nil {
		return nil, err
	}
	if k.init == nil {
		return nil, ErrCleared
	}
	if w, err = w.only(k.Ref()); err != nil {
		return nil, err
	}
	plain, err := decryptWithLabel(k.init, "Welcome", w.encryptedGroupInfo, w.secrets[0].secrets)
	if err != nil {
		return nil, err
	}
	defer plain.clear()
	secrets, err := read(plain, readGroupSecrets)
	if err != nil {
		return nil, err
	}
	defer secrets.clear()
	member := memberSecret(secrets.joiner)
	defer member.clear()
	opened, err := openGroupInfo(member, w.encryptedGroupInfo)
	if err != nil {
		return nil, err
	}
	info, err := read(opened, readGroupInfo)
	if err != nil {
		return nil, err
	}
	g, err := info.group(k)
	if err != nil {
		return nil, err
	}
	if secrets.path != nil {
		if err := g.takePath(info.signer, secrets.path); err != nil {
			g.Clear()
			return nil, err
		}
	}
	g.enter(member)
	if !sameMAC(info.confirmationTag, g.confirmationTag) {
		g.Clear()
		return nil, faultf("12.4.3.1", "a wrong confirmation tag")
	}
	k.init.clear()
	k.init = nil
	return g, nil
}

// group checks a group info and its tree, and returns the group as its new member
// sees it, still without secrets.
func (i *groupInfo) group(k *KeyPackage) (*Group, error) {
	data, ok := find(i.extensions, extensionRatchetTree)
	if !ok {
		return nil, faultf("12.4.3.1", "a welcome without a tree")
	}
	tree, err := read(data, readRatchetTree)
	if err != nil {
		return nil, err
	}
	signer := tree.leaf(i.signer)
	if signer == nil {
		return nil, faultf("12.4.3.1", "a group info signed by leaf %d, where nobody is", i.signer)
	}
	if err := verify(signer.signatureKey, "GroupInfoTBS", i.signed, i.signature); err != nil {
		return nil, err
	}
	if !bytes.Equal(tree.hash(), i.context.treeHash) {
		return nil, faultf("12.4.3.1", "a tree of another hash")
	}
	if err := tree.validate(i.context.groupID, i.context.extensions); err != nil {
		return nil, err
	}
	g := &Group{signer: k.signer, context: i.context, tree: tree}
	if g.externalSenders, err = externalSendersOf(i.context.extensions); err != nil {
		return nil, err
	}
	for l, leaf := range tree.occupied {
		if leaf.same(k.public.leaf) {
			g.own = l
			g.privateKeys = privateKeys{l.node(): slices.Clone(k.leaf)}
			return g, nil
		}
	}
	return nil, faultf("12.4.3.1", "a group without us")
}

// takePath derives the private keys above a new member from the path secret that the
// committer has sent it.
func (g *Group) takePath(committer leafIndex, s secret) error {
	path, _ := g.tree.filteredDirectPath(committer)
	from := slices.Index(path, commonAncestor(committer, g.own))
	if from < 0 {
		return faultf("12.4.3.1", "a path secret for no node")
	}
	keys, commitSecret, err := g.tree.derivePath(path[from:], slices.Clone(s))
	if err != nil {
		return err
	}
	commitSecret.clear()
	for x, s := range keys {
		g.privateKeys[x] = s
	}
	return nil
}
