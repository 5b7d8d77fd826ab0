package think

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/conversation"
	"earshot/language"
	"earshot/llm"
)

const (
	// mostAnswer is the longest answer that is read, in bytes: several times the size of
	// mostFindings findings of the greatest length.
	mostAnswer = 16 << 10

	// mostFindings is how many findings one thought may yield: half of those that are kept.
	mostFindings = 4

	// mostFinding is the longest finding in bytes: two sentences.
	mostFinding = 300

	// longest is how long a finding may hold: what is true for longer belongs in a note.
	longest = 24 * time.Hour

	// mostEvidence is how many lines a finding can rest on.
	mostEvidence = 8
)

var errAnswer = errors.New("the model's answer does not follow the schema")

// schema returns the schema of findings, each with a list of the first n labels.
func schema(list, prefix string, n int) json.RawMessage {
	item := `"maxItems":0`
	if n > 0 {
		item = `"items":{"enum":[` + llm.Labels(prefix, n) + `]}`
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"findings":{"type":"array","maxItems":%d,"items":{"type":"object",`+
		`"properties":{"text":{"type":"string"},"%s":{"type":"array",%s},"confidence":{"type":"number"},`+
		`"minutes":{"type":"number"},"worth_saying":{"type":"boolean"}},`+
		`"required":["text","%s","confidence","minutes","worth_saying"],"additionalProperties":false}}},`+
		`"required":["findings"],"additionalProperties":false}`, mostFindings, list, item, list))
}

// A modelFinding is a finding as a model writes it.
type modelFinding struct {
	Text       *string  `json:"text"`
	Evidence   []string `json:"evidence"`
	Merges     []string `json:"merges"`
	Confidence *float64 `json:"confidence"`
	Minutes    *float64 `json:"minutes"`
	Worth      bool     `json:"worth_saying"`
}

// read parses an answer, which may be any bytes.
func read(data []byte) ([]modelFinding, error) {
	var answer struct {
		Findings *[]modelFinding `json:"findings"`
	}
	if len(data) > mostAnswer {
		return nil, errAnswer
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if d.Decode(&answer) != nil || answer.Findings == nil {
		return nil, errAnswer
	}
	if _, more := d.Token(); more != io.EOF {
		return nil, errAnswer
	}
	return *answer.Findings, nil
}

// ParseFindings parses the result of a thought about q at now. A model has written it, so it may be
// any bytes. A result that does not follow the schema is an error. A finding is refused as a whole
// if it refers to evidence that does not exist, or to no evidence although nobody asked, or is too
// long, or has no confidence from 0 to 1, or is already stale. The first remaining finding is the
// answer to the question.
func ParseFindings(data []byte, q Question, evidence []Evidence, now time.Time) (found []Finding, refused int, err error) {
	all, err := read(data)
	if err != nil {
		return nil, 0, err
	}
	for _, w := range all {
		f, ok := w.finding(now)
		for _, l := range w.Evidence {
			i, known := llm.LabelIndex("e", l, len(evidence))
			if ok = ok && known; ok && !slices.Contains(f.Evidence, evidence[i].Event) {
				f.Evidence = append(f.Evidence, evidence[i].Event)
			}
		}
		if q.About != "" && q.Cause.Asked() && !slices.Contains(f.Evidence, q.About) {
			f.Evidence = append(f.Evidence, q.About)
		}
		ok = ok && len(w.Evidence) <= mostEvidence && (len(f.Evidence) > 0 || q.Cause.Asked()) && len(found) < mostFindings
		if !ok || slices.ContainsFunc(found, func(had Finding) bool { return language.SameWords(had.Text, f.Text) }) {
			refused++
			continue
		}
		if q.Cause.Asked() && len(found) == 0 {
			f.Answers = cmp.Or(q.About, q.ID)
		}
		found = append(found, f)
	}
	return found, refused, nil
}

// finding returns w without its evidence, if it is valid.
func (w modelFinding) finding(now time.Time) (f Finding, ok bool) {
	if w.Text == nil || w.Confidence == nil || w.Minutes == nil {
		return f, false
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(conversation.Unescape(*w.Text), "\uFFFD")), " ")
	valid := time.Duration(min(*w.Minutes, longest.Minutes()) * float64(time.Minute))
	f.Text, f.Confidence, f.Until, f.Worth = earshot.Text(text), *w.Confidence, now.Add(valid), w.Worth
	return f, strings.ContainsFunc(text, unicode.IsLetter) && len(text) <= mostFinding && !strings.ContainsFunc(text, unicode.IsControl) &&
		*w.Confidence >= 0 && *w.Confidence <= 1 && valid >= time.Minute
}

// knows reports whether the same finding is already kept and not stale. Models repeat what they
// were shown, and people do not want to hear it twice.
func knows(kept []BufferedFinding, f Finding, now time.Time) bool {
	return slices.ContainsFunc(kept, func(k BufferedFinding) bool {
		return k.Same && (k.Until.IsZero() || now.Before(k.Until)) && language.SameWords(k.Text, f.Text)
	})
}

const (
	// mostKept and keptBytes bound the findings that are kept for the same people. That is as much
	// as a scene holds and a prompt can show.
	mostKept  = 8
	keptBytes = 1 << 10
)

// fits reports whether the findings in found can be kept in addition to those in kept.
func fits(kept []BufferedFinding, found []Finding) bool {
	n := 0
	for _, k := range kept {
		n += len(k.Text)
	}
	for _, f := range found {
		n += len(f.Text)
	}
	return n <= keptBytes && len(kept)+len(found) <= mostKept
}

// merging returns what a model can merge: the kept findings that exactly the same people may see
// and that are not stale, and the new ones that answer nobody and are not worth saying, because a
// merged finding is only for prompts and is never said.
func merging(kept []BufferedFinding, found []Finding, now time.Time) (old []BufferedFinding, fresh []Finding) {
	for _, k := range kept {
		if k.Same && now.Before(k.Until) {
			old = append(old, k)
		}
	}
	for _, f := range found {
		if f.Answers == "" && !f.Worth {
			fresh = append(fresh, f)
		}
	}
	return old, fresh
}

// merged reads how a model has merged old and fresh findings. It returns the findings that replace
// found, each with the findings for which it stands. A merge is left out if it refers to a finding
// that does not exist, or for which another merge already stands; its parts then stay as they were.
// A merge is no surer than its parts, and does not hold for longer.
func merged(data []byte, old []BufferedFinding, fresh, found []Finding, now time.Time) (all []Finding, err error) {
	answer, err := read(data)
	if err != nil {
		return found, err
	}
	taken := make(map[int]bool)
	for _, w := range answer {
		f, ok := w.finding(now)
		var of []int
		for _, l := range w.Merges {
			i, known := llm.LabelIndex("f", l, len(old)+len(fresh))
			ok = ok && known && !taken[i] && !slices.Contains(of, i)
			of = append(of, i)
		}
		if !ok || len(of) < 2 {
			continue
		}
		sure, until := 0.0, now
		for _, i := range of {
			taken[i] = true
			if i < len(old) {
				f.Merges = append(f.Merges, old[i].ID)
				sure, until = max(sure, old[i].Confidence), later(until, old[i].Until)
				continue
			}
			is := fresh[i-len(old)]
			sure, until = max(sure, is.Confidence), later(until, is.Until)
			f.Evidence = union(f.Evidence, is.Evidence)
		}
		f.Confidence = min(f.Confidence, sure)
		if f.Until.After(until) {
			f.Until = until
		}
		all = append(all, f)
	}
	for _, f := range found {
		if i := slices.IndexFunc(fresh, func(o Finding) bool { return o.Text == f.Text }); i < 0 || !taken[len(old)+i] {
			all = append(all, f)
		}
	}
	return all, nil
}

// union returns what is in either list, without duplicates.
func union(a, b []earshot.EventID) []earshot.EventID {
	for _, id := range b {
		if !slices.Contains(a, id) {
			a = append(a, id)
		}
	}
	return a
}
