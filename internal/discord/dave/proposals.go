package dave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"earshot/internal/discord/mls"
)

// A commit is a commit that was sent, with the group that it leads to.
type commit struct {
	message []byte
	refs    [][]byte
	next    *mls.Group
}

func (c *commit) has(ref []byte) bool {
	return slices.ContainsFunc(c.refs, func(r []byte) bool { return bytes.Equal(r, ref) })
}

// propose handles op 27.
func (s *Session) propose(body []byte) ([]Answer, error) {
	if s.group == nil {
		return nil, errors.New("dave: proposals for a group that does not exist yet")
	}
	if len(body) == 0 {
		return nil, errors.New("dave: proposals without an operation")
	}
	list, rest, err := mls.Vector(body[1:])
	if err != nil || len(rest) > 0 {
		return nil, errors.New("dave: the proposals are not a list")
	}
	changed := false
	switch body[0] {
	case 0:
		changed, err = s.append(list)
	case 1:
		changed, err = s.revoke(list)
	default:
		err = fmt.Errorf("dave: operation %d on proposals", body[0])
	}
	if !changed || len(s.proposals) == 0 {
		return nil, err
	}
	answers, cannot := s.commit()
	return answers, errors.Join(err, cannot)
}

// append adds the proposals of a list that are acceptable.
func (s *Session) append(list []byte) (changed bool, err error) {
	var wrong faults
	for len(list) > 0 {
		var message []byte
		if message, list, err = mls.Next(list); err != nil {
			wrong.add(fmt.Errorf("reading a list of proposals: %w", err))
			break
		}
		p, err := s.group.Proposal(message)
		if err == nil {
			err = s.wanted(p)
		}
		if err != nil {
			wrong.add(fmt.Errorf("reading a proposal: %w", err))
			continue
		}
		if slices.ContainsFunc(s.proposals, func(k *mls.Proposal) bool { return bytes.Equal(k.Ref, p.Ref) }) {
			continue
		}
		if len(s.proposals) == maxProposals {
			wrong.add(errors.New("dave: too many proposals"))
			break
		}
		s.replace(p)
		s.proposals = append(s.proposals, p)
		changed = true
	}
	return changed, wrong.err()
}

// A faults is what was wrong with a list: the first fault and the number of faults, so that the
// error of a long list stays short.
type faults struct {
	first error
	count int
}

func (f *faults) add(err error) {
	if f.first == nil {
		f.first = err
	}
	f.count++
}

func (f *faults) err() error {
	if f.count < 2 {
		return f.first
	}
	return fmt.Errorf("%w (the first of %d faults)", f.first, f.count)
}

// wanted refuses to add users who are not connected ("Member Add").
func (s *Session) wanted(p *mls.Proposal) error {
	if p.Add == nil {
		return nil
	}
	user, err := userOf(p.Add.Identity)
	if err == nil && (user == s.self || !s.users[user]) {
		err = errors.New("dave: it adds somebody who is not connected")
	}
	return err
}

// replace drops the proposal to add the same user as p: nobody uses two key packages at a time
// ("Key Packages"), and both can never be committed.
func (s *Session) replace(p *mls.Proposal) {
	if p.Add == nil {
		return
	}
	for _, old := range slices.Clone(s.proposals) {
		if old.Add != nil && bytes.Equal(old.Add.Identity, p.Add.Identity) {
			s.drop(old.Ref)
		}
	}
}

// revoke drops the proposals whose references are in list.
func (s *Session) revoke(list []byte) (changed bool, err error) {
	refs, err := references(list)
	for _, ref := range refs {
		changed = s.drop(ref) || changed
	}
	return changed, err
}

// drop forgets a proposal, and the commits that contain it.
func (s *Session) drop(ref []byte) bool {
	i := slices.IndexFunc(s.proposals, func(p *mls.Proposal) bool { return bytes.Equal(p.Ref, ref) })
	if i < 0 {
		return false
	}
	s.proposals = slices.Delete(s.proposals, i, i+1)
	s.commits = slices.DeleteFunc(s.commits, func(c commit) bool {
		has := c.has(ref)
		if has {
			c.next.Clear()
		}
		return has
	})
	return true
}

// commit commits all known proposals. The gateway takes the first commit that it gets from
// anybody, so an earlier commit of ours may still win.
func (s *Session) commit() ([]Answer, error) {
	refs := make([][]byte, len(s.proposals))
	for i, p := range s.proposals {
		if p.Add == nil && p.Remove == s.group.Own().Leaf {
			return nil, nil // a member does not commit its own removal; another one will
		}
		refs[i] = p.Ref
	}
	message, welcome, next, err := s.group.Commit(s.rand, s.proposals)
	if err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	if err := distinct(next.Members(), s.self); err != nil {
		next.Clear()
		return nil, fmt.Errorf("committing: %w", err)
	}
	if len(s.commits) == maxCommits {
		s.commits[0].next.Clear()
		s.commits = slices.Delete(s.commits, 0, 1)
	}
	s.commits = append(s.commits, commit{message: message, refs: refs, next: next})
	return []Answer{{Op: OpCommitWelcome, Body: slices.Concat(message, welcome)}}, nil
}

// refSize is the length of a reference to a proposal: SHA-256.
const refSize = 32

// references reads the list in a revocation. Each entry is a vector, as in the protocol and its
// reference implementation; other implementations omit the lengths, which cannot be confused with
// it.
func references(list []byte) ([][]byte, error) {
	var refs [][]byte
	for rest := list; len(rest) > 0; {
		ref, behind, err := mls.Vector(rest)
		if err != nil || len(ref) != refSize {
			refs = nil
			break
		}
		refs, rest = append(refs, ref), behind
	}
	if refs != nil || len(list) == 0 {
		return refs, nil
	}
	if len(list)%refSize != 0 {
		return nil, fmt.Errorf("dave: %d bytes are not references", len(list))
	}
	for ; len(list) > 0; list = list[refSize:] {
		refs = append(refs, list[:refSize])
	}
	return refs, nil
}
