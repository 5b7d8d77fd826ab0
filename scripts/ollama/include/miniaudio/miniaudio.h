// A stand-in for miniaudio. The Ollama module leaves out the vendored header
// that its multimodal helper includes; text models never decode sound, so
// every call here reports failure.
#pragma once
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef int ma_result;
typedef uint64_t ma_uint64;
enum { MA_SUCCESS = 0, MA_ERROR = -1 };
enum ma_format { ma_format_f32 = 5 };
struct ma_decoder_config { int unused; };
struct ma_decoder { int unused; };

static inline ma_decoder_config ma_decoder_config_init(ma_format, int, int) { return {0}; }
static inline ma_result ma_decoder_init_memory(const void *, size_t, const ma_decoder_config *, ma_decoder *) { return MA_ERROR; }
static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }
