/* tml_histogram on OpenGL ES. Fragments cannot scatter, and integer targets cannot be blended, so
 * each bin gathers its count. If a kernel or edges determine the bins, the bins are drawn first, so
 * that they are computed once per element.
 *
 * Few bins: a fragment counts 16 bins in a chunk of elements, and further draws add up to 64 of
 * these histograms at a time. Many bins, or weights: elements are sorted by bin. A bin's count is
 * then the difference of two positions, found by search. The sum of its weights is the difference
 * of two sums of a scan. */
#include "gl/gl_histogram.h"

#include "gl/gl_divide.h"
#include "gl/gl_ops.h"
#include "gl/gl_scan.h"
#include "gl/gl_sort.h"

#include <stdio.h>
#include <string.h>

#include "gl_shaders.h"

enum {
    TARGETS = GL_TARGETS_MAX, /* with four bins each: a group of bins */
    GROUP = 4 * TARGETS,
    FAN = 64,       /* as in histogram_add.frag */
    ELEMENTS = 240, /* in a block, as in histogram_count.frag */
    /* The most blocks in a chunk. Chunks are shorter if the GPU then has more fragments to run.
     * Loops must be short anyway: some software drivers silently end them after 65,535
     * iterations. */
    BLOCKS_MOST = 64,
    FRAGMENTS_ENOUGH = 1 << 14,
    /* The most fragments in a draw. With BLOCKS_MOST blocks each, they load 2^31 elements, which
     * takes less time than a watchdog allows. */
    FRAGMENTS_MOST = 1 << 17,
    GATHERED_MOST = 1024, /* the most bins that are counted like this, rather than by a sort */
    LARGEST_FAN = 64,     /* as in histogram_largest.frag */
};

typedef gl_histogram histograms; /* one or more; the groups of one are consecutive texels */

/* The strategy of gl_histogram_draw. */
typedef struct gather_job {
    tml_context *tml;
    const gl_histogram_info *info;
    uint64_t groups, chunk_words, chunks;
} gather_job;

typedef struct histogram_job {
    tml_context *tml;
    const tml_histogram_desc *desc;
    const gl_texture *bins;
    uint32_t size;             /* of an element of bins */
    const gl_texture *largest; /* of float weights */
    uint32_t length_log2;
} histogram_job;

static tml_status gl_histogram_take(const gather_job *job, uint64_t count, histograms *out)
{
    tml_status status = TML_OK;
    *out = (histograms){{NULL}};
    for (int t = 0; t < TARGETS && !status; t++)
        status = gl_temporary(job->tml, GL_FORMAT_QUADS, count * job->groups, &out->targets[t]);
    return status;
}

static void give_back(const gather_job *job, const histograms *h)
{
    for (int t = 0; t < TARGETS; t++)
        gl_release(job->tml, h->targets[t]);
}

static tml_status draw_bins(histogram_job *job, const tml_histogram_resolved *resolved)
{
    const tml_histogram_desc *desc = job->desc;
    const tml_slot *in = tml_slot_of(job->tml, desc->in[0]);
    if (!desc->kernel && tml_buffer_is_none(desc->edges)) {
        job->bins = gl_slot_texture(in);
        job->size = (uint32_t)in->element_size;
        return TML_OK;
    }
    job->size = sizeof(uint32_t);
    tml_status status = gl_temporary(job->tml, GL_FORMAT_WORDS, desc->length.count, &job->bins);
    if (status || !desc->kernel)
        return status ? status : gl_search_draw(job->tml, &resolved->search, job->bins, false);
    return gl_draw(job->tml, &(gl_draw_info){
                                 .shader = &gl_shader_kernel_map,
                                 .kernel = {desc->kernel, &desc->params, desc->in},
                                 .length = &desc->length,
                                 .targets = {job->bins},
                                 .count = desc->length.count,
                             });
}

/* ---- by gathering ---------------------------------------------------------------------------- */

static void choose_chunks(gather_job *job)
{
    uint64_t length = job->info->draw.length->count;
    job->groups = TML_CEIL_DIV(job->info->bins, GROUP);
    uint64_t blocks = length * job->groups / ((uint64_t)ELEMENTS * FRAGMENTS_ENOUGH);
    blocks = TML_MIN_OF(TML_MAX_OF(blocks, (uint64_t)1), (uint64_t)BLOCKS_MOST);
    uint64_t elements = blocks * ELEMENTS;
    job->chunk_words = elements * job->info->size / sizeof(uint32_t);
    job->chunks = TML_MAX_OF(TML_CEIL_DIV(length, elements), (uint64_t)1);
}

