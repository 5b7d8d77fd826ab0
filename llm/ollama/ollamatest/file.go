package ollamatest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/ollama/ollama/fs/ggml"
)

// Write writes m as a model file, without a template.
func (m Model) Write(f *os.File) error {
	if err := m.check(); err != nil {
		return err
	}
	d, err := think(m)
	if err != nil {
		return err
	}
	return ggml.WriteGGUF(f, m.head(d.vocabulary), m.tensors(d))
}

// head describes the model: its shape and its vocabulary.
func (m Model) head(v *vocabulary) ggml.KV {
	return ggml.KV{
		"general.architecture":                   "llama",
		"general.file_type":                      uint32(1), // 16-bit floats
		"llama.context_length":                   uint32(Context),
		"llama.embedding_length":                 uint32(width),
		"llama.block_count":                      uint32(m.layers()),
		"llama.feed_forward_length":              uint32(hidden),
		"llama.attention.head_count":             uint32(width / headWidth),
		"llama.attention.head_count_kv":          uint32(1),
		"llama.attention.layer_norm_rms_epsilon": float32(1e-5),
		"llama.rope.dimension_count":             uint32(headWidth),
		"llama.rope.freq_base":                   float32(ropeBase),
		"llama.vocab_size":                       uint32(len(v.spelling)),
		"tokenizer.ggml.model":                   "llama",
		"tokenizer.ggml.pre":                     "default",
		"tokenizer.ggml.tokens":                  v.spelling,
		"tokenizer.ggml.scores":                  v.score,
		"tokenizer.ggml.token_type":              v.kind,
		"tokenizer.ggml.unknown_token_id":        uint32(v.unknown),
		"tokenizer.ggml.bos_token_id":            uint32(v.begin),
		"tokenizer.ggml.eos_token_id":            uint32(v.end),
		"tokenizer.ggml.add_bos_token":           true,
		"tokenizer.ggml.add_eos_token":           false,
		"tokenizer.ggml.add_space_prefix":        false,
	}
}

// tensors returns the weights: those of d in the first layer, and zeros in all the others.
func (m Model) tensors(d *mind) []*ggml.Tensor {
	ts := []*ggml.Tensor{
		half("token_embd.weight", d.embedding),
		ones("output_norm.weight"),
		half("output.weight", d.output),
	}
	for l := range m.layers() {
		query, key, value, to := d.query, d.key, d.value, d.attentionTo
		if l > 0 {
			query, key, value, to = none(width, width), none(headWidth, width), none(headWidth, width), none(width, width)
		}
		name := func(s string) string { return fmt.Sprintf("blk.%d.%s.weight", l, s) }
		ts = append(ts,
			ones(name("attn_norm")), ones(name("ffn_norm")),
			half(name("attn_q"), query), half(name("attn_k"), key),
			half(name("attn_v"), value), half(name("attn_output"), to),
			half(name("ffn_gate"), none(hidden, width)), half(name("ffn_up"), none(hidden, width)),
			half(name("ffn_down"), none(width, hidden)),
		)
	}
	return ts
}

// none is a matrix of zeros without memory.
func none(rows, columns int) matrix { return matrix{rows: rows, columns: columns} }

// ones returns the weights of a norm without scaling.
func ones(name string) *ggml.Tensor {
	n := make(floats, width)
	for i := range n {
		n[i] = 1
	}
	return &ggml.Tensor{Name: name, Kind: uint32(ggml.TensorTypeF32), Shape: []uint64{width}, WriterTo: n}
}

// half returns m as 16-bit floats.
func half(name string, m matrix) *ggml.Tensor {
	shape := []uint64{uint64(m.columns), uint64(m.rows)}
	return &ggml.Tensor{Name: name, Kind: uint32(ggml.TensorTypeF16), Shape: shape, WriterTo: halves(m)}
}

// floats are written with 32 bits each.
type floats []float32

// WriteTo implements [io.WriterTo].
func (f floats) WriteTo(w io.Writer) (int64, error) {
	return int64(len(f) * 4), binary.Write(w, binary.LittleEndian, []float32(f))
}

// halves are written with 16 bits each.
type halves matrix

// WriteTo implements [io.WriterTo].
func (h halves) WriteTo(w io.Writer) (int64, error) {
	data := make([]byte, h.rows*h.columns*2)
	for i, f := range h.at {
		binary.LittleEndian.PutUint16(data[i*2:], float16(f))
	}
	n, err := w.Write(data)
	return int64(n), err
}

// float16 returns the nearest 16-bit float towards zero. Ours are small and
// neither tiny nor infinite.
func float16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign, exponent := uint16(bits>>16)&0x8000, int(bits>>23&0xff)-127+15
	if exponent <= 0 {
		return sign
	}
	return sign | uint16(exponent)<<10 | uint16(bits&0x7fffff>>13)
}
