/* Copies caller-owned textures to buffers, and back: one draw each, on both tiers. */
#include "core/call.h"
#include "gl/device/gl_float.h"

#include <inttypes.h>
#include <stdio.h>

#include "gl_device_shaders.h"

typedef struct transfer {
    gl_texture texture;
    tml_type type; /* of the buffer's scalars */
    uint32_t channels;
    uint32_t tile[2], tiles_across;
    uint64_t first, count; /* scalars */
} transfer;

/* Tiles, and texels that have elements. */
static tml_status take_tiles(tml_context *tml, const char *call, const tml_gl_transfer_desc *desc,
                             transfer *out, uint64_t *texels)
{
    const bool is_tiled = desc->tile_width || desc->tile_height;
    out->tile[0] = is_tiled ? desc->tile_width : desc->width;
    out->tile[1] = is_tiled ? desc->tile_height : desc->height;
    if (desc->width == 0 || desc->height == 0 || out->tile[0] == 0 || out->tile[1] == 0 ||
        desc->width % out->tile[0] || desc->height % out->tile[1])
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc has %" PRIu32 " x %" PRIu32 " texels in tiles of %" PRIu32
                         " x %" PRIu32 ", needs whole tiles, at least one; none: tile_width and "
                         "tile_height 0",
                         call, desc->width, desc->height, desc->tile_width, desc->tile_height);
    out->tiles_across = desc->width / out->tile[0];
    const uint64_t plane = (uint64_t)out->tile[0] * out->tile[1];
    const uint64_t tiles = (uint64_t)out->tiles_across * (desc->height / out->tile[1]);
    if (desc->slices > tiles)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.slices is %" PRIu32 ", and there are %" PRIu64
                         " tiles; 0 takes them all",
                         call, desc->slices, tiles);
    *texels = plane * (desc->slices ? desc->slices : tiles);
    return TML_OK;
}

static tml_status check_type(tml_context *tml, const char *call, transfer *t)
{
    const bool is_float_tier = gl_is_float(gl_device_of(tml));
    const bool is_good = is_float_tier
                             ? t->type == TML_F32 || (t->type == TML_U8 && t->channels == 4)
                             : t->type == TML_U8 || t->type == TML_F16 || t->type == TML_F32;
    if (is_good)
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.buffer has scalars of %s, needs %s",
                     call, tml_type_name(t->type),
                     is_float_tier ? "f32, or u8 with four channels, on this path"
                                   : "u8, f16 or f32");
}

/* Words hold whole texels' scalars, but for the buffer's end. */
static tml_status check_room(tml_context *tml, const char *call, const tml_slot *slot,
                             const transfer *t)
{
    const uint64_t each = 4 / tml_type_size(t->type), end = t->first + t->count;
    const uint64_t scalars = slot->count * tml_type_components(slot->type);
    if (end < t->first || end > scalars || end > INT32_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.buffer has %" PRIu64 " scalars, needs %" PRIu64
                         " from desc.first %" PRIu64 " on, and fewer than 2^31",
                         call, scalars, t->count, t->first);
    if (t->first % each || (end % each && end != scalars))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.first is %" PRIu64 " with %" PRIu64 " scalars, needs to begin "
                         "and, but at the buffer's end, to end with a word of %" PRIu64 " scalars",
                         call, t->first, t->count, each);
    return TML_OK;
}

static tml_status gl_transfer_resolve(tml_context *tml, const char *call,
                                      const tml_gl_transfer_desc *desc, transfer *out)
{
    uint32_t components = 0;
    uint64_t texels = 0;
    if (tml->engine->kind != TML_ENGINE_GL)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: this context is on engine %s, not on gl",
                         call, tml->engine->name);
    tml_status status = tml_check_buffer(tml, call, "desc.buffer", desc->buffer, NULL, 0);
    TML_THEN(status, gl_colours_check(tml, call, "desc", &desc->image, desc->width, desc->height,
                                      &out->texture, &components));
    TML_THEN(status, take_tiles(tml, call, desc, out, &texels));
    if (status != TML_OK)
        return status;
    const tml_slot *slot = tml_slot_of(tml, desc->buffer);
    out->channels = desc->channels ? desc->channels : components;
    out->type = tml_type_scalar(slot->type);
    out->first = desc->first;
    out->count = texels * out->channels;
    if (out->channels > components)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.channels is %" PRIu32 ", and the texture has %" PRIu32, call,
                         out->channels, components);
    status = check_type(tml, call, out);
    return status ? status : check_room(tml, call, slot, out);
}