static tml_status count_chunks(const gather_job *job, uint64_t first, uint64_t count,
                               const histograms *out)
{
    gl_draw_info draw = job->info->draw;
    const gl_uniform uniforms[] = {gl_divisor("groups", job->groups),
                                   GL_UINT("first_chunk", (uint32_t)first),
                                   GL_UINT("chunk_words", (uint32_t)job->chunk_words)};
    size_t given = 0;
    while (draw.uniforms[given].name)
        given++;
    memcpy(&draw.uniforms[given], uniforms, sizeof uniforms);
    memcpy(draw.targets, out->targets, sizeof out->targets);
    draw.count = count * job->groups;
    return gl_draw(job->tml, &draw);
}

/* Adds count histograms to histogram number index of out, FAN at a time, and releases them. */
static tml_status add_up(const gather_job *job, histograms from, uint64_t count,
                         const histograms *out, uint64_t index)
{
    tml_status status = TML_OK;
    for (bool is_last = false; !is_last && !status;) {
        uint64_t left = TML_CEIL_DIV(count, FAN);
        histograms to = *out;
        is_last = left == 1;
        if (!is_last)
            status = gl_histogram_take(job, left, &to);
        uint64_t first = is_last ? index * job->groups : 0;
        const gl_texture *const *f = from.targets, *const *t = to.targets;
        if (!status)
            status = gl_draw(job->tml, &(gl_draw_info){
                                           .shader = &gl_shader_histogram_add,
                                           .inputs = {{"addends0", f[0]},
                                                      {"addends1", f[1]},
                                                      {"addends2", f[2]},
                                                      {"addends3", f[3]}},
                                           .uniforms = {gl_divisor("groups", job->groups),
                                                        GL_UINT("first_sum", (uint32_t)first),
                                                        GL_UINT("count", (uint32_t)count),
                                                        GL_UINT("apart", (uint32_t)left)},
                                           .targets = {t[0], t[1], t[2], t[3]},
                                           .first = first,
                                           .count = left * job->groups,
                                       });
        give_back(job, &from);
        from = to;
        count = left;
    }
    return status;
}

static bool is_wide(const histogram_job *job)
{
    return tml_slot_of(job->tml, job->desc->out)->type == TML_U64;
}

static tml_status store(const histogram_job *job, const histograms *sum)
{
    const gl_texture *const *s = sum->targets;
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_histogram_store,
            .defines = is_wide(job) ? "#define WIDE\n" : NULL,
            .inputs = {{"counts0", s[0]}, {"counts1", s[1]}, {"counts2", s[2]}, {"counts3", s[3]}},
            .targets = {gl_texture_of(job->tml, job->desc->out)},
            .count = (uint64_t)job->desc->bins * (is_wide(job) ? 2 : 1),
        });
}

tml_status gl_histogram_draw(tml_context *tml, const gl_histogram_info *info, gl_histogram *sum)
{
    gather_job job = {.tml = tml, .info = info};
    choose_chunks(&job);
    uint64_t each = TML_MAX_OF(FRAGMENTS_MOST / job.groups, (uint64_t)1);
    uint64_t rounds = TML_CEIL_DIV(job.chunks, each);
    histograms parts, counted;
    tml_status status = gl_histogram_take(&job, rounds, &parts);
    for (uint64_t r = 0; r < rounds && !status; r++) {
        uint64_t count = TML_MIN_OF(job.chunks - r * each, each);
        status = gl_histogram_take(&job, count, &counted);
        if (!status)
            status = count_chunks(&job, r * each, count, &counted);
        if (!status)
            status = add_up(&job, counted, count, &parts, r);
    }
    if (!status)
        status = gl_histogram_take(&job, 1, sum);
    return status ? status : add_up(&job, parts, rounds, sum, 0);
}

static tml_status gather_bins(histogram_job *job)
{
    char defines[32];
    gl_histogram sum;
    snprintf(defines, sizeof defines, "#define SIZE %u\n", job->size);
    const gl_histogram_info info = {.draw = {.shader = &gl_shader_histogram_count,
                                             .defines = defines,
                                             .length = &job->desc->length,
                                             .inputs = {{"bins", job->bins}}},
                                    .bins = job->desc->bins,
                                    .size = job->size};
    tml_status status = gl_histogram_draw(job->tml, &info, &sum);
    return status ? status : store(job, &sum);
}

/* ---- by sorting ------------------------------------------------------------------------------ */

