package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot/executive/command"
	"earshot/executive/hearing"
	"earshot/participants"
	"earshot/speakers"
)

const voiceForms = "/voice [name N NAME | unname N | keep N | forget N]"

var errNoVoices = errors.New("voices are not told apart here; that needs a microphone, and executive.multi_party.speaker_attribution set to true")

// voice answers /voice: which voices there are, and whose.
func (h *Commands) voice(ctx context.Context, c command.Call) (string, error) {
	book, ok := h.Voices.(hearing.VoiceRegistry)
	if !ok || !h.Settings().MultiParty.SpeakerAttribution {
		return "", errNoVoices
	}
	verb, rest, _ := strings.Cut(strings.TrimSpace(string(c.Args)), " ")
	if verb = strings.ToLower(verb); verb == "" && !c.Audience.Unknown { // who was heard in other rooms is not for everybody
		return h.voices(book), nil
	}
	if err := h.People.Vouches(c.By); err != nil {
		return "", err
	}
	number, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "voice ")), " ")
	v, err := numberedVoice(book, number)
	if err != nil {
		return "", err
	}
	switch verb {
	case "name":
		return h.nameVoice(ctx, c, book, v, strings.Trim(strings.TrimSpace(rest), `"`))
	case "unname":
		return h.unnameVoice(ctx, c, book, v)
	case "keep":
		return h.keepVoice(c, book, v, strings.EqualFold(strings.TrimSpace(rest), "yes"))
	case "forget":
		return h.forgetVoice(c, book, v)
	}
	return "", errors.New("write " + voiceForms)
}

// voices lists the known voices, those heard last first.
func (h *Commands) voices(book hearing.VoiceRegistry) string {
	var b strings.Builder
	for _, s := range book.Known() {
		who := "somebody unknown"
		if p := h.People.Resolve(s.Handle); p.ID != "" && !p.Nameless() {
			who = p.Name
		} else if s.Who != "" {
			who = h.People.Name(s.Who)
		}
		fmt.Fprintf(&b, "%s: %s", voiceLabel(s), who)
		if !s.Last.IsZero() {
			fmt.Fprintf(&b, ", heard at %s", s.Last.Local().Format("15:04"))
		}
		if s.Kept {
			b.WriteString(", kept")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "No voice has been told apart yet."
	}
	return strings.TrimRight(b.String(), "\n")
}

// voiceLabel returns what people call a voice.
func voiceLabel(s speakers.Speaker) string {
	if s.Number > 0 {
		return "voice " + strconv.Itoa(s.Number)
	}
	return "a voice that is kept"
}

func numberedVoice(book hearing.VoiceRegistry, number string) (speakers.Speaker, error) {
	n, err := strconv.Atoi(number)
	all := book.Known()
	i := slices.IndexFunc(all, func(s speakers.Speaker) bool { return err == nil && n > 0 && s.Number == n })
	if i < 0 {
		return speakers.Speaker{}, errors.New("which voice? Write " + voiceForms + "; /voice lists them with their numbers")
	}
	return all[i], nil
}

// nameVoice records whose a voice is, and who says so.
func (h *Commands) nameVoice(ctx context.Context, c command.Call, book hearing.VoiceRegistry, v speakers.Speaker, name string) (string, error) {
	who := c.By
	if name != "" && !strings.EqualFold(name, "me") {
		found, known := h.Addressing.Find(name)
		if !known {
			return "", fmt.Errorf("nobody is called %s%s", participants.OneLine(name), h.Addressing.Meant(name))
		}
		who = found
	}
	voice := h.Listener.Meet(v.Handle).Reader()
	if err := h.People.Recognise(ctx, c.By, voice, who.ID); err != nil {
		return "", err
	}
	if _, err := book.Name(v.Handle, who.ID, h.said(c)); err != nil {
		return "", errors.Join(err, h.People.Unrecognise(ctx, c.By, voice))
	}
	h.Mention(fmt.Sprintf("%s is %s (says %s).", voiceLabel(v), who.Name, c.By.Name))
	return "", nil
}

// unnameVoice makes a voice unnamed again. A kept voice stays named until it is forgotten.
func (h *Commands) unnameVoice(ctx context.Context, c command.Call, book hearing.VoiceRegistry, v speakers.Speaker) (string, error) {
	if v.Kept {
		return "", fmt.Errorf("%s is kept, as that of %s; /voice forget %d erases it", voiceLabel(v), h.People.Name(v.Who), v.Number)
	}
	if err := h.People.Unrecognise(ctx, c.By, h.Listener.Meet(v.Handle).Reader()); err != nil {
		return "", err
	}
	_, err := book.Name(v.Handle, "", h.said(c))
	return voiceLabel(v) + " is unknown again.", err
}

// said returns who says something about voices, and when.
func (h *Commands) said(c command.Call) speakers.Attestation {
	return speakers.Attestation{By: c.By.ID, At: h.Now()}
}

// keepVoice keeps somebody's voice. They must agree themselves, once they know what that means.
func (h *Commands) keepVoice(c command.Call, book hearing.VoiceRegistry, v speakers.Speaker, agrees bool) (string, error) {
	who := h.People.Resolve(v.Handle)
	switch {
	case who.Nameless() || who.ID == "":
		return "", fmt.Errorf("the owner of %s is not known; first write /voice name %d NAME", voiceLabel(v), v.Number)
	case who.ID != c.By.ID:
		return "", fmt.Errorf("only %s can say whether their voice is kept", who.Name)
	case !agrees:
		return fmt.Sprintf("%s If you agree, write /voice keep %d yes", hearing.ConsentTerms, v.Number), nil
	}
	if _, err := book.Enrol(who.ID, h.said(c), v.Handle); err != nil {
		return "", err
	}
	return fmt.Sprintf("Your voice is kept from now on; /voice forget %d erases it.", v.Number), nil
}

// forgetVoice erases what is known about a voice. The operator and the voice's owner may do it; for
// an unnamed voice, every known participant may.
func (h *Commands) forgetVoice(c command.Call, book hearing.VoiceRegistry, v speakers.Speaker) (string, error) {
	who := h.People.Resolve(v.Handle)
	if named := who.ID != "" && !who.Nameless(); named && who.ID != c.By.ID && !c.By.Can(participants.Operate) {
		return "", fmt.Errorf("only %s or the owner may have that voice forgotten", who.Name)
	}
	if _, err := book.Forget(v.Handle, h.said(c)); err != nil {
		return "", err
	}
	return "What " + voiceLabel(v) + " sounds like is forgotten. What was said stays in the history.", nil
}
