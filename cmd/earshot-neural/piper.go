//go:build cgo

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"

	onnx "github.com/yalue/onnxruntime_go"
	"golang.org/x/text/unicode/norm"

	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// maxText bounds the files of a voice that are text, in bytes.
const maxText = 4 << 20

// A piper is a voice of Piper's kind.
type piper struct {
	network
	espeak
	config  piperConfig
	speaker int
	speed   float64
}

// A piperConfig is the file beside a voice.
type piperConfig struct {
	Audio struct {
		Rate int `json:"sample_rate"`
	} `json:"audio"`
	Espeak struct {
		Voice string `json:"voice"`
	} `json:"espeak"`
	Inference struct {
		Noise  float32 `json:"noise_scale"`
		Length float64 `json:"length_scale"`
	} `json:"inference"`
	PhonemeType string             `json:"phoneme_type"`
	IDs         map[string][]int64 `json:"phoneme_id_map"`
	Speakers    int                `json:"num_speakers"`
	SpeakerIDs  map[string]int     `json:"speaker_id_map"`
}

func openPiper(set catalog.Installed, o wire.OpenSay) (_ *piper, err error) {
	if err := hasParts(set, "model", "config"); err != nil {
		return nil, err
	}
	p := &piper{speed: o.Speed}
	text, err := readText(set, "config")
	if err != nil {
		return nil, err
	}
	c := &p.config
	wrong := func(text string) error {
		return neural.Unfit(set.Name, "its file %s %s", set.Files["config"].Path, text)
	}
	switch err := json.Unmarshal(text, c); {
	case err != nil:
		return nil, wrong("is not the description of a Piper voice: " + err.Error())
	case len(c.IDs["^"]) == 0 || len(c.IDs["_"]) == 0 || len(c.IDs["$"]) == 0 || c.Espeak.Voice == "" || c.PhonemeType != "" && c.PhonemeType != "espeak":
		return nil, wrong("names no sounds of espeak-ng")
	}
	p.espeak.voice = c.Espeak.Voice
	names := make([]string, len(c.SpeakerIDs))
	for name, i := range c.SpeakerIDs {
		if i >= 0 && i < len(names) {
			names[i] = name
		}
	}
	if p.speaker, err = speakerOf(set, o.Speaker, names, c.Speakers); err != nil {
		return nil, err
	}
	inputs := []string{"input", "input_lengths", "scales"}
	if c.Speakers > 1 {
		inputs = append(inputs, "sid")
	}
	p.network, err = openNetwork(set, "output", inputs...)
	return p, err
}

func (p *piper) rate() int { return p.config.Audio.Rate }

// say implements voice. The lengths of the sounds have no chance in them, so that they are the same
// again.
func (p *piper) say(ctx context.Context, s *sentence) ([]float32, error) {
	if err := p.spell(ctx, s); err != nil {
		return nil, err
	}
	ids, known := p.encode(s)
	if known == 0 {
		return nil, nil
	}
	in := []onnx.Value{row(ids), vector(int64(len(ids))), vector(p.config.Inference.Noise, float32(cmp.Or(p.config.Inference.Length, 1)/p.speed), 0)}
	if p.config.Speakers > 1 {
		in = append(in, vector(int64(p.speaker)))
	}
	return p.network.run(ctx, in...)
}

// encode returns the numbers of the sounds of a sentence, and how many of its sounds it knows.
func (p *piper) encode(s *sentence) (ids []int64, known int) {
	ids = append(ids, p.config.IDs["^"]...)
	add := func(sound string) bool {
		id := p.config.IDs[sound]
		if len(id) > 0 {
			ids = append(append(ids, p.config.IDs["_"]...), id...)
		}
		return len(id) > 0
	}
	for i, c := range s.clauses {
		for _, r := range norm.NFD.String(c.phonemes) {
			if add(string(r)) && r != ' ' {
				known++
			}
		}
		add(c.mark)
		if i < len(s.clauses)-1 {
			add(" ")
		}
	}
	return append(append(ids, p.config.IDs["_"]...), p.config.IDs["$"]...), known
}

// readText reads a file of a set that is text.
func readText(set catalog.Installed, part string) ([]byte, error) {
	f, err := os.Open(set.File(part))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = neural.Unfit(set.Name, "its file %s has more than %d bytes", set.Files[part].Path, maxText)
	}
	return text, err
}
