package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/term"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/access"
	"earshot/daemon/admin"
	"earshot/internal/login"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/server/client"
	"earshot/speakers"
	"earshot/store"
)

type speakersCommand struct {
	List   speakersList   `cmd:"" default:"withargs" help:"List the known voices."`
	Enroll speakersEnroll `cmd:"" help:"Keep a print of somebody's voice, with their consent."`
	Name   speakersName   `cmd:"" help:"Name a voice until earshot stops. Nothing is kept."`
	Merge  speakersMerge  `cmd:"" help:"Merge two voices that are one."`
	Split  speakersSplit  `cmd:"" help:"Split a voice that is two people's."`
	Forget speakersForget `cmd:"" help:"Erase a voice. This cannot be undone."`
	Undo   speakersUndo   `cmd:"" help:"Undo the last change, except forget."`
}

type speakersList struct {
	identityFlags
	JSON bool `help:"Print them as JSON."`
}

// Run lists the voices, or while earshot does not run those that are kept.
func (l speakersList) Run(a *app) error {
	list, err := a.voices(l.identityFlags)
	if err != nil {
		return err
	}
	if l.JSON {
		return a.json(list)
	}
	if len(list) == 0 {
		fmt.Fprintln(a.err, "No voices are known.")
		return nil
	}
	t, print := a.table()
	fmt.Fprintln(t, "VOICE\tWHO\tHEARD\tLAST\tKEPT")
	for _, s := range list {
		fmt.Fprintln(t, terminal.Safe(strings.Join([]string{s.Called, admin.PersonText(s), admin.SecondsText(s.Heard), admin.LastText(s), admin.KeptText(s)}, "\t")))
	}
	return print()
}

// voices returns the voices that are known to the earshot that runs or, where none
// does, those that are kept.
func (a *app) voices(i identityFlags) (list []api.VoiceInfo, err error) {
	err = a.either(i, func(c *client.Client) error {
		list, err = c.Voices(a.ctx)
		return err
	}, func(cfg *config.Config) error {
		kept, err := speakers.Read(cfg.Store.Directory)
		if err != nil {
			return err
		}
		people, err := a.people(cfg)
		if err == nil {
			list = admin.ListVoices(kept, people.Name)
		}
		return err
	})
	return list, err
}

// tell says something about voices to the earshot that runs, and prints what came
// of it.
func (a *app) tell(i identityFlags, t api.VoiceRequest, asJSON bool) error {
	c, _, err := a.reach(i, "")
	if err != nil {
		return err
	}
	return a.tellTo(c, t, asJSON)
}

func (a *app) tellTo(c *client.Client, t api.VoiceRequest, asJSON bool) error {
	came, err := c.Tell(a.ctx, t)
	switch {
	case err != nil && strings.Contains(err.Error(), speakers.ErrUnknown.Error()):
		return &verdict{notFound, err}
	case err != nil:
		return err
	}
	return a.changed(came, asJSON)
}

// changed says what changed about voices, or shows it to programs.
func (a *app) changed(came api.VoiceChange, asJSON bool) error {
	if asJSON {
		return a.json(came)
	}
	_, err := fmt.Fprintln(a.out, terminal.Safe(strings.ToUpper(came.Text[:1])+came.Text[1:]+"."))
	return err
}

type speakersName struct {
	identityFlags
	Voice string `arg:"" help:"The voice, such as 3; see: earshot speakers."`
	Who   string `arg:"" name:"name" help:"Its owner."`
	JSON  bool   `help:"Print what changed as JSON."`
}

// Run says whose a voice is.
func (n speakersName) Run(a *app) error {
	return a.tell(n.identityFlags, api.VoiceRequest{Act: "name", Voices: []string{n.Voice}, Who: n.Who}, n.JSON)
}

type speakersMerge struct {
	identityFlags
	Voice string `arg:"" help:"One of the two, such as 3."`
	Other string `arg:"" help:"The other one."`
	JSON  bool   `help:"Print what changed as JSON."`
}

// Run says that two voices are one.
func (m speakersMerge) Run(a *app) error {
	return a.tell(m.identityFlags, api.VoiceRequest{Act: "merge", Voices: []string{m.Voice, m.Other}}, m.JSON)
}

type speakersSplit struct {
	identityFlags
	Voice string `arg:"" help:"The voice, such as 3, or the name of the person."`
	JSON  bool   `help:"Print what changed as JSON."`
}

// Run says that a voice is two people's.
func (s speakersSplit) Run(a *app) error {
	return a.tell(s.identityFlags, api.VoiceRequest{Act: "split", Voices: []string{s.Voice}}, s.JSON)
}

type speakersUndo struct {
	identityFlags
	JSON bool `help:"Print what changed as JSON."`
}

// Run takes back the last change.
func (u speakersUndo) Run(a *app) error {
	return a.tell(u.identityFlags, api.VoiceRequest{Act: "undo"}, u.JSON)
}

type speakersForget struct {
	identityFlags
	Voice string `arg:"" help:"The voice, such as 3, or the name of the person."`
	Yes   bool   `help:"Do not ask for confirmation."`
	JSON  bool   `help:"Print what changed as JSON."`
}

