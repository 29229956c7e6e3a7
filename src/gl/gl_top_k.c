/* The k elements with the smallest codes (kernels/sort.k.h), on OpenGL ES. The code of the last
 * result is found digit by digit, from the highest: each step makes a histogram of the next four
 * bits of the codes that have the digits found so far. Then a HistoPyramid of bits locates the
 * results: first the elements before that code, then those that equal it.
 *
 * After: Alabi, Blanchard, Gordon, Steinbach: Fast k-Selection Algorithms for Graphics Processing
 * Units. 2012; Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram
 * Pyramids. 2006. */
#include "gl/gl_histogram.h"
#include "gl/gl_locate.h"
#include "gl/gl_ops.h"

#include <stdio.h>

#include "gl_shaders.h"

enum { DIGIT = 4, BINS = 1 << DIGIT, BLOCK = 128 /* elements of a texel of bits */ };

typedef struct top_k_job {
    tml_context *tml;
    const tml_top_k_resolved *resolved;
    const tml_slot *keys;
    char defines[24];
    const gl_texture *state, *next, *results;
} top_k_job;

static uint64_t blocks_of(const tml_top_k_desc *desc)
{
    return TML_CEIL_DIV(desc->length.count, (uint64_t)BLOCK);
}

static bool top_k_supports(tml_context *tml, const tml_top_k_resolved *resolved)
{
    const tml_top_k_desc *desc = &resolved->desc;
    return gl_locate_supports(tml, TML_METHOD_HISTOPYRAMID, true, 2 * BLOCK * blocks_of(desc),
                              desc->k.count);
}

/* The part that draws of codes have in common. */
static gl_draw_info draw_of_codes(const top_k_job *job, const gl_shader *shader)
{
    const tml_top_k_resolved *r = job->resolved;
    return (gl_draw_info){
        .shader = shader,
        .defines = job->defines,
        .length = &r->desc.length,
        .inputs = {{"keys", gl_slot_texture(job->keys)}, {"state", job->state}},
        .uniforms = {
            GL_UINT2("flip", (uint32_t)r->flip, (uint32_t)(r->flip >> 32)),
            GL_UINT2("real_flip", (uint32_t)r->real_flip, (uint32_t)(r->real_flip >> 32))}};
}

static tml_status draw_begin(top_k_job *job)
{
    const tml_top_k_desc *desc = &job->resolved->desc;
    const gl_texture *k = gl_texture_of(job->tml, desc->k.device);
    tml_status status = gl_temporary(job->tml, GL_FORMAT_QUADS, 1, &job->state);
    if (!status)
        status = gl_temporary(job->tml, GL_FORMAT_QUADS, 1, &job->next);
    if (!status)
        status = gl_temporary(job->tml, GL_FORMAT_QUADS, 1, &job->results);
    return status
               ? status
               : gl_draw(job->tml, &(gl_draw_info){
                                       .shader = &gl_shader_top_k_begin,
                                       .length = &desc->length,
                                       .inputs = {{"k", k ? k : gl_slot_texture(job->keys)}},
                                       .uniforms = {gl_length_place(job->tml, "k_place", &desc->k)},
                                       .targets = {job->state, job->results},
                                       .count = 1,
                                   });
}

static tml_status find_digit(top_k_job *job, uint32_t shift)
{
    gl_histogram counts;
    gl_histogram_info info = {
        .draw = draw_of_codes(job, &gl_shader_top_k_count), .bins = BINS, .size = sizeof(uint32_t)};
    info.draw.uniforms[2] = (gl_uniform)GL_UINT("shift", shift);
    tml_status status = gl_histogram_draw(job->tml, &info, &counts);
    const gl_texture *const *c = counts.targets, *now = job->state;
    if (!status)
        status = gl_draw(job->tml, &(gl_draw_info){
                                       .shader = &gl_shader_top_k_pick,
                                       .inputs = {{"counts0", c[0]},
                                                  {"counts1", c[1]},
                                                  {"counts2", c[2]},
                                                  {"counts3", c[3]},
                                                  {"state", now}},
                                       .uniforms = {GL_UINT("shift", shift)},
                                       .targets = {job->next},
                                       .count = 1,
                                   });
    for (size_t t = 0; t < TML_ARRAY_SIZE(counts.targets) && !status; t++)
        gl_release(job->tml, c[t]);
    job->state = job->next;
    job->next = now;
    return status;
}

static tml_status locate(top_k_job *job, gl_located *located)
{
    const tml_top_k_desc *desc = &job->resolved->desc;
    uint64_t blocks = blocks_of(desc);
    gl_pyramid pyramid;
    gl_draw_info keep = draw_of_codes(job, &gl_shader_top_k_keep);
    const gl_locate_info info = {.length = &desc->length,
                                 .outputs = desc->k.count,
                                 .limit = job->state,
                                 .plane_items = BLOCK * blocks};
    tml_status status = gl_pyramid_take(job->tml, true, 2 * BLOCK * blocks, &pyramid);
    keep.uniforms[2] = (gl_uniform)GL_UINT("blocks", (uint32_t)blocks);
    keep.targets[0] = pyramid.base;
    keep.count = 2 * blocks;
    if (!status)
        status = gl_draw(job->tml, &keep);
    return status ? status : gl_locate(job->tml, &info, &pyramid, located);
}

static tml_status top_k_run(tml_context *tml, const tml_top_k_resolved *resolved)
{
    const tml_top_k_desc *desc = &resolved->desc;
    top_k_job job = {.tml = tml, .resolved = resolved, .keys = tml_slot_of(tml, desc->keys)};
    uint32_t size = (uint32_t)job.keys->element_size;
    gl_located located = {0};
    snprintf(job.defines, sizeof job.defines, "#define SIZE %u\n", (unsigned)size);
    tml_status status = draw_begin(&job);
    for (uint32_t shift = 8 * size; shift > 0 && desc->k.count > 0 && !status;) {
        shift -= DIGIT;
        status = find_digit(&job, shift);
    }
    if (!status && desc->k.count > 0)
        status = locate(&job, &located);
    if (!status)
        status = gl_located_values(tml, &located, desc->keys, desc->values);
    if (!status)
        status = gl_located_indices(tml, &located, desc->indices);
    return status ? status : gl_store_count(tml, desc->count, job.results, 0);
}

GL_OP(top_k, tml_top_k_resolved, top_k_supports, top_k_run)
