/* Sort on OpenGL ES. Only the elements' codes, a word at a time from the lowest, and their indices
 * are moved. Keys and payloads are gathered once, at the end (gl_locate.h).
 *
 * A word is sorted by digits of four bits, from the lowest. A pass builds a HistoPyramid of bits:
 * the elements with digit 0, then those with digit 1, and so on. Its outputs are the elements in
 * order. 16 consecutive outputs share a descent, since most of them are in the texel found or the
 * next one. Digits of two bits took 1.6 times as long; a descent for every four outputs, 1.15
 * times.
 *
 * An element's segment acts as its highest word: a stable sort by it keeps each segment in order.
 *
 * Short streams are sorted by counting, in two draws per word: an element's rank is the number of
 * elements before it. Passes consist of many small draws, so on a software driver counting was
 * faster up to 1024 elements (512 with few passes), and faster than a bitonic network up to 800.
 *
 * After: Knuth: The Art of Computer Programming 3, 5.2 (comparison counting) and 5.2.5 (radix
 * sorting). 1973; Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram
 * Pyramids. 2006. */
#include "gl/gl_sort.h"

#include "gl/gl_divide.h"
#include "gl/gl_locate.h"
#include "gl/gl_ops.h"
#include "gl/gl_segments.h"

#include <stdio.h>

#include "gl_shaders.h"

enum {
    DIGIT = 4,                /* bits; a plane and four outputs a target each */
    BLOCK = 128,              /* elements of a texel of bits */
    COUNTED_MOST = 1024,      /* elements that are counted */
    COUNTED_MOST_SHORT = 512, /* the same, of keys of at most SHORT bits */
    SHORT = 16,
};

typedef struct sort_job {
    tml_context *tml;
    const gl_sort_keys *keys;
    const tml_length *length;
    uint64_t texels; /* of elements */
    gl_sorted now, next;
    uint64_t blocks; /* 0: by counting */
    const gl_texture *planes[DIGIT], *sources[DIGIT];
    gl_pyramid pyramid;
} sort_job;

bool gl_sort_supports(uint64_t length)
{
    return length <= (GL_PYRAMID_BITS_MAX >> DIGIT) / BLOCK * BLOCK;
}

static bool sort_supports(tml_context *tml, const tml_sort_resolved *resolved)
{
    (void)tml;
    return resolved->desc.method == TML_METHOD_HISTOPYRAMID &&
           gl_sort_supports(resolved->desc.length.count);
}

static tml_status gl_sort_take(sort_job *job)
{
    tml_context *tml = job->tml;
    const gl_texture **elements[] = {&job->now.codes, &job->now.indices, &job->next.codes,
                                     &job->next.indices};
    tml_status status = TML_OK;
    for (size_t t = 0; t < TML_ARRAY_SIZE(elements) && !status; t++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, job->texels, elements[t]);
    if (job->blocks == 0)
        return status;
    for (int t = 0; t < DIGIT && !status; t++)
        status = gl_temporary(tml, GL_FORMAT_QUADS, job->blocks, &job->planes[t]);
    for (int t = 0; t < DIGIT && !status; t++)
        status =
            gl_temporary(tml, GL_FORMAT_QUADS, TML_CEIL_DIV(job->texels, DIGIT), &job->sources[t]);
    return status ? status
                  : gl_pyramid_take(tml, true, job->blocks * BLOCK << DIGIT, &job->pyramid);
}

static void swap(sort_job *job)
{
    gl_sorted moved = job->next;
    job->next = job->now;
    job->now = moved;
}

/* Codes of bits [low, high) of a word of the keys. */
static tml_status draw_codes(sort_job *job, uint32_t word, uint32_t low, uint32_t high,
                             bool is_first)
{
    const gl_sort_keys *k = job->keys;
    char defines[80];
    snprintf(defines, sizeof defines, "#define SIZE %u\n#define MOST %uu\n%s", k->size,
             k->most ? k->most : UINT32_MAX, is_first ? "#define FIRST\n" : "");
    uint32_t mask = UINT32_MAX >> (32 - (k->most ? 8 * TML_MIN_OF(k->size, 4u) : high - low));
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_sort_codes,
            .defines = defines,
            .length = job->length,
            .inputs = {{"keys", k->keys}, {"indices", job->now.indices}},
            .uniforms = {GL_UINT("word", word), GL_UINT("flip", (uint32_t)(k->flip >> 32 * word)),
                         GL_UINT("real_flip", (uint32_t)(k->real_flip >> 32 * word)),
                         GL_UINT("shift", low), GL_UINT("mask", mask)},
            .targets = {job->now.codes, is_first ? job->now.indices : NULL},
            .count = job->texels,
        });
}

