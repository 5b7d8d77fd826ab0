package scenetest_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/executive"
	"earshot/executive/room"
	"earshot/internal/scenetest"
	"earshot/internal/testkit"
	"earshot/llm/llmtest"
	"earshot/participants"
	"earshot/store"
)

// TestOffTheRecordLeavesNoBytes: whatever people do before, during and after, nothing that is
// written off the record is anywhere in the store's directory, in the log or in a prompt.
// Everything else that was written is on record.
func TestOffTheRecordLeavesNoBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		directory, err := os.MkdirTemp("", "offrecord")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(directory)
		h := &loft{rt: rt, secret: make(map[string]bool)}
		synctest.Test(t, func(t *testing.T) { h.live(t.Context(), directory) })
		h.check(directory)
	})
}

// A loft is a room with a real store. It remembers what was written in it.
type loft struct {
	rt     *rapid.T
	log    bytes.Buffer
	model  llmtest.Script
	people *participants.Registry
	secret map[string]bool // by text: whether it was written off the record
	sent   []earshot.Event // only what was admitted
	ids    atomic.Int64
}

var bob = earshot.Handle{Provider: "console", ID: "bob"}

// live opens the loft and has people do things in it.
func (h *loft) live(ctx context.Context, directory string) {
	cfg := store.DefaultConfig()
	cfg.Directory, cfg.Log = directory, slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	journal, err := store.Open(ctx, cfg)
	if err != nil {
		h.rt.Fatal(err)
	}
	defer journal.Close()
	h.people, err = participants.Open(participants.Setup{
		Account: scenetest.Ann, AccountName: "ann", Agents: []participants.Participant{{ID: participants.Agent, Name: "Earshot", Type: participants.Internal}},
		Actors: participants.Config{Actors: []participants.Actor{{ID: "bob", Type: participants.Human, Handles: []string{"console:bob"}}}},
	})
	if err != nil {
		h.rt.Fatal(err)
	}
	h.model = llmtest.Script{Reply: "as you say", Every: time.Millisecond}
	r := room.New(room.Config{
		ID: earshot.Desk, Settings: executive.DefaultConfig, People: h.people, Journal: journal, Model: &h.model,
		Now: time.Now, NewID: h.newID, Log: cfg.Log,
	})
	r.Enter(&testkit.Voice{Called: "one", Flow: true, Every: time.Millisecond}, earshot.Audience{Members: []earshot.ParticipantID{participants.Owner}})
	r.Enter(&testkit.Voice{Called: "two", Flow: true, Every: time.Millisecond}, earshot.Audience{Members: []earshot.ParticipantID{"bob"}})
	ctx, leave := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	for range rapid.IntRange(1, 15).Draw(h.rt, "deeds") {
		h.act(ctx, r)
		time.Sleep(time.Duration(rapid.IntRange(0, 30).Draw(h.rt, "pause")) * time.Millisecond)
	}
	leave()
	running.Wait()
}

// act does one random thing on behalf of somebody.
func (h *loft) act(ctx context.Context, r *room.Room) {
	e := earshot.Event{From: rapid.SampledFrom([]earshot.Handle{scenetest.Ann, bob}).Draw(h.rt, "who"), Via: "one"}
	if e.From == bob {
		e.Via = "two"
	}
	mode, _ := r.Mode()
	text := fmt.Sprintf("mark%dx", len(h.secret))
	switch deed := rapid.SampledFrom([]string{"write", "write", "whisper", "note", "again", "offrecord", "offrecord", "resume", "pause", "stop", "why"}).Draw(h.rt, "deed"); deed {
	case "write":
		e.Body = earshot.Message{Text: earshot.Text("Earshot, " + text)}
		h.secret[text] = mode == earshot.OffRecord
	case "whisper":
		to := rapid.SampledFrom([]string{"ann", "bob", "Earshot"}).Draw(h.rt, "to")
		e.Body = earshot.Command{Name: "msg", Args: earshot.Text(to + " " + text)}
		h.secret[text] = mode == earshot.OffRecord || to == h.people.Name(h.people.Resolve(e.From).ID)
	case "note":
		e.Body = earshot.Command{Name: "note", Args: earshot.Text(text)}
		h.secret[text] = mode == earshot.OffRecord
	case "again":
		if len(h.sent) == 0 {
			return
		}
		e = rapid.SampledFrom(h.sent).Draw(h.rt, "which")
	default:
		h.present(ctx, r)
		e.Body = earshot.Command{Name: deed}
	}
	if e.ID == "" {
		e.ID = h.newID()
	}
	if err := r.Admit(ctx, e); err == nil {
		h.sent = append(h.sent, e)
	}
}

func (h *loft) newID() earshot.EventID {
	return earshot.EventID(fmt.Sprintf("01J%023d", h.ids.Add(1)))
}

// present has both people be there.
func (h *loft) present(ctx context.Context, r *room.Room) {
	for _, who := range []earshot.Handle{scenetest.Ann, bob} {
		_ = r.Admit(ctx, earshot.Event{From: who, Body: earshot.Presence{Session: who.ID, Here: true}})
	}
}

// check searches every byte.
func (h *loft) check(directory string) {
	var kept bytes.Buffer
	err := filepath.WalkDir(directory, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		kept.Write(data)
		return err
	})
	if err != nil {
		h.rt.Fatal(err)
	}
	for text, secret := range h.secret {
		if on := bytes.Contains(kept.Bytes(), []byte(text)); on == secret {
			h.rt.Errorf("%s: off the record is %v, kept is %v", text, secret, on)
		}
		if bytes.Contains(h.log.Bytes(), []byte(text)) {
			h.rt.Errorf("%s is in the log", text)
		}
		for _, req := range h.model.Seen() {
			for _, m := range req.Messages {
				if secret && strings.Contains(m.Text, text) {
					h.rt.Errorf("%s is in a prompt", text)
				}
			}
		}
	}
}
