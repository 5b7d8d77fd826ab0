package main

import (
	"encoding/binary"
	"errors"
	"os"

	"earshot/internal/audio"
)

// wavHead is the length of the head of a plain WAV file.
const wavHead = 44

// writeWAV writes pcm into a file that any program can read.
func writeWAV(path string, pcm []int16) error {
	size := uint32(2 * len(pcm))
	b := make([]byte, 0, wavHead+size)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, wavHead-8+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // samples as they are
	b = binary.LittleEndian.AppendUint16(b, 1) // of one channel
	b = binary.LittleEndian.AppendUint32(b, audio.Rate)
	b = binary.LittleEndian.AppendUint32(b, 2*audio.Rate)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	return os.WriteFile(path, audio.AppendPCM(b, pcm), 0o600)
}

// parseWAV returns the samples of a file of one channel at our rate, as the
// voices of flite make them.
func parseWAV(data []byte) ([]int16, error) {
	if len(data) < wavHead || string(data[:4]) != "RIFF" || string(data[8:16]) != "WAVEfmt " {
		return nil, errors.New("not a WAV file")
	}
	if binary.LittleEndian.Uint16(data[22:]) != 1 || binary.LittleEndian.Uint32(data[24:]) != audio.Rate || binary.LittleEndian.Uint16(data[34:]) != 16 {
		return nil, errors.New("not 16 kHz, 16 bits, mono")
	}
	for at := 12; at+8 <= len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		body := data[at+8:]
		if string(data[at:at+4]) == "data" {
			body = body[:min(size, len(body))]
			pcm := make([]int16, len(body)/2)
			audio.DecodePCM(pcm, body)
			return pcm, nil
		}
		at += 8 + size + size%2
	}
	return nil, errors.New("a WAV file without sound")
}