/* Draws job->largest, 64 words to one at a time. */
static tml_status find_largest(histogram_job *job)
{
    tml_length length = job->desc->length;
    const gl_texture *words = gl_texture_of(job->tml, job->desc->weights);
    tml_status status = TML_OK;
    while (length.count > (uint64_t)1 << job->length_log2)
        job->length_log2++;
    for (bool is_last = false; !is_last && !status; words = job->largest) {
        uint64_t left = TML_MAX_OF(TML_CEIL_DIV(length.count, LARGEST_FAN), (uint64_t)1);
        is_last = left == 1;
        status = gl_temporary(job->tml, GL_FORMAT_WORDS, left, &job->largest);
        if (!status)
            status = gl_draw(job->tml, &(gl_draw_info){.shader = &gl_shader_histogram_largest,
                                                       .length = &length,
                                                       .inputs = {{"words", words}},
                                                       .targets = {job->largest},
                                                       .count = left});
        length = tml_length_of(left);
    }
    return status;
}

/* Inclusive sums of the weights in the order of the sort. */
static tml_status scan_weights(histogram_job *job, const gl_sorted *sorted, gl_sums *sums)
{
    const tml_slot *weights = tml_slot_of(job->tml, job->desc->weights);
    uint64_t length = job->desc->length.count;
    const gl_texture *ordered;
    gl_scan scan;
    char defines[64];
    snprintf(defines, sizeof defines, "#define SIZE %u\n%s", (unsigned)weights->element_size,
             job->largest ? "#define REAL\n" : "");
    tml_status status = gl_temporary(job->tml, GL_FORMAT_WORDS, 2 * length, &ordered);
    if (!status)
        status = gl_draw(job->tml, &(gl_draw_info){
                                       .shader = &gl_shader_histogram_weights,
                                       .defines = defines,
                                       .inputs = {{"sources", sorted->indices},
                                                  {"weights", gl_slot_texture(weights)},
                                                  {"largest", job->largest}},
                                       .uniforms = {GL_UINT("length_log2", job->length_log2)},
                                       .targets = {ordered},
                                       .count = 2 * length,
                                   });
    gl_scan_bind_words(ordered, TML_U64, length, TML_U64, &scan);
    if (!status)
        status = gl_scan_carries(job->tml, &scan);
    return status ? status : gl_scan_elements(job->tml, &scan, true, sums);
}

static tml_status sort_bins(histogram_job *job)
{
    const tml_histogram_desc *desc = job->desc;
    const tml_slot *weights = tml_slot_of(job->tml, desc->weights);
    bool is_real = weights && weights->type == TML_F32;
    gl_sort_keys keys = {.keys = job->bins, .size = job->size, .most = desc->bins};
    gl_sorted sorted = {NULL, NULL};
    gl_sums sums = {NULL, NULL};
    char defines[64];
    while (keys.bit_count < 32 && desc->bins >> keys.bit_count)
        keys.bit_count++;
    tml_status status = is_real ? find_largest(job) : TML_OK;
    if (!status && desc->length.count > 0)
        status = gl_sort(job->tml, &keys, &desc->length, &sorted);
    if (!status && desc->length.count > 0 && weights)
        status = scan_weights(job, &sorted, &sums);
    snprintf(defines, sizeof defines, "%s%s%s", weights ? "#define WEIGHTED\n" : "",
             is_real ? "#define REAL\n" : "", is_wide(job) ? "#define WIDE\n" : "");
    return status ? status
                  : gl_draw(job->tml, &(gl_draw_info){
                                          .shader = &gl_shader_histogram_sums,
                                          .defines = defines,
                                          .length = &desc->length,
                                          .inputs = {{"sources", sorted.codes},
                                                     {"low_words", sums.low},
                                                     {"high_words", sums.high},
                                                     {"largest", job->largest}},
                                          .uniforms = {GL_UINT("length_log2", job->length_log2)},
                                          .targets = {gl_texture_of(job->tml, desc->out)},
                                          .count = (uint64_t)desc->bins * (is_wide(job) ? 2 : 1),
                                      });
}

/* ---- the operation --------------------------------------------------------------------------- */

static bool sorts(const tml_histogram_desc *desc)
{
    return desc->bins > GATHERED_MOST || !tml_buffer_is_none(desc->weights);
}

static bool histogram_supports(tml_context *tml, const tml_histogram_resolved *resolved)
{
    const tml_histogram_desc *desc = &resolved->desc;
    return (!desc->kernel || gl_kernel_supported(tml, desc->kernel)) &&
           (!sorts(desc) || gl_sort_supports(desc->length.count));
}

static tml_status histogram_run(tml_context *tml, const tml_histogram_resolved *resolved)
{
    histogram_job job = {.tml = tml, .desc = &resolved->desc};
    tml_status status = draw_bins(&job, resolved);
    return status ? status : sorts(job.desc) ? sort_bins(&job) : gather_bins(&job);
}

GL_OP(histogram, tml_histogram_resolved, histogram_supports, histogram_run)
