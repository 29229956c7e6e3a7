/* tml_histogram on OpenGL ES. Fragments cannot scatter, and integer targets cannot be blended, so
 * bins gather: a fragment counts 16 bins of a chunk of elements, and further draws add 64 of these
 * histograms to one. A kernel's bins are drawn first, so that the kernel runs once per element. */
#include "gl/gl_divide.h"
#include "gl/gl_ops.h"

#include <stdio.h>

#include "gl_shaders.h"

enum {
    TARGETS = GL_TARGETS_MAX, /* with four bins each: a group of bins */
    GROUP = 4 * TARGETS,
    FAN = 64,       /* as in histogram_add.frag */
    ELEMENTS = 240, /* in a block, as in histogram_count.frag */
    /* Most blocks in a chunk. Fewer, while that gives a GPU more fragments to run. Loops must stay
     * short, too: some software drivers end them silently after 65,535 iterations. */
    BLOCKS_MOST = 64,
    FRAGMENTS_ENOUGH = 1 << 14,
    /* Most fragments in a draw: with BLOCKS_MOST blocks each they load 2^31 elements, which takes
     * less time than a watchdog allows. */
    FRAGMENTS_MOST = 1 << 17,
};

/* One or more histograms; the groups of one are consecutive texels. */
typedef struct histograms {
    const gl_texture *targets[TARGETS];
} histograms;

typedef struct histogram_job {
    tml_context *tml;
    const tml_histogram_desc *desc;
    const gl_texture *bins;
    uint32_t size; /* of an element of bins */
    uint64_t groups, chunk_words, chunks;
} histogram_job;

static tml_status take(const histogram_job *job, uint64_t count, histograms *out)
{
    tml_status status = TML_OK;
    *out = (histograms){{NULL}};
    for (int t = 0; t < TARGETS && !status; t++)
        status = gl_temporary(job->tml, GL_FORMAT_QUADS, count * job->groups, &out->targets[t]);
    return status;
}

static void give_back(const histogram_job *job, const histograms *h)
{
    for (int t = 0; t < TARGETS; t++)
        gl_release(job->tml, h->targets[t]);
}

static tml_status draw_bins(histogram_job *job)
{
    const tml_histogram_desc *desc = job->desc;
    const tml_slot *in = tml_slot_of(job->tml, desc->in[0]);
    if (!desc->kernel) {
        job->bins = gl_slot_texture(in);
        job->size = (uint32_t)in->element_size;
        return TML_OK;
    }
    job->size = sizeof(uint32_t);
    tml_status status = gl_temporary(job->tml, GL_FORMAT_WORDS, desc->length.count, &job->bins);
    return status ? status
                  : gl_draw(job->tml, &(gl_draw_info){
                                          .shader = &gl_shader_kernel_map,
                                          .kernel = {desc->kernel, &desc->params, desc->in},
                                          .length = &desc->length,
                                          .targets = {job->bins},
                                          .count = desc->length.count,
                                      });
}

static void choose_chunks(histogram_job *job)
{
    uint64_t length = job->desc->length.count;
    job->groups = TML_CEIL_DIV(job->desc->bins, GROUP);
    uint64_t blocks = length * job->groups / ((uint64_t)ELEMENTS * FRAGMENTS_ENOUGH);
    blocks = TML_MIN_OF(TML_MAX_OF(blocks, (uint64_t)1), (uint64_t)BLOCKS_MOST);
    uint64_t elements = blocks * ELEMENTS;
    job->chunk_words = elements * job->size / sizeof(uint32_t);
    job->chunks = TML_MAX_OF(TML_CEIL_DIV(length, elements), (uint64_t)1);
}

static tml_status count_chunks(const histogram_job *job, uint64_t first, uint64_t count,
                               const histograms *out)
{
    char defines[32];
    snprintf(defines, sizeof defines, "#define SIZE %u\n", job->size);
    const gl_texture *const *t = out->targets;
    return gl_draw(job->tml, &(gl_draw_info){
                                 .shader = &gl_shader_histogram_count,
                                 .defines = defines,
                                 .length = &job->desc->length,
                                 .inputs = {{"bins", job->bins}},
                                 .uniforms = {gl_divisor("groups", job->groups),
                                              GL_UINT("first_chunk", (uint32_t)first),
                                              GL_UINT("chunk_words", (uint32_t)job->chunk_words)},
                                 .targets = {t[0], t[1], t[2], t[3]},
                                 .count = count * job->groups,
                             });
}

/* Adds count histograms to histogram index of out, by draws of FAN to one, and releases them. */
static tml_status add_up(const histogram_job *job, histograms from, uint64_t count,
                         const histograms *out, uint64_t index)
{
    tml_status status = TML_OK;
    for (bool is_last = false; !is_last && !status;) {
        uint64_t left = TML_CEIL_DIV(count, FAN);
        histograms to = *out;
        is_last = left == 1;
        if (!is_last)
            status = take(job, left, &to);
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

static tml_status store(const histogram_job *job, const histograms *sum)
{
    const gl_texture *const *s = sum->targets;
    return gl_draw(
        job->tml,
        &(gl_draw_info){
            .shader = &gl_shader_histogram_store,
            .inputs = {{"counts0", s[0]}, {"counts1", s[1]}, {"counts2", s[2]}, {"counts3", s[3]}},
            .targets = {gl_texture_of(job->tml, job->desc->out)},
            .count = job->desc->bins,
        });
}

static bool histogram_supports(tml_context *tml, const tml_histogram_desc *desc)
{
    return !desc->kernel || gl_kernel_supported(tml, desc->kernel);
}

static tml_status histogram_run(tml_context *tml, const tml_histogram_desc *desc)
{
    histogram_job job = {.tml = tml, .desc = desc};
    tml_status status = draw_bins(&job);
    if (status)
        return status;
    choose_chunks(&job);
    uint64_t each = TML_MAX_OF(FRAGMENTS_MOST / job.groups, (uint64_t)1);
    uint64_t rounds = TML_CEIL_DIV(job.chunks, each);
    histograms parts, counted, sum;
    status = take(&job, rounds, &parts);
    for (uint64_t r = 0; r < rounds && !status; r++) {
        uint64_t count = TML_MIN_OF(job.chunks - r * each, each);
        status = take(&job, count, &counted);
        if (!status)
            status = count_chunks(&job, r * each, count, &counted);
        if (!status)
            status = add_up(&job, counted, count, &parts, r);
    }
    if (!status)
        status = take(&job, 1, &sum);
    if (!status)
        status = add_up(&job, parts, rounds, &sum, 0);
    return status ? status : store(&job, &sum);
}

GL_OP(histogram, tml_histogram_desc)
