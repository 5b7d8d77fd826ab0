package ollamatest

import (
	"os"

	"github.com/ollama/ollama/fs/ggml"
)

// A Sight holds the answers to a picture, depending on whether it is light or dark, which the
// model really looks at.
type Sight struct {
	Light string
	Dark  string
}

// routes returns the answers.
func (s Sight) routes() []Route { return []Route{{Says: s.Light}, {Says: s.Dark}} }

// How it sees
//
// The model comes with a projector of the usual kind, which turns a picture into tokens of the
// prompt: an encoder for patches of the picture, and a perceptron of two layers. The picture is
// one patch, so it becomes one token. The encoder has no effective layer: the first number of the
// patch is the mean of all its values, from 0 for black to 1 for white. The first layer of the
// perceptron makes two numbers of that, of which one is far above zero and the other far below, so
// zero after the activation. The second turns each into a word of a route, mark and code, as in
// weights.go; the exact size does not matter, since the norm in front of the head removes it.
//
// So a picture has the same effect on the head as the word of a route: it comes at the beginning
// of the message, so a word in the message's text takes precedence.
const (
	side   = 32   // of the patch, and of what the picture is made to be, in pixels
	senses = 8    // numbers of a patch, of which one counts
	light  = 0.5  // of white, above which it is light
	steep  = 40.0 // what is surely light comes out of the first layer as 20
)

// writeProjector writes the projector of m.
func (m Model) writeProjector(f *os.File) error {
	first := len(m.Routes) // the routes of pictures follow the others
	if m.After != "" {
		first++
	}
	kv := ggml.KV{
		"general.architecture":                     "clip",
		"general.type":                             "projector",
		"general.file_type":                        uint32(0), // 32-bit floats
		"clip.has_vision_encoder":                  true,
		"clip.projector_type":                      "mlp",
		"clip.use_gelu":                            true,
		"clip.vision.image_size":                   uint32(side),
		"clip.vision.patch_size":                   uint32(side),
		"clip.vision.embedding_length":             uint32(senses),
		"clip.vision.feed_forward_length":          uint32(2 * senses),
		"clip.vision.projection_dim":               uint32(width),
		"clip.vision.block_count":                  uint32(1), // the features are those before the last
		"clip.vision.attention.head_count":         uint32(1),
		"clip.vision.attention.layer_norm_epsilon": float32(1e-5),
		"clip.vision.image_mean":                   []float32{0, 0, 0},
		"clip.vision.image_std":                    []float32{1, 1, 1},
	}
	patch := make(floats, side*side*3*senses)
	for i := range side * side * 3 {
		patch[i] = 1 / float32(side*side*3)
	}
	look := newMatrix(2, senses)
	look.set(0, 0, steep)
	look.set(1, 0, -steep)
	say := newMatrix(width, 2)
	for route := range 2 {
		for i := range code {
			say.set(i, route, 1)
		}
		say.set(heard+first+route, route, mark)
	}
	plain := func(name string, at floats, shape ...uint64) *ggml.Tensor {
		return &ggml.Tensor{Name: name, Kind: uint32(ggml.TensorTypeF32), Shape: shape, WriterTo: at}
	}
	return ggml.WriteGGUF(f, kv, []*ggml.Tensor{
		plain("v.patch_embd.weight", patch, side, side, 3, senses),
		plain("v.position_embd.weight", make(floats, senses), senses, 1),
		plain("v.blk.0.attn_out.weight", make(floats, senses*senses), senses, senses),
		plain("v.blk.0.ffn_up.weight", make(floats, senses*2*senses), senses, 2*senses),
		plain("v.blk.0.ffn_down.weight", make(floats, senses*2*senses), 2*senses, senses),
		plain("mm.0.weight", look.at, senses, 2),
		plain("mm.0.bias", floats{-steep * light, steep * light}, 2),
		plain("mm.2.weight", say.at, 2, width),
		plain("mm.2.bias", make(floats, width), width),
	})
}