static tml_status sort_by_counting(sort_job *job)
{
    const gl_texture *ranks = job->next.codes;
    gl_draw_info rank = {
        .shader = &gl_shader_sort_ranks,
        .inputs = {{"codes", job->now.codes}},
        .uniforms = {GL_UINT("texels", (uint32_t)job->texels)},
        .targets = {ranks},
        .count = job->texels,
    };
    gl_draw_info place = {
        .shader = &gl_shader_sort_places,
        .inputs = {{"ranks", ranks}, {"indices", job->now.indices}},
        .uniforms = {GL_UINT("texels", (uint32_t)job->texels)},
        .targets = {job->next.indices},
        .count = job->texels,
    };
    tml_status status = gl_draw(job->tml, &rank);
    return status ? status : gl_draw(job->tml, &place);
}

/* The bits of the digit at shift, as the base of the pyramid. */
static tml_status draw_digits(sort_job *job, uint32_t shift)
{
    const gl_texture *const *p = job->planes;
    gl_draw_info planes = {
        .shader = &gl_shader_sort_planes,
        .inputs = {{"codes", job->now.codes}},
        .uniforms = {GL_UINT("texels", (uint32_t)job->texels), GL_UINT("shift", shift)},
        .targets = {p[0], p[1], p[2], p[3]},
        .count = job->blocks,
    };
    gl_draw_info digits = {
        .shader = &gl_shader_sort_digits,
        .inputs = {{"planes0", p[0]}, {"planes1", p[1]}, {"planes2", p[2]}, {"planes3", p[3]}},
        .uniforms = {gl_divisor("blocks", job->blocks)},
        .targets = {job->pyramid.base},
        .count = job->blocks << DIGIT,
    };
    tml_status status = gl_draw(job->tml, &planes);
    return status ? status : gl_draw(job->tml, &digits);
}

static tml_status sort_by_digit(sort_job *job, uint32_t shift)
{
    const gl_texture *const *s = job->sources;
    gl_draw_info sources = {
        .shader = &gl_shader_sort_sources,
        .defines = gl_pyramid_defines(&job->pyramid),
        .uniforms = {gl_divisor("blocks", job->blocks)},
        .targets = {s[0], s[1], s[2], s[3]},
        .count = TML_CEIL_DIV(job->texels, DIGIT),
    };
    gl_draw_info move = {
        .shader = &gl_shader_sort_move,
        .inputs = {{"sources0", s[0]},
                   {"sources1", s[1]},
                   {"sources2", s[2]},
                   {"sources3", s[3]},
                   {"codes", job->now.codes},
                   {"indices", job->now.indices}},
        .targets = {job->next.codes, job->next.indices},
        .count = job->texels,
    };
    gl_pyramid_bind(&sources, &job->pyramid);
    tml_status status = draw_digits(job, shift);
    if (!status)
        status = gl_pyramid_build(job->tml, &job->pyramid);
    if (!status)
        status = gl_draw(job->tml, &sources);
    return status ? status : gl_draw(job->tml, &move);
}

/* Sorts by bits of the codes that are drawn. */
static tml_status sort_codes(sort_job *job, uint32_t bits)
{
    uint32_t step = job->blocks ? DIGIT : 32; /* bits of a pass */
    tml_status status = TML_OK;
    for (uint32_t shift = 0; shift < bits && !status; shift += step) {
        status = job->blocks ? sort_by_digit(job, shift) : sort_by_counting(job);
        swap(job);
    }
    return status;
}

