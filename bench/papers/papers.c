/* Shared by the papers' programs. */
#include "papers_internal.h"

#include "core/core_internal.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(uint, papers_one_if, (uint flag), { return flag != 0u ? 1u : 0u; })
TML_KERNEL(uint, papers_same_bits, (uint x), { return x; })
#include <trommel/kernel_end.h>

const papers_filter papers_filters[PAPERS_FILTERS] = {
    {"classic, one fetch", papers_one_fetch_filter, PAPERS_IN_Z_ORDER},
    {"classic, three fetches", papers_three_fetches_filter, PAPERS_IN_Z_ORDER},
    {"classic, copied levels", papers_copied_levels_filter, PAPERS_IN_Z_ORDER},
    {"classic, in vertices", papers_vertices_filter, PAPERS_IN_Z_ORDER},
    {"scan and search", papers_scan_search_filter, PAPERS_IN_ORDER},
    {"scan, search in passes", papers_search_passes_filter, PAPERS_IN_ORDER},
    {"bitonic sort", papers_bitonic_filter, PAPERS_IN_ORDER},
    {"append, one counter", papers_append_filter, PAPERS_UNORDERED},
};

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel papers_own_kernels[]; /* made by the build */
#endif

void papers_learn(tml_context *tml)
{
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, papers_own_kernels);
#else
    (void)tml;
#endif
}

const tml_kernel *papers_copy_kernel(void)
{
    return TML_USE(papers_same_bits);
}

/* ---- space ----------------------------------------------------------------------------------- */

uint64_t papers_wires(uint64_t count)
{
    uint64_t wires = 1;
    while (wires < count)
        wires *= 2;
    return wires;
}

tml_status papers_space_create(tml_context *tml, uint64_t count, papers_space *out)
{
    const tml_buffer_desc words = {.type = TML_U32, .count = papers_wires(count)};
    *out = (papers_space){.count = count};
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_U8, .count = count, .label = "flags"}, &out->flags);
    for (int i = 0; i < 2 && !status; i++)
        status = tml_buffer_create(tml, &words, &out->words[i]);
    if (status)
        papers_space_destroy(tml, out);
    return status;
}

void papers_space_destroy(tml_context *tml, papers_space *space)
{
    tml_buffer_destroy(tml, space->flags);
    tml_buffer_destroy(tml, space->words[0]);
    tml_buffer_destroy(tml, space->words[1]);
    *space = (papers_space){.count = 0};
}

/* ---- steps of filters ------------------------------------------------------------------------ */

tml_status papers_count(tml_context *tml, const papers_filter_desc *desc)
{
    const papers_space *space = desc->space;
    papers_learn(tml);
    tml_status status = tml_map(tml, &(tml_map_desc){.kernel = desc->keep,
                                                     .params = desc->params,
                                                     .in = {desc->in},
                                                     .length.count = space->count,
                                                     .out = {space->flags}});
    return status ? status
                  : tml_map(tml, &(tml_map_desc){.kernel = TML_USE(papers_one_if),
                                                 .in = {space->flags},
                                                 .length.count = space->count,
                                                 .out = {space->words[0]}});
}

tml_length papers_outputs(tml_context *tml, tml_buffer out, tml_buffer count)
{
    tml_length length = {.device = count};
    tml_buffer_describe(tml, out, NULL, &length.count);
    return length;
}

/* ---- Z order --------------------------------------------------------------------------------- */

uint32_t papers_square_side(uint64_t count)
{
    uint32_t side = 2;
    while ((uint64_t)side * side < count)
        side *= 2;
    return side;
}

uint64_t papers_square_index(uint32_t side, uint64_t z)
{
    uint64_t x = 0, y = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        x |= (z >> (2 * bit) & 1) << bit;
        y |= (z >> (2 * bit + 1) & 1) << bit;
    }
    return y * side + x;
}

/* ---- without OpenGL ES ----------------------------------------------------------------------- */

#ifndef TML_GL
static tml_status refuse(tml_context *tml)
{
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "this build has no OpenGL ES");
}
tml_status papers_one_fetch_filter(tml_context *tml, const papers_filter_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
tml_status papers_three_fetches_filter(tml_context *tml, const papers_filter_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
tml_status papers_copied_levels_filter(tml_context *tml, const papers_filter_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
tml_status papers_vertices_filter(tml_context *tml, const papers_filter_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
tml_status papers_surface(tml_context *tml, const papers_surface_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
tml_status papers_picture(tml_context *tml, const papers_picture_desc *desc)
{
    (void)desc;
    return refuse(tml);
}
void papers_picture_size(uint64_t length, uint32_t *width, uint32_t *height)
{
    (void)length;
    *width = *height = 0;
}
#endif
