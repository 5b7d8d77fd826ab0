package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"earshot"
)

// longest is the latest offset that a scene may have. A longer one is a typing error, and would
// make a test wait for ever.
const longest = 24 * time.Hour

// Parse returns what is heard in a scene: the part "heard" of a text archive.
//
//	-- heard --
//	# a comment
//	0.0s  console/ann  (typing)
//	0.9s  console/ann  tell me about the tides
//	4.2s  discord/bob  /why
//	5.0s  console/ann  (typing)
//	5.5s  console/ann  (emptied)
//	6.0s  microphone/default  (voice began)
//	6.1s  microphone/default  (voice lasts)
//	6.8s  microphone/default  (words) earshot what
//	7.4s  microphone/default  (aloud) earshot what time is it
//	8.2s  microphone/default  (aloud as 1) and tomorrow
//	9.0s  console/ann  (goes)
//	10s   discord/bob  (as m1) (attaches a.png image/png 12000) look at this
//	11s   discord/ann  (answers m1) how nice
//	12s   discord/bob  (edits m1) look at that
//	13s   discord/bob  (deletes m1)
//	14s   discord/     (deletes m1)
//
// A line says when, who (the provider and its name for them), and what: a message, a command after
// a slash, (typing) for the first key of a line, (emptied) for a line that was emptied without
// being sent, or that they come or go: (comes), (goes). A message that begins with a slash is
// written with two, and one of several lines with \n between them. A voice begins, lasts, or was
// nothing after all, (voice over); its (words) are recognised while it speaks, a spotted phrase
// (calls), and what it said (aloud) comes when it has ended; (aloud as 1) is by voice 1, as voices
// are numbered in the order in which they are first heard, and (aloud as 0) by the agent's own
// voice, from elsewhere. A message that others refer to has a name, (as m1). It can answer
// another, or anything else by its ID, (answers m1), and have files attached, (attaches NAME TYPE
// BYTES), also without words. It is changed, (edits m1), and taken back, (deletes m1), by its
// author or, if nobody is named, by the provider itself. What came together with the agent's own
// sound is (own words) and (own voice).
//
// What a camera sees are lines of the provider webcam:
//
//	1.0s  webcam/desk  (sees 1)
//	2.0s  webcam/desk  (sees 2 faces 1 sure 0.7 bright 0.4 moves 0.1 novel 0.2 until 30s)
//	2.0s  webcam/desk  (people 1 to 2)
//	31s   webcam/desk  (sees 0 dark bright 0.01)
//	31s   webcam/desk  (eyes dark)
//	40s   webcam/desk  (code) https://example.org/tides
//	41s   webcam/desk  (caption) somebody holds up a red cup
//	42s   webcam/desk  (moved)
//
// A look, (sees N), is an [earshot.Glance] of a clear picture by day, unless it says otherwise:
// one of clear, dark, frozen and away, how many faces, how sure, and shares from 0 to 1. With
// until it is one look a second until then. The others are an [earshot.Sight] each: how many
// people are in view now, how well the camera sees from then on, the text of a code or a caption,
// and that the whole picture has changed.
//
// Lines are in the order of time.
//
// Every bad line is an error that gives its number in the archive, all of them at once.
func Parse(archive []byte) ([]At, error) {
	text, line, err := heard(archive)
	if err != nil {
		return nil, err
	}
	var events []At
	var faults []error
	last := time.Duration(0)
	for l := range strings.Lines(text) {
		at, until, err := parseLine(strings.TrimSpace(l))
		switch {
		case err == nil && at.Event.Body == nil: // empty or a comment
		case err == nil && at.Offset < last:
			err = fmt.Errorf("%v is before the line above", at.Offset)
		case err == nil:
			last = at.Offset
			var all []At
			all, err = lasting(at, until)
			events = append(events, all...)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", line, err))
		}
		line++
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.SortStableFunc(events, func(a, b At) int { return cmp.Compare(a.Offset, b.Offset) })
	return events, nil
}

// heard returns the part "heard", and the number of its first line.
func heard(archive []byte) (text string, line int, err error) {
	a := txtar.Parse(archive)
	at := 1 + bytes.Count(a.Comment, []byte("\n"))
	for _, f := range a.Files {
		at++ // its marker
		if f.Name == "heard" {
			if line != 0 {
				return "", 0, fmt.Errorf("line %d: a second part %q", at-1, f.Name)
			}
			text, line = string(f.Data), at
		}
		at += bytes.Count(f.Data, []byte("\n"))
	}
	if line == 0 {
		return "", 0, errors.New(`there is no part "-- heard --"`)
	}
	return text, line, nil
}

// parseLine returns the event of one line, without a body if there is none, and until when it
// repeats.
func parseLine(line string) (at At, until time.Duration, err error) {
	if line == "" || line[0] == '#' {
		return At{}, 0, nil
	}
	when, rest := word(line)
	who, what := word(rest)
	offset, err := time.ParseDuration(when)
	if err != nil || offset < 0 || offset > longest {
		return At{}, 0, fmt.Errorf("%q is not a time from 0s to %v", when, longest)
	}
	provider, keepsOrder := strings.CutSuffix(who, "/")
	of, deletes := named(what, "deletes")
	if deletes && keepsOrder && provider != "" && !strings.Contains(provider, "/") && utf8.ValidString(line) {
		return At{offset, earshot.Event{From: earshot.Handle{Provider: provider}, Body: earshot.Withdrawal{Of: of}}}, 0, nil
	}
	from, err := parseHandle(who)
	if err != nil {
		return At{}, 0, err
	}
	if from.Provider == Webcam && utf8.ValidString(what) {
		body, until, err := parseSight(from.ID, what)
		return At{offset, earshot.Event{From: from, Body: body}}, until, err
	}
	id, what := parseName(what)
	body, err := parseBody(what)
	if err != nil {
		return At{}, 0, err
	}
	if p, ok := body.(earshot.Presence); ok {
		p.Session = from.ID
		body = p
	}
	return At{offset, earshot.Event{ID: id, From: from, Body: body}}, 0, nil
}

// word splits off the first word of s.
func word(s string) (first, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

func parseHandle(s string) (earshot.Handle, error) {
	provider, id, ok := strings.Cut(s, "/")
	if !ok || provider == "" || id == "" || !utf8.ValidString(s) {
		return earshot.Handle{}, fmt.Errorf("%q is not PROVIDER/NAME", s)
	}
	return earshot.Handle{Provider: provider, ID: id}, nil
}

func parseBody(s string) (earshot.Body, error) {
	switch {
	case s == "":
		return nil, errors.New("nothing is said")
	case !utf8.ValidString(s):
		return nil, errors.New("what is said is not UTF-8")
	case s == "(typing)":
		return earshot.Typing{Began: true}, nil
	case s == "(emptied)":
		return earshot.Typing{Began: false}, nil
	case s == "(comes)", s == "(goes)":
		return earshot.Presence{Here: s == "(comes)"}, nil
	case strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//"):
		return parseCommand(s[1:])
	}
	if s[0] == '/' {
		s = s[1:]
	}
	if len(s) > earshot.MaxText {
		return nil, fmt.Errorf("what is said has %d bytes; a room admits %d", len(s), earshot.MaxText)
	}
	if body, ok := parseVoice(s); ok {
		return body, nil
	}
	if of, ok := named(s, "deletes"); ok {
		return earshot.Withdrawal{Of: of}, nil
	}
	if of, text, ok := labelled(s, "edits"); ok {
		return earshot.Revision{Of: of, Text: lines(text)}, nil
	}
	return parseMessage(s), nil
}

// lines returns a text with its line breaks.
func lines(s string) earshot.Text { return earshot.Text(strings.ReplaceAll(s, `\n`, "\n")) }

// labelled returns the name after a word in brackets at the beginning of s, and the rest.
func labelled(s, word string) (name earshot.EventID, rest string, ok bool) {
	head, rest, closed := strings.Cut(s, ")")
	label, is := strings.CutPrefix(head, "("+word+" ")
	if !closed || !is || label == "" || len(label) > mostName || strings.ContainsAny(label, " \t(") {
		return "", s, false
	}
	return earshot.EventID(label), strings.TrimLeft(rest, " \t"), true
}

// named is labelled for labels that nothing may follow.
func named(s, word string) (name earshot.EventID, ok bool) {
	name, rest, ok := labelled(s, word)
	return name, ok && rest == ""
}

// mostName is the longest name of a message in a scene, in bytes.
const mostName = 64

// parseName returns the name of a message, if it has one, and the rest.
func parseName(s string) (earshot.EventID, string) {
	id, rest, ok := labelled(s, "as")
	if !ok || rest == "" || rest[0] == '/' { // a command has no name
		return "", s
	}
	return id, rest
}

// parseMessage returns a message: what it answers, its attachments, and its words.
func parseMessage(s string) earshot.Message {
	var m earshot.Message
	m.ReplyTo, s, _ = labelled(s, "answers")
	for len(m.Attachments) < earshot.MaxAttachments {
		head, rest, _ := strings.Cut(s, ")")
		list, is := strings.CutPrefix(head, "(attaches ")
		parts := strings.Fields(list)
		if !is || len(parts) != 3 {
			break
		}
		size, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || size < 0 {
			break
		}
		m.Attachments = append(m.Attachments, earshot.Attachment{Name: earshot.Text(parts[0]), Type: parts[1], Size: size})
		s = strings.TrimLeft(rest, " \t")
	}
	m.Text = lines(s)
	return m
}

const (
	// sure is the confidence in the words of a scene.
	sure = 0.9

	// aWord is how long a voice takes for a word.
	aWord = 400 * time.Millisecond
)

// stages are the notations for the stages of a voice.
var stages = map[string]earshot.Stage{
	"(voice began)": earshot.VoiceBegan, "(voice lasts)": earshot.VoiceLasts, "(voice over)": earshot.VoiceOver,
	"(words)": earshot.VoiceWords, "(calls)": earshot.VoiceCalls,
}

// parseVoice returns what was said aloud, if s says that. What the agent itself may have said,
// "(own words)" and "(own voice)", came with its sound.
func parseVoice(s string) (earshot.Body, bool) {
	kind, words, _ := strings.Cut(s, ")")
	kind += ")"
	text := earshot.Text(strings.TrimSpace(words))
	own := strings.HasPrefix(kind, "(own ")
	kind, voice := whose(kind)
	switch kind {
	case "(aloud)", "(own voice)":
		if text == "" {
			return nil, false
		}
		u := earshot.Utterance{Text: text, Confidence: sure, Lasted: time.Duration(len(strings.Fields(words))) * aWord}
		if own {
			u.Own = 1
		}
		if voice != nil {
			voice.Heard = u.Lasted
			u.Voice = voice
		}
		return u, true
	case "(own words)":
		kind = "(words)"
	}
	stage, ok := stages[kind]
	return earshot.Speech{Stage: stage, Words: text, Confidence: sure, Own: own}, ok
}

// whose splits a kind into the kind without the number of the voice, and the voice: its print is
// the number.
func whose(kind string) (string, *earshot.Voice) {
	number, is := strings.CutPrefix(kind, "(aloud as ")
	n, err := strconv.Atoi(strings.TrimSuffix(number, ")"))
	if !is || err != nil || n < 0 || n > mostVoices {
		return kind, nil
	}
	return "(aloud)", &earshot.Voice{Print: []float32{float32(n)}, Channel: "scene"}
}

// mostVoices is how many voices a scene can have.
const mostVoices = 99

func parseCommand(s string) (earshot.Body, error) {
	name, args := word(s)
	if name == "" {
		return nil, errors.New("a slash without a command")
	}
	return earshot.Command{Name: name, Args: earshot.Text(args)}, nil
}