static tml_status sort_words(sort_job *job)
{
    uint32_t first = job->keys->first_bit, end = first + job->keys->bit_count;
    tml_status status = TML_OK;
    for (uint32_t low = first, high; low < end && !status; low = high) {
        uint32_t word = low / 32;
        high = TML_MIN_OF(end, 32 * word + 32);
        status = draw_codes(job, word, low - 32 * word, high - 32 * word, low == first);
        if (!status)
            status = sort_codes(job, high - low);
    }
    return status;
}

static tml_status sort_segments(sort_job *job)
{
    tml_context *tml = job->tml;
    const tml_sort_desc *desc = job->keys->segments;
    gl_segments segments = tml_buffer_is_none(desc->segments.starts)
                               ? gl_segments_of(tml, desc->segments.offsets, desc->length.count)
                               : gl_segments_of_starts(tml, desc->segments.starts,
                                                       &desc->segments.count, &desc->length);
    const gl_texture *begins;
    segments.length = &desc->length;
    tml_status status = gl_temporary(tml, GL_FORMAT_WORDS, desc->length.count, &begins);
    if (!status)
        status = gl_segments_begins(tml, &segments, begins);
    if (!status)
        status = gl_draw(tml, &(gl_draw_info){
                                  .shader = &gl_shader_sort_segments,
                                  .inputs = {{"begins", begins}, {"indices", job->now.indices}},
                                  .targets = {job->now.codes},
                                  .count = job->texels,
                              });
    uint32_t bits = 0;
    while (desc->length.count >> bits)
        bits++; /* elements past the length have a code above all others */
    return status ? status : sort_codes(job, bits);
}

tml_status gl_sort(tml_context *tml, const gl_sort_keys *keys, const tml_length *length,
                   gl_sorted *out)
{
    uint64_t counted = keys->bit_count > SHORT ? COUNTED_MOST : COUNTED_MOST_SHORT;
    sort_job job = {
        .tml = tml,
        .keys = keys,
        .length = length,
        .texels = TML_CEIL_DIV(length->count, 4),
        .blocks = length->count > counted ? TML_CEIL_DIV(length->count, BLOCK) : 0,
    };
    tml_status status = gl_sort_take(&job);
    if (!status)
        status = sort_words(&job);
    if (!status && keys->segments)
        status = sort_segments(&job);
    if (!status && keys->most && !job.blocks) /* counting does not move the codes */
        status = draw_codes(&job, 0, 0, keys->bit_count, false);
    *out = job.now;
    return status;
}

static tml_status sort_run(tml_context *tml, const tml_sort_resolved *resolved)
{
    const tml_sort_desc *desc = &resolved->desc;
    const tml_slot *slot = tml_slot_of(tml, desc->keys);
    bool has_segments =
        !(tml_buffer_is_none(desc->segments.offsets) && tml_buffer_is_none(desc->segments.starts));
    const gl_sort_keys keys = {.keys = gl_slot_texture(slot),
                               .size = (uint32_t)slot->element_size,
                               .flip = resolved->flip,
                               .real_flip = resolved->real_flip,
                               .first_bit = desc->first_bit,
                               .bit_count = desc->bit_count,
                               .segments = has_segments ? desc : NULL};
    gl_sorted sorted;
    if (desc->length.count == 0)
        return TML_OK;
    tml_status status = gl_sort(tml, &keys, &desc->length, &sorted);
    gl_located located = {.outputs = desc->length.count, .sources = sorted.indices};
    if (!status)
        status = gl_located_values(tml, &located, desc->keys, desc->sorted);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !status; p++)
        status = gl_located_values(tml, &located, desc->payloads[p].in, desc->payloads[p].out);
    return status ? status : gl_located_indices(tml, &located, desc->indices);
}

GL_OP(sort, tml_sort_resolved, sort_supports, sort_run)

static bool sort_segments_supports(tml_context *tml, const tml_sort_resolved *resolved)
{
    return sort_supports(tml, resolved) && resolved->segments < UINT32_MAX;
}

static tml_status sort_segments_run(tml_context *tml, const tml_sort_resolved *resolved)
{
    return sort_run(tml, resolved);
}

GL_OP(sort_segments, tml_sort_resolved, sort_segments_supports, sort_segments_run)