static void defines_of(const transfer *t, char *out, size_t size)
{
    snprintf(out, size, "#define TYPE_%s\n#define CHANNELS %u\n#define SCALARS_A_WORD %uu\n",
             t->type == TML_U8    ? "U8"
             : t->type == TML_F16 ? "F16"
                                  : "F32",
             t->channels, (unsigned)(4 / tml_type_size(t->type)));
}

static gl_draw_info draw_of(tml_context *tml, const transfer *t, const char *defines)
{
    const uint32_t *tile = t->tile, plane = tile[0] * tile[1];
    gl_draw_info draw = {.defines = defines};
    if (!gl_is_float(gl_device_of(tml))) {
        draw.uniforms[0] = (gl_uniform)GL_UINT4("tiles", tile[0], tile[1], t->tiles_across, plane);
        draw.uniforms[1] = (gl_uniform)GL_UINT("first_scalar", (uint32_t)t->first);
        draw.uniforms[2] = (gl_uniform)GL_UINT("scalar_count", (uint32_t)t->count);
        return draw;
    }
    const float each = t->type == TML_U8 ? 4.0f : 1.0f; /* in words, one per texel */
    draw.uniforms[0] = (gl_uniform)GL_FLOAT4("tiles", (float)tile[0], (float)tile[1],
                                             (float)t->tiles_across, (float)plane);
    draw.uniforms[1] = (gl_uniform)GL_FLOAT1("first_scalar", (float)t->first / each);
    draw.uniforms[2] = (gl_uniform)GL_FLOAT1("scalar_count", (float)t->count / each);
    return draw;
}

/* On the float tier four bytes are one channel of the shader's. */
static void count_words(tml_context *tml, transfer *t)
{
    if (gl_is_float(gl_device_of(tml)) && t->type == TML_U8)
        t->channels = 1;
}

static tml_status import(tml_context *tml, const tml_gl_transfer_desc *desc)
{
    transfer t;
    char defines[96];
    tml_status status = gl_transfer_resolve(tml, "tml_gl_import", desc, &t);
    TML_THEN(status, gl_enter(tml));
    if (status != TML_OK)
        return status;
    const uint64_t each = 4 / tml_type_size(t.type);
    count_words(tml, &t);
    defines_of(&t, defines, sizeof defines);
    gl_draw_info draw = draw_of(tml, &t, defines);
    draw.shader = gl_is_float(gl_device_of(tml)) ? &gl_shader_float_import : &gl_shader_import;
    draw.inputs[0] = (gl_input){"colours", &t.texture};
    draw.targets[0] = gl_texture_of(tml, desc->buffer);
    draw.first = t.first / each;
    draw.count = TML_CEIL_DIV(t.count, each);
    status = gl_draw(tml, &draw);
    gl_leave(tml);
    return status;
}

tml_status tml_gl_import(tml_context *tml, const tml_gl_transfer_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, import(tml, desc));
}

static tml_status export(tml_context *tml, const tml_gl_transfer_desc *desc)
{
    transfer t;
    char defines[96];
    tml_status status = gl_transfer_resolve(tml, "tml_gl_export", desc, &t);
    TML_THEN(status, gl_enter(tml));
    if (status != TML_OK)
        return status;
    count_words(tml, &t);
    defines_of(&t, defines, sizeof defines);
    gl_draw_info draw = draw_of(tml, &t, defines);
    draw.shader = gl_is_float(gl_device_of(tml)) ? &gl_shader_float_export : &gl_shader_export;
    draw.inputs[0] = (gl_input){"scalars", gl_texture_of(tml, desc->buffer)};
    draw.targets[0] = &t.texture;
    draw.area[2] = desc->width;
    draw.area[3] = desc->height;
    status = gl_draw(tml, &draw);
    gl_leave(tml);
    return status;
}

tml_status tml_gl_export(tml_context *tml, const tml_gl_transfer_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, export(tml, desc));
}