// Run erases what is known of a voice, also while earshot does not run.
func (f speakersForget) Run(a *app) error {
	if !f.Yes {
		if err := a.agrees("The voice of "+f.Voice+" will be erased for good. Continue?", "--yes"); err != nil {
			return err
		}
	}
	err := a.tell(f.identityFlags, api.VoiceRequest{Act: "forget", Voices: []string{f.Voice}}, f.JSON)
	if !errors.Is(err, client.ErrNotRunning) {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	people, err := a.people(cfg)
	if err != nil {
		return err
	}
	return a.write(func(*store.Store) error { return f.here(a, cfg, people) })
}

// here erases it in the file that no earshot holds.
func (f speakersForget) here(a *app, cfg *config.Config, people *participants.Registry) error {
	c := cfg.Speakers
	c.Report = func(n earshot.Notice) { fmt.Fprintf(a.err, "earshot: %s\n", n.Text) }
	book, err := speakers.Open(cfg.Store.Directory, c)
	if err != nil {
		return err
	}
	h, err := admin.FindVoice(book.Known(), f.Voice, people.Name)
	if err != nil {
		return &verdict{notFound, err}
	}
	account, _ := access.Self()
	came, err := book.Forget(h, speakers.Attestation{By: people.Resolve(account).ID, At: time.Now()})
	if err != nil {
		return err
	}
	return a.changed(admin.VoiceChange(came, "the voice of "+people.Name(came.Was)+" is forgotten"), f.JSON)
}

// agrees asks a question at the terminal; where there is none, it wants the flag.
func (a *app) agrees(question, flag string) error {
	if !term.IsTerminal(int(a.in.Fd())) {
		return &verdict{misused, fmt.Errorf("%s Nobody can confirm it here\n  → add %s", terminal.Safe(question), flag)}
	}
	if !a.confirms(question) {
		return &verdict{failed, errors.New("nothing was changed")}
	}
	return nil
}

// confirms asks a question at the terminal, and reports whether the answer is yes.
func (a *app) confirms(question string) bool {
	fmt.Fprint(a.err, terminal.Safe(question), " [y/N] ")
	line, err := login.ReadLine(a.ctx, a.in)
	if err != nil {
		fmt.Fprintln(a.err)
	}
	word := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (word == "y" || word == "yes")
}

type speakersEnroll struct {
	identityFlags
	Who      string `arg:"" name:"name" help:"Whose voice it is."`
	Voice    string `help:"A voice that was already heard, such as 3, instead of listening now." placeholder:"VOICE"`
	Consents bool   `help:"They consent: do not ask."`
	JSON     bool   `help:"Print what changed as JSON."`
}

// Run keeps somebody's voice, if they agree: one that was heard, or the one that is
// heard now.
func (e speakersEnroll) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	c, _, err := a.visit(cfg, e.identityFlags, "")
	if err != nil {
		return err
	}
	name := participants.OneLine(e.Who)
	fmt.Fprint(a.err, terminal.Safe(fmt.Sprintf(consent, name, config.ShortPath(speakers.Path(cfg.Store.Directory)))))
	if !e.Consents {
		if err := a.agrees("Does "+name+" agree?", "--consents, if they do"); err != nil {
			return err
		}
	}
	voice := e.Voice
	if voice == "" {
		if voice, err = a.hears(c, name, cfg.Speakers.Enrol.Duration()); err != nil {
			return err
		}
	}
	return a.tellTo(c, api.VoiceRequest{Act: "enroll", Voices: []string{voice}, Who: e.Who, Consents: true}, e.JSON)
}

// consent is what somebody is told before they agree. It is also in docs/voice.md.
const consent = `What is kept of %[1]s: what their voice sounds like, as some dozens of numbers for each
microphone, who has agreed, and when. No sound and no word.
Where: in %[2]s, only on this machine and only for your account.
What for: to record who said what. It gives nobody any rights.
To erase it: earshot speakers forget %[1]s
`

// turnTime is how long somebody is given to speak.
const turnTime = 3 * time.Minute

// hears waits until enough was heard of one voice, tells how far it is, and returns
// the voice.
func (a *app) hears(c *client.Client, name string, need time.Duration) (string, error) {
	fmt.Fprintln(a.err, terminal.Safe(fmt.Sprintf("%s, please talk now, and nobody else. About %s are needed.", name, admin.SecondsText(need))))
	l := admin.Enrolment{Need: need}
	tick := time.NewTicker(300 * time.Millisecond) // as often as somebody looks at it
	defer tick.Stop()
	end := time.After(turnTime)
	for {
		list, err := c.Voices(a.ctx)
		if err != nil {
			return "", err
		}
		line, voice := l.Step(list)
		if line != "" {
			fmt.Fprintln(a.err, terminal.Safe(line))
		}
		if voice.ID != "" {
			return voice.String(), nil
		}
		select {
		case <-tick.C:
		case <-end:
			return "", &verdict{notFound, errors.New("too little of one voice was heard\n  → speak closer to the microphone; see also: earshot doctor")}
		case <-a.ctx.Done():
			return "", a.ctx.Err()
		}
	}
}
