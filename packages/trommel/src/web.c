/* The C library for JavaScript: each function takes a request, which is a record of doubles that
 * index.js fills by name, and answers in a reply, which it reads by name. The two lists of names below
 * are the whole agreement between the two languages.
 *
 * Numbers up to 2^53 are exact in a double. A pointer is a number; a buffer is the address of a
 * tml_buffer, 0 for none. Nothing is checked here that the library checks itself. */
#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/collide.h>
#include <trommel/gl.h>
#include <trommel/io.h>
#include <trommel/subdivide.h>
#include <trommel/trommel.h>

#include "io/picture_internal.h"
#include "io/points_internal.h"
#include "io/volume_internal.h"

/* clang-format off */
#define WEB_REQUEST(X)                                                                             \
    X(engine) X(path) X(threads) X(exact_counts)                                                   \
    X(buffer) X(type) X(count) X(data) X(size) X(first) X(host) X(label)                           \
    X(texture) X(width) X(height) X(name) X(source) X(run)                                         \
    X(colours) X(colours_format) X(tile_width) X(tile_height) X(slices)                            \
    X(result) X(param_count) X(param0) X(param1) X(param2) X(param3) X(param4) X(param5) X(library) \
    X(kernel) X(emit) X(params) X(in0) X(in1) X(in2) X(in3) X(flags) X(mask)                       \
    X(payload_in0) X(payload_in1) X(payload_in2) X(payload_in3)                                    \
    X(payload_in4) X(payload_in5) X(payload_in6) X(payload_in7)                                    \
    X(payload_out0) X(payload_out1) X(payload_out2) X(payload_out3)                                \
    X(payload_out4) X(payload_out5) X(payload_out6) X(payload_out7)                                \
    X(length) X(length_buffer) X(length_index) X(length_exact) X(k) X(k_buffer) X(k_index) X(k_exact)   \
    X(smallest) X(unsorted) X(method) X(fold) X(inclusive) X(descending)                           \
    X(out) X(total) X(start) X(indices) X(counts) X(ranks) X(values) X(starts) X(lengths) X(offsets) \
    X(bins) X(edges) X(lower) X(upper) X(weights)                                                   \
    X(dims0) X(dims1) X(dims2) X(spacing0) X(spacing1) X(spacing2)                                 \
    X(origin0) X(origin1) X(origin2) X(direction0) X(direction1) X(direction2) X(direction3)       \
    X(direction4) X(direction5) X(direction6) X(direction7) X(direction8)                          \
    X(points) X(radii) X(radius) X(kind) X(field_kernel) X(margin) X(resolution) X(is_field)       \
    X(volume) X(attribute) X(index) X(iso) X(isovalues) X(isovalue_count) X(labels)                \
    X(label_count) X(all_labels) X(normals) X(soup) X(caps) X(flip) X(drop_degenerate)             \
    X(largest_component) X(region0) X(region1) X(region2) X(region3) X(region4) X(region5)         \
    X(position0) X(position1) X(position2) X(iso_buffer) X(iso_index) X(cells) X(vertices)         \
    X(vertex_normals) X(vertex_values) X(wants_cells) X(triangle_cells) X(components_only) X(room) \
    X(vertex_count) X(triangle_count) X(big_endian) X(skip) X(frame) X(memory_limit)               \
    X(channels) X(srgb) X(to) X(to_channels) X(to_srgb) X(stats) X(state) X(luminance) X(what)     \
    X(weight0) X(weight1) X(weight2) X(histogram_low) X(bin_log2) X(mask_width) X(mask_height)        \
    X(meter) X(filter) X(level) X(last_alone) X(log_luminance)                                     \
    X(floor) X(by) X(clip_low) X(clip_high) X(percentile) X(ev100) X(key) X(bias) X(ev_min)        \
    X(ev_max) X(speed_up) X(speed_down) X(seconds) X(reset) X(scale) X(tone) X(white)        \
    X(tree) X(other_tree) X(poses) X(pose_count) X(classes) X(segments) X(skip_broken)        \
    X(subdivider) X(fix) X(levels) X(limit) X(criterion) X(threshold) X(depth) X(budget) X(origins)   \
    X(creases) X(crease_sharpness) X(corners) X(corner_sharpness) X(boundary) X(weighting)         \
    X(camera) X(nearest) X(everywhere) X(slivers) X(camera_buffer) X(level_triangles) X(origins_out) X(draw)

#define WEB_REPLY(X)                                                                               \
    X(tml) X(name) X(features) X(threads) X(is_software) X(path) X(buffer) X(kernel)               \
    X(texture) X(width) X(height) X(count) X(seconds) X(glsl)                                      \
    X(data) X(size) X(type) X(dims0) X(dims1) X(dims2) X(spacing0) X(spacing1) X(spacing2)         \
    X(origin0) X(origin1) X(origin2) X(direction0) X(direction1) X(direction2) X(direction3)       \
    X(direction4) X(direction5) X(direction6) X(direction7) X(direction8)                          \
    X(slope) X(intercept) X(format) X(space) X(comment)                                            \
    X(positions) X(radii) X(values) X(value_name) X(dropped) X(radius) X(margin) X(iso)            \
    X(vertices) X(vertex_normals) X(vertex_values) X(indices) X(triangle_cells)                    \
    X(vertex_count) X(triangle_count) X(active_cells) X(parts) X(part_count) X(stages) X(stage_count)                                \
    X(components) X(boundary_edges) X(nonmanifold_edges) X(euler) X(area) X(enclosed)              \
    X(lower0) X(lower1) X(lower2) X(upper0) X(upper1) X(upper2)                                    \
    X(channels) X(srgb) X(pixels) X(positive) X(zero) X(negative) X(nan) X(infinite) X(weight)     \
    X(min) X(max) X(mean) X(deviation) X(log2_mean) X(geometric_mean) X(histogram_low)             \
    X(bin_width) X(histogram) X(percentile)                                                        \
    X(tree) X(broken_count) X(depth) X(pairs) X(first) X(segments) X(node_pairs) X(tested)         \
    X(step_pairs) X(step_count)                                                                    \
    X(unsure) X(class_count0) X(class_count1) X(class_count2) X(class_count3) X(class_count4) \
    X(subdivider) X(edge_count) X(boundary_edge_count) X(origins) X(error) X(is_within_budget)       \
    X(is_within_depth) X(sharp_edge_count)
/* clang-format on */

#define WEB_FIELD(name) double name;
typedef struct web_request {
    WEB_REQUEST(WEB_FIELD)
} web_request;
typedef struct web_reply {
    WEB_REPLY(WEB_FIELD)
} web_reply;
#define WEB_NAME(name) #name " "
static const char request_names[] = WEB_REQUEST(WEB_NAME);
static const char reply_names[] = WEB_REPLY(WEB_NAME);

static web_request request;
static web_reply reply;

EMSCRIPTEN_KEEPALIVE const char *web_request_names(void)
{
    return request_names;
}
EMSCRIPTEN_KEEPALIVE const char *web_reply_names(void)
{
    return reply_names;
}
EMSCRIPTEN_KEEPALIVE web_request *web_request_at(void)
{
    return &request;
}
EMSCRIPTEN_KEEPALIVE web_reply *web_reply_at(void)
{
    return &reply;
}

/* ---- from and to doubles --------------------------------------------------------------------- */

static void *pointer(double address)
{
    return (void *)(uintptr_t)address;
}

static double address(const void *pointer)
{
    return (double)(uintptr_t)pointer;
}

static const char *text(double address)
{
    return pointer(address);
}

static tml_buffer buffer_of(double address)
{
    return address != 0.0 ? *(const tml_buffer *)pointer(address) : (tml_buffer){0};
}

/* A handle for JavaScript, which frees it with the buffer (web_buffer_destroy); 0 for none. */
static double handle_of(tml_buffer buffer)
{
    if (tml_buffer_is_none(buffer))
        return 0.0;
    tml_buffer *handle = malloc(sizeof *handle);
    if (handle)
        *handle = buffer;
    return address(handle);
}

static tml_type type_of(double name)
{
    return name != 0.0 ? tml_type_from_name(text(name)) : TML_TYPE_NONE;
}

static tml_params params_of(const web_request *r)
{
    tml_params params = {.f = {0}};
    if (r->params != 0.0)
        memcpy(&params, pointer(r->params), sizeof params);
    return params;
}

static tml_length length_of(const web_request *r)
{
    return (tml_length){.count = (uint64_t)r->length,
                        .device = buffer_of(r->length_buffer),
                        .device_index = (uint64_t)r->length_index,
                        .exact = r->length_exact != 0.0};
}

static tml_grid grid_of(const web_request *r)
{
    return (tml_grid){
        .dims = {(uint64_t)r->dims0, (uint64_t)r->dims1, (uint64_t)r->dims2},
        .spacing = {r->spacing0, r->spacing1, r->spacing2},
        .origin = {r->origin0, r->origin1, r->origin2},
        .direction = {r->direction0, r->direction1, r->direction2, r->direction3, r->direction4,
                      r->direction5, r->direction6, r->direction7, r->direction8},
    };
}

static void tell_grid(const tml_grid *grid)
{
    double *dims = &reply.dims0, *spacing = &reply.spacing0, *origin = &reply.origin0;
    for (int a = 0; a < 3; a++) {
        dims[a] = (double)grid->dims[a];
        spacing[a] = grid->spacing[a];
        origin[a] = grid->origin[a];
    }
    memcpy(&reply.direction0, grid->direction, sizeof grid->direction);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* What tml_open says before there is a context to hold it. */
static char open_error[768];

EM_JS(void, web_log, (int level, const char *message), {
    if (Module["onTrommelLog"])
        Module["onTrommelLog"](level, UTF8ToString(message));
})

static void log_line(void *user, tml_log_level level, const char *message)
{
    (void)user;
    if (level == TML_LOG_ERROR)
        snprintf(open_error, sizeof open_error, "%s", message);
    web_log((int)level, message);
}

EMSCRIPTEN_KEEPALIVE const char *web_open_error(void)
{
    return open_error;
}
EMSCRIPTEN_KEEPALIVE const char *web_status_name(int status)
{
    return tml_status_name((tml_status)status);
}
EMSCRIPTEN_KEEPALIVE const char *web_last_error(tml_context *tml)
{
    return tml_last_error(tml);
}

static tml_gl_path path_of(const char *name)
{
    for (tml_gl_path path = TML_GL_PATH_AUTO; path <= TML_GL_PATH_PACKED; path++)
        if (strcmp(name, tml_gl_path_name(path)) == 0)
            return path;
    return TML_GL_PATH_AUTO;
}

static tml_gl_test tests[64];
static uint32_t test_count;

EMSCRIPTEN_KEEPALIVE int web_open(void)
{
    const web_request *r = &request;
    bool is_gl = r->engine != 0.0;
    tml_gl_desc gl = {.lend_current = true,
                      .path = r->path != 0.0 ? path_of(text(r->path)) : TML_GL_PATH_AUTO,
                      .exact_counts = r->exact_counts != 0.0};
    tml_open_desc desc = {.engine = is_gl ? TML_ENGINE_GL : TML_ENGINE_CPU,
                          .threads = (uint32_t)r->threads,
                          .log = log_line,
                          .gl = is_gl ? &gl : NULL};
    tml_context *tml;
    tml_status status = tml_open(&desc, &tml);
    if (status != TML_OK)
        return status;
    static tml_device_info info;
    tml_context_describe(tml, &info);
    reply.tml = address(tml);
    reply.name = address(info.name);
    reply.features = address(info.features);
    reply.threads = tml_concurrency(tml);
    reply.is_software = info.is_software;
    reply.path = 0.0;
    test_count = tml_gl_tests(tml, tests, sizeof tests / sizeof *tests);
    for (uint32_t i = 0; i < test_count; i++)
        if (tests[i].is_choice)
            reply.path = address(tests[i].name); /* "path integer" */
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_close(tml_context *tml)
{
    tml_close(tml);
}
EMSCRIPTEN_KEEPALIVE int web_begin(tml_context *tml)
{
    return tml_gl_begin(tml);
}
EMSCRIPTEN_KEEPALIVE void web_end(tml_context *tml)
{
    tml_gl_end(tml);
}
EMSCRIPTEN_KEEPALIVE int web_exact_counts(tml_context *tml)
{
    return tml_gl_exact_counts(tml, request.exact_counts != 0.0);
}
EMSCRIPTEN_KEEPALIVE int web_prepare_begin(tml_context *tml)
{
    return tml_gl_prepare_begin(tml);
}
EMSCRIPTEN_KEEPALIVE int web_prepare_end(tml_context *tml)
{
    uint32_t left;
    tml_status status = tml_gl_prepare_end(tml, &left);
    reply.count = left;
    return status;
}
EMSCRIPTEN_KEEPALIVE void web_lost(tml_context *tml)
{
    tml_gl_lost(tml);
}

EMSCRIPTEN_KEEPALIVE int web_test_count(void)
{
    return (int)test_count;
}
EMSCRIPTEN_KEEPALIVE const char *web_test_name(int i)
{
    return tests[i].name;
}
EMSCRIPTEN_KEEPALIVE const char *web_test_detail(int i)
{
    return tests[i].detail;
}
EMSCRIPTEN_KEEPALIVE int web_test_depth(int i)
{
    return (int)tests[i].depth;
}
EMSCRIPTEN_KEEPALIVE bool web_test_passed(int i)
{
    return tests[i].passed;
}
EMSCRIPTEN_KEEPALIVE bool web_test_is_choice(int i)
{
    return tests[i].is_choice;
}

/* ---- buffers --------------------------------------------------------------------------------- */

EMSCRIPTEN_KEEPALIVE int web_buffer_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_gl_memory gl = {(uint32_t)r->texture, (uint32_t)r->width, (uint32_t)r->height};
    tml_buffer_desc desc = {.type = type_of(r->type),
                            .count = (uint64_t)r->count,
                            .data = pointer(r->data),
                            .host = pointer(r->host),
                            .gl = r->texture != 0.0 ? &gl : NULL,
                            .label = text(r->label)};
    tml_buffer buffer;
    tml_status status = tml_buffer_create(tml, &desc, &buffer);
    if (status == TML_OK)
        reply.buffer = handle_of(buffer);
    return status;
}

EMSCRIPTEN_KEEPALIVE void web_buffer_destroy(tml_context *tml, tml_buffer *handle)
{
    tml_buffer_destroy(tml, *handle);
    free(handle);
}

/* Type and count of a buffer that the library made. */
EMSCRIPTEN_KEEPALIVE int web_buffer_info(tml_context *tml)
{
    tml_type type;
    uint64_t count;
    if (!tml_buffer_describe(tml, buffer_of(request.buffer), &type, &count))
        return TML_ERROR_INVALID_HANDLE;
    reply.type = address(tml_type_name(type));
    reply.count = (double)count;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_texture(tml_context *tml)
{
    tml_gl_memory gl;
    tml_status status = tml_gl_texture(tml, buffer_of(request.buffer), &gl);
    if (status == TML_OK) {
        reply.texture = gl.texture;
        reply.width = gl.width;
        reply.height = gl.height;
    }
    return status;
}

/* A texture of the page's with colours; texture 0: there is none. */
static tml_gl_image colours_of(const web_request *r)
{
    return (tml_gl_image){(uint32_t)r->colours, (uint32_t)r->colours_format};
}

static tml_gl_transfer_desc transfer_of(const web_request *r)
{
    return (tml_gl_transfer_desc){.image = colours_of(r),
                                  .width = (uint32_t)r->width,
                                  .height = (uint32_t)r->height,
                                  .tile_width = (uint32_t)r->tile_width,
                                  .tile_height = (uint32_t)r->tile_height,
                                  .slices = (uint32_t)r->slices,
                                  .channels = (uint32_t)r->channels,
                                  .buffer = buffer_of(r->buffer),
                                  .first = (uint64_t)r->first};
}
EMSCRIPTEN_KEEPALIVE int web_import(tml_context *tml)
{
    const tml_gl_transfer_desc desc = transfer_of(&request);
    return tml_gl_import(tml, &desc);
}
EMSCRIPTEN_KEEPALIVE int web_export(tml_context *tml)
{
    const tml_gl_transfer_desc desc = transfer_of(&request);
    return tml_gl_export(tml, &desc);
}
EMSCRIPTEN_KEEPALIVE int web_glsl(tml_context *tml)
{
    reply.glsl = address(tml_gl_glsl(tml));
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_read(tml_context *tml)
{
    const web_request *r = &request;
    return tml_buffer_read_range(tml, buffer_of(r->buffer), (uint64_t)r->first, (uint64_t)r->count,
                                 pointer(r->data));
}

EMSCRIPTEN_KEEPALIVE int web_write(tml_context *tml)
{
    const web_request *r = &request;
    return tml_buffer_write(tml, buffer_of(r->buffer), (uint64_t)r->first, (uint64_t)r->count,
                            pointer(r->data));
}

/* Where a buffer of the CPU engine lies; it stays there until it is destroyed. */
EMSCRIPTEN_KEEPALIVE int web_map(tml_context *tml)
{
    void *memory;
    tml_status status = tml_buffer_map(tml, buffer_of(request.buffer), &memory);
    reply.data = address(memory);
    tml_buffer_unmap(tml, buffer_of(request.buffer));
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_sync(tml_context *tml)
{
    return tml_sync(tml);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static tml_type param_of(double name)
{
    static const struct {
        const char *name;
        uint32_t kind;
    } special[] = {{"tml_index", TML_PARAM_INDEX},
                   {"tml_rank", TML_PARAM_RANK},
                   {"tml_params", TML_PARAM_PARAMS},
                   {"tml_words", TML_PARAM_WORDS}};
    for (size_t i = 0; name != 0.0 && i < sizeof special / sizeof *special; i++)
        if (strcmp(text(name), special[i].name) == 0)
            return special[i].kind;
    return type_of(name);
}

/* The CPU's form of a kernel that has none: index.js lets no such kernel reach the CPU engine. */
static void run_nothing(const tml_kernel_block *block)
{
    (void)block;
    abort();
}

/* Name, source and library must outlive it, and so must run, a function of the table or 0. Never freed: a
 * program of the engine's may remember it. */
EMSCRIPTEN_KEEPALIVE int web_kernel(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel)
        return TML_ERROR_OUT_OF_MEMORY;
    *kernel = (tml_kernel){
        .name = text(r->name),
        .glsl = text(r->source),
        .result = type_of(r->result),
        .param_count = (uint32_t)r->param_count,
        .params = {param_of(r->param0), param_of(r->param1), param_of(r->param2),
                   param_of(r->param3), param_of(r->param4), param_of(r->param5)},
        .library = r->library != 0.0 ? text(r->library) : NULL,
        .run = r->run != 0.0 ? (void (*)(const tml_kernel_block *))(uintptr_t)r->run : run_nothing,
    };
    reply.kernel = address(kernel);
    return TML_OK;
}

/* A block for a kernel in JavaScript, as doubles: index, rank, params, out, first, count, in[6]. */
EMSCRIPTEN_KEEPALIVE void web_block(const tml_kernel_block *block, double out[12])
{
    out[0] = address(block->index);
    out[1] = address(block->rank);
    out[2] = address(block->params);
    out[3] = address(block->out);
    out[4] = (double)block->first;
    out[5] = (double)block->count;
    for (int i = 0; i < TML_MAX_PARAMS; i++)
        out[6 + i] = address(block->in[i]);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void inputs_of(const web_request *r, tml_buffer in[TML_MAX_INPUTS])
{
    const double *given = &r->in0;
    for (int i = 0; i < TML_MAX_INPUTS; i++)
        in[i] = buffer_of(given[i]);
}

EMSCRIPTEN_KEEPALIVE int web_map_stream(tml_context *tml)
{
    const web_request *r = &request;
    tml_map_desc desc = {.kernel = pointer(r->kernel),
                         .params = params_of(r),
                         .length = length_of(r),
                         .out = buffer_of(r->out)};
    inputs_of(r, desc.in);
    return tml_map(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_reduce(tml_context *tml)
{
    const web_request *r = &request;
    tml_reduce_desc desc = {.fold = (tml_fold)r->fold,
                            .in = buffer_of(r->in0),
                            .length = length_of(r),
                            .out = buffer_of(r->out)};
    return tml_reduce(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_histogram(tml_context *tml)
{
    const web_request *r = &request;
    tml_histogram_desc desc = {.kernel = pointer(r->kernel),
                               .params = params_of(r),
                               .length = length_of(r),
                               .bins = (uint32_t)r->bins,
                               .out = buffer_of(r->out),
                               .edges = buffer_of(r->edges),
                               .lower = (float)r->lower,
                               .upper = (float)r->upper,
                               .weights = buffer_of(r->weights)};
    inputs_of(r, desc.in);
    return tml_histogram(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_scan(tml_context *tml)
{
    const web_request *r = &request;
    tml_scan_desc desc = {.in = buffer_of(r->in0),
                          .length = length_of(r),
                          .inclusive = r->inclusive != 0.0,
                          .method = (tml_method)r->method,
                          .out = buffer_of(r->out),
                          .total = buffer_of(r->total),
                          .fold = (tml_fold)r->fold,
                          .start = buffer_of(r->start)};
    return tml_scan(tml, &desc);
}

static void payloads_of(const web_request *r, tml_payload payloads[TML_MAX_PAYLOADS])
{
    const double *in = &r->payload_in0, *out = &r->payload_out0;
    for (int i = 0; i < TML_MAX_PAYLOADS; i++)
        payloads[i] = (tml_payload){buffer_of(in[i]), buffer_of(out[i])};
}

static tml_compact_desc compact_desc_of(const web_request *r)
{
    tml_compact_desc desc = {.keep = {.kernel = pointer(r->kernel),
                                      .params = params_of(r),
                                      .flags = buffer_of(r->flags),
                                      .mask = buffer_of(r->mask)},
                             .length = length_of(r),
                             .method = (tml_method)r->method,
                             .indices = buffer_of(r->indices),
                             .count = buffer_of(r->counts)};
    inputs_of(r, desc.keep.in);
    payloads_of(r, desc.payloads);
    return desc;
}

EMSCRIPTEN_KEEPALIVE int web_compact(tml_context *tml)
{
    tml_compact_desc desc = compact_desc_of(&request);
    return tml_compact(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_partition(tml_context *tml)
{
    tml_compact_desc desc = compact_desc_of(&request);
    return tml_partition(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_sort(tml_context *tml)
{
    const web_request *r = &request;
    tml_sort_desc desc = {.keys = buffer_of(r->in0),
                          .length = length_of(r),
                          .descending = r->descending != 0.0,
                          .first_bit = (uint32_t)r->first,
                          .bit_count = (uint32_t)r->count,
                          .method = (tml_method)r->method,
                          .sorted = buffer_of(r->out),
                          .indices = buffer_of(r->indices),
                          .offsets = buffer_of(r->offsets)};
    payloads_of(r, desc.payloads);
    return tml_sort(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_top_k(tml_context *tml)
{
    const web_request *r = &request;
    tml_top_k_desc desc = {.keys = buffer_of(r->in0),
                           .length = length_of(r),
                           .k = {.count = (uint64_t)r->k,
                                 .device = buffer_of(r->k_buffer),
                                 .device_index = (uint64_t)r->k_index,
                                 .exact = r->k_exact != 0.0},
                           .smallest = r->smallest != 0.0,
                           .unsorted = r->unsorted != 0.0,
                           .values = buffer_of(r->values),
                           .indices = buffer_of(r->indices),
                           .count = buffer_of(r->counts)};
    payloads_of(r, desc.payloads);
    return tml_top_k(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_expand(tml_context *tml)
{
    const web_request *r = &request;
    tml_expand_desc desc = {.counts = buffer_of(r->counts),
                            .count_kernel = pointer(r->kernel),
                            .emit_kernel = pointer(r->emit),
                            .params = params_of(r),
                            .length = length_of(r),
                            .method = (tml_method)r->method,
                            .source = buffer_of(r->indices),
                            .rank = buffer_of(r->ranks),
                            .out = buffer_of(r->out),
                            .total = buffer_of(r->total)};
    inputs_of(r, desc.in);
    return tml_expand(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_unique(tml_context *tml)
{
    const web_request *r = &request;
    tml_unique_desc desc = {.in = buffer_of(r->in0),
                            .length = length_of(r),
                            .values = buffer_of(r->values),
                            .starts = buffer_of(r->starts),
                            .lengths = buffer_of(r->lengths),
                            .count = buffer_of(r->counts)};
    return tml_unique(tml, &desc);
}

/* ---- field ----------------------------------------------------------------------------------- */

static tml_field_desc field_desc_of(const web_request *r)
{
    return (tml_field_desc){.points = buffer_of(r->points),
                            .radii = buffer_of(r->radii),
                            .radius = r->radius,
                            .kind = (tml_field_kind)r->kind,
                            .kernel = (tml_field_kernel)r->field_kernel,
                            .margin = r->margin,
                            .grid = grid_of(r),
                            .resolution = (uint32_t)r->resolution};
}

EMSCRIPTEN_KEEPALIVE int web_field_resolve(tml_context *tml)
{
    tml_field_desc desc = field_desc_of(&request), resolved;
    tml_status status = tml_field_resolve(tml, &desc, &resolved, &reply.iso);
    if (status == TML_OK) {
        reply.radius = resolved.radius;
        reply.margin = resolved.margin;
        tell_grid(&resolved.grid);
    }
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_field(tml_context *tml)
{
    tml_field_desc desc = field_desc_of(&request);
    return tml_field(tml, &desc, buffer_of(request.out));
}

/* ---- surface --------------------------------------------------------------------------------- */

/* field: room for its desc, where the request has one. */
static tml_surface_desc surface_desc_of(const web_request *r, tml_field_desc *field)
{
    tml_surface_desc desc = {
        .index = buffer_of(r->index),
        .region = {.first = {(uint64_t)r->region0, (uint64_t)r->region1, (uint64_t)r->region2},
                   .count = {(uint64_t)r->region3, (uint64_t)r->region4, (uint64_t)r->region5}},
        .mask = buffer_of(r->mask),
        .attribute = buffer_of(r->attribute),
        .iso = r->iso,
        .isovalues = pointer(r->isovalues),
        .isovalue_count = (uint32_t)r->isovalue_count,
        .labels = pointer(r->labels),
        .label_count = (uint32_t)r->label_count,
        .all_labels = r->all_labels != 0.0,
        .normals = (tml_normals)r->normals,
        .soup = r->soup != 0.0,
        .cells = r->wants_cells != 0.0,
        .caps = r->caps != 0.0,
        .flip = r->flip != 0.0,
        .drop_degenerate = r->drop_degenerate != 0.0,
        .largest_component = r->largest_component != 0.0,
        .position_origin = {r->position0, r->position1, r->position2},
        .vertices = buffer_of(r->vertices),
        .vertex_normals = buffer_of(r->vertex_normals),
        .vertex_values = buffer_of(r->vertex_values),
        .indices = buffer_of(r->indices),
        .triangle_cells = buffer_of(r->triangle_cells),
    };
    if (r->is_field != 0.0) {
        *field = field_desc_of(r);
        desc.field = field;
    } else {
        desc.volume = buffer_of(r->volume);
        desc.grid = grid_of(r);
    }
    return desc;
}

/* Parts as doubles, five each: value, vertex first and count, triangle first and count. */
static double parts_of(const tml_surface_result *result)
{
    double *parts = malloc((size_t)result->part_count * 5 * sizeof *parts + 1);
    for (uint32_t i = 0; parts && i < result->part_count; i++) {
        const tml_surface_part *part = &result->parts[i];
        const double values[5] = {part->value, (double)part->vertex_first,
                                  (double)part->vertex_count, (double)part->triangle_first,
                                  (double)part->triangle_count};
        memcpy(parts + 5 * i, values, sizeof values);
    }
    return address(parts);
}

/* Stages as doubles, two each: the name's address and the seconds. */
static double stages_of(const tml_surface_result *result)
{
    static double stages[16];
    for (uint32_t i = 0; i < result->stage_count; i++) {
        stages[2 * i] = address(result->stages[i].name);
        stages[2 * i + 1] = result->stages[i].seconds;
    }
    return address(stages);
}

/* The buffers become JavaScript's, and so does parts (web_free). */
EMSCRIPTEN_KEEPALIVE int web_surface(tml_context *tml)
{
    tml_field_desc field;
    tml_surface_desc desc = surface_desc_of(&request, &field);
    tml_surface_result result;
    tml_status status = tml_surface(tml, &desc, &result);
    if (status != TML_OK)
        return status;
    reply.vertices = handle_of(result.vertices);
    reply.vertex_normals = handle_of(result.vertex_normals);
    reply.vertex_values = handle_of(result.vertex_values);
    reply.indices = handle_of(result.indices);
    reply.triangle_cells = handle_of(result.triangle_cells);
    reply.vertex_count = (double)result.vertex_count;
    reply.triangle_count = (double)result.triangle_count;
    reply.active_cells = (double)result.active_cells;
    reply.parts = parts_of(&result);
    reply.part_count = result.part_count;
    reply.stages = stages_of(&result);
    reply.stage_count = result.stage_count;
    result.vertices = result.vertex_normals = result.vertex_values = result.indices =
        result.triangle_cells = (tml_buffer){0};
    tml_surface_free(tml, &result);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_surface_enqueue(tml_context *tml)
{
    const web_request *r = &request;
    tml_field_desc field;
    const tml_surface_desc surface = surface_desc_of(r, &field);
    tml_surface_enqueue_desc desc = {.surface = &surface,
                                     .iso = buffer_of(r->iso_buffer),
                                     .iso_index = (uint64_t)r->iso_index,
                                     .counts = buffer_of(r->counts)};
    return tml_surface_enqueue(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_surface_index(tml_context *tml)
{
    tml_surface_index_desc desc = {buffer_of(request.volume), grid_of(&request)};
    tml_buffer index;
    tml_status status = tml_surface_index(tml, &desc, &index);
    if (status == TML_OK)
        reply.buffer = handle_of(index);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_surface_cells(tml_context *tml)
{
    tml_field_desc field;
    tml_surface_desc desc = surface_desc_of(&request, &field);
    return tml_surface_cells(tml, &desc, pointer(request.cells));
}

EMSCRIPTEN_KEEPALIVE int web_mesh_examine(tml_context *tml)
{
    tml_mesh_stats stats;
    tml_status status =
        tml_mesh_examine(tml, buffer_of(request.vertices), buffer_of(request.indices),
                         request.components_only != 0.0, &stats);
    if (status != TML_OK)
        return status;
    reply.components = (double)stats.components;
    reply.boundary_edges = (double)stats.boundary_edges;
    reply.nonmanifold_edges = (double)stats.nonmanifold_edges;
    reply.euler = (double)stats.euler;
    reply.area = stats.area;
    reply.enclosed = stats.volume;
    memcpy(&reply.lower0, stats.lower, sizeof stats.lower);
    memcpy(&reply.upper0, stats.upper, sizeof stats.upper);
    return TML_OK;
}

/* ---- image ----------------------------------------------------------------------------------- */

/* The picture that is read from, and the one that is written to, of the same size. */
static tml_image image_of(const web_request *r)
{
    static tml_gl_image colours; /* read by the call that follows */
    colours = colours_of(r);
    return (tml_image){.gl = colours.texture ? &colours : NULL,
                       .buffer = buffer_of(r->in0),
                       .width = (uint32_t)r->width,
                       .height = (uint32_t)r->height,
                       .channels = (uint32_t)r->channels,
                       .srgb = r->srgb != 0.0};
}

/* Elements of a stats buffer, and of a state. */
EMSCRIPTEN_KEEPALIVE int web_image_sizes(tml_context *tml)
{
    (void)tml;
    reply.count = TML_IMAGE_STATS_WORDS;
    reply.size = TML_EXPOSURE_WORDS;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_measure(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_measure_desc desc = {
        .image = image_of(r),
        .region = {(uint32_t)r->region0, (uint32_t)r->region1, (uint32_t)r->region2,
                   (uint32_t)r->region3},
        .luminance = (tml_luminance)r->luminance,
        .weights = {(float)r->weight0, (float)r->weight1, (float)r->weight2},
        .what = (uint32_t)r->what,
        .floor = (float)r->floor,
        .histogram_low = (int32_t)r->histogram_low,
        .bin_log2 = (uint32_t)r->bin_log2,
        .mask = buffer_of(r->mask),
        .mask_width = (uint32_t)r->mask_width,
        .mask_height = (uint32_t)r->mask_height,
        .stats = buffer_of(r->stats)};
    return tml_image_measure(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_meter_weights(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    return tml_meter_weights((tml_meter)r->meter, (uint32_t)r->width, (uint32_t)r->height,
                             (uint32_t)r->mask_width, (uint32_t)r->mask_height, pointer(r->data));
}

EMSCRIPTEN_KEEPALIVE int web_mip_level(tml_context *tml)
{
    const web_request *r = &request;
    uint32_t width, height;
    uint64_t first;
    (void)tml;
    tml_mip_level((uint32_t)r->width, (uint32_t)r->height, (uint32_t)r->level, &width, &height,
                  &first);
    reply.count = tml_mip_levels((uint32_t)r->width, (uint32_t)r->height);
    reply.width = width;
    reply.height = height;
    reply.first = (double)first;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_mips(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_mips_desc desc = {
        .in = image_of(r),
        .filter = (tml_mip_filter)r->filter,
        .levels = (uint32_t)r->levels,
        .last_alone = r->last_alone != 0.0,
        .log_luminance = r->log_luminance != 0.0,
        .luminance = (tml_luminance)r->luminance,
        .weights = {(float)r->weight0, (float)r->weight1, (float)r->weight2},
        .floor = (float)r->floor,
        .out = buffer_of(r->out)};
    return tml_image_mips(tml, &desc);
}

/* Percentiles are of the latest that were read. */
static tml_image_stats image_stats;
static double image_histogram[TML_HISTOGRAM_BINS];

EMSCRIPTEN_KEEPALIVE int web_image_stats(tml_context *tml)
{
    tml_image_stats *s = &image_stats;
    tml_status status = tml_image_stats_read(tml, buffer_of(request.stats), s);
    if (status != TML_OK)
        return status;
    reply.pixels = (double)s->pixels;
    reply.positive = (double)s->positive;
    reply.zero = (double)s->zero;
    reply.negative = (double)s->negative;
    reply.nan = (double)s->nan;
    reply.infinite = (double)s->infinite;
    reply.weight = (double)s->weight;
    reply.min = s->min;
    reply.max = s->max;
    reply.mean = s->mean;
    reply.deviation = s->deviation;
    reply.log2_mean = s->log2_mean;
    reply.geometric_mean = s->geometric_mean;
    reply.histogram_low = s->histogram_low;
    reply.bin_width = s->bin_width;
    for (int i = 0; i < TML_HISTOGRAM_BINS; i++)
        image_histogram[i] = (double)s->histogram[i];
    reply.histogram = address(image_histogram);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_percentile(tml_context *tml)
{
    (void)tml;
    reply.percentile = tml_image_percentile(&image_stats, request.percentile);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_expose(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_expose_desc desc = {.stats = buffer_of(r->stats),
                                  .by = (tml_expose_by)r->by,
                                  .clip_low = (float)r->clip_low,
                                  .clip_high = (float)r->clip_high,
                                  .percentile = (float)r->percentile,
                                  .ev100 = (float)r->ev100,
                                  .key = (float)r->key,
                                  .bias = (float)r->bias,
                                  .ev_min = (float)r->ev_min,
                                  .ev_max = (float)r->ev_max,
                                  .speed_up = (float)r->speed_up,
                                  .speed_down = (float)r->speed_down,
                                  .seconds = (float)r->seconds,
                                  .reset = r->reset != 0.0,
                                  .state = buffer_of(r->state)};
    return tml_image_expose(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_image_tonemap(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_tonemap_desc desc = {.in = image_of(r),
                                   .out = image_of(r),
                                   .state = buffer_of(r->state),
                                   .scale = (float)r->scale,
                                   .tone = (tml_tone)r->tone,
                                   .white = (float)r->white};
    desc.out.buffer = buffer_of(r->to);
    desc.out.channels = (uint32_t)r->to_channels;
    desc.out.srgb = r->to_srgb != 0.0;
    return tml_image_tonemap(tml, &desc);
}

/* ---- files ----------------------------------------------------------------------------------- */

static tml_volume loaded_volume;

/* The reply holds until web_volume_free. */
EMSCRIPTEN_KEEPALIVE int web_volume_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_volume_load_desc desc = {
        .dims = {(uint64_t)r->dims0, (uint64_t)r->dims1, (uint64_t)r->dims2},
        .type = type_of(r->type),
        .big_endian = r->big_endian != 0.0,
        .skip = (uint64_t)r->skip,
        .spacing = {r->spacing0, r->spacing1, r->spacing2},
        .frame = (uint32_t)r->frame,
        .memory_limit = (uint64_t)r->memory_limit,
    };
    tml_volume *volume = &loaded_volume;
    tml_status status = tml_volume_load_memory(tml, text(r->name), pointer(r->data),
                                               (size_t)r->size, &desc, volume);
    if (status != TML_OK)
        return status;
    reply.data = address(volume->data);
    reply.size = (double)volume->size;
    reply.type = address(tml_type_name(volume->type));
    tell_grid(&volume->grid);
    reply.slope = volume->slope;
    reply.intercept = volume->intercept;
    reply.format = address(volume->format);
    reply.space = address(volume->space);
    reply.comment = address(volume->comment);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_volume_free(tml_context *tml)
{
    tml_volume_free(tml, &loaded_volume);
}

/* The isovalue that Otsu's method finds in size bytes of samples, and the range of the finite ones. */
EMSCRIPTEN_KEEPALIVE int web_suggest_iso(tml_context *tml)
{
    const web_request *r = &request;
    tml_type type = type_of(r->type);
    uint64_t each = type != TML_TYPE_NONE ? tml_type_size(type) : 1;
    tml_value_histogram histogram;
    tml_status status =
        tml_value_histogram_make(tml, pointer(r->data), type, (uint64_t)r->size / each, &histogram);
    if (status != TML_OK)
        return status;
    reply.iso = tml_value_histogram_otsu(&histogram);
    reply.min = histogram.lower;
    reply.max = histogram.upper;
    tml_value_histogram_free(tml, &histogram);
    return TML_OK;
}

static tml_picture loaded_picture;

/* The reply holds until web_picture_free. */
EMSCRIPTEN_KEEPALIVE int web_picture_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_picture *picture = &loaded_picture;
    tml_status status = tml_picture_load_memory(
        tml, text(r->name), pointer(r->data), (size_t)r->size, (uint64_t)r->memory_limit, picture);
    if (status != TML_OK)
        return status;
    reply.data = address(picture->data);
    reply.size = (double)picture->size;
    reply.type = address(tml_type_name(picture->type));
    reply.width = picture->width;
    reply.height = picture->height;
    reply.channels = picture->channels;
    reply.srgb = picture->srgb;
    reply.format = address(picture->format);
    reply.comment = address(picture->comment);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_picture_free(tml_context *tml)
{
    tml_picture_free(tml, &loaded_picture);
}

static tml_points loaded_points;

/* The reply holds until web_points_free. */
EMSCRIPTEN_KEEPALIVE int web_points_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_points *points = &loaded_points;
    io_file file;
    tml_io_open_memory(tml, "tml_points_load", text(r->name), pointer(r->data), (size_t)r->size,
                       &file);
    tml_status status = tml_points_read(&file, points);
    tml_io_close(&file);
    if (status != TML_OK)
        return status;
    reply.positions = address(points->positions);
    reply.radii = address(points->radii);
    reply.values = address(points->values);
    reply.value_name = address(points->value_name);
    reply.count = (double)points->count;
    memcpy(&reply.origin0, points->origin, sizeof points->origin);
    reply.format = address(points->format);
    reply.dropped = (double)points->dropped;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_points_free(tml_context *tml)
{
    tml_points_free(tml, &loaded_points);
}

static tml_mesh_file loaded_mesh;

/* name: a file that index.js has written; its ending may say what it is. */
EMSCRIPTEN_KEEPALIVE int web_mesh_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_mesh_load_desc desc = {.weld = TML_WELD_AUTO, .memory_limit = (uint64_t)r->memory_limit};
    tml_status status = tml_mesh_load(tml, text(r->name), &desc, &loaded_mesh);
    if (status != TML_OK)
        return status;
    const tml_mesh *mesh = &loaded_mesh.mesh;
    reply.positions = address(mesh->positions);
    reply.indices = address(mesh->indices);
    reply.vertex_count = (double)mesh->vertex_count;
    reply.triangle_count = (double)mesh->triangle_count;
    reply.format = address(loaded_mesh.format);
    reply.comment = address(loaded_mesh.comment);
    memcpy(&reply.origin0, mesh->origin, sizeof mesh->origin);
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_mesh_free(tml_context *tml)
{
    tml_mesh_file_free(tml, &loaded_mesh);
}

EMSCRIPTEN_KEEPALIVE int web_mesh_save(tml_context *tml)
{
    const web_request *r = &request;
    tml_mesh mesh = {.positions = pointer(r->vertices),
                     .normals = pointer(r->vertex_normals),
                     .values = pointer(r->vertex_values),
                     .indices = pointer(r->indices),
                     .vertex_count = (uint64_t)r->vertex_count,
                     .triangle_count = (uint64_t)r->triangle_count,
                     .origin = {r->origin0, r->origin1, r->origin2}};
    return tml_mesh_save(tml, text(r->name), &mesh);
}

/* ---- collide --------------------------------------------------------------------------------- */

_Static_assert(TML_COLLIDE_CLASS_COUNT == 5, "class_count0 to 4");

static void tell_tree(tml_tree *tree)
{
    tml_tree_info info;
    tml_tree_describe(tree, &info);
    reply.tree = address(tree);
    reply.vertex_count = (double)info.vertex_count;
    reply.triangle_count = (double)info.triangle_count;
    reply.broken_count = (double)info.broken_count;
    reply.depth = info.depth;
    double *lower = &reply.lower0, *upper = &reply.upper0;
    for (int a = 0; a < 3; a++) {
        lower[a] = info.lower[a];
        upper[a] = info.upper[a];
    }
}

EMSCRIPTEN_KEEPALIVE int web_tree_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_tree_desc desc = {.vertices = buffer_of(r->vertices),
                          .indices = buffer_of(r->indices),
                          .skip_broken = r->skip_broken != 0.0};
    tml_tree *tree;
    tml_status status = tml_tree_create(tml, &desc, &tree);
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}
EMSCRIPTEN_KEEPALIVE void web_tree_destroy(tml_context *tml, tml_tree *tree)
{
    tml_tree_destroy(tml, tree);
}

EMSCRIPTEN_KEEPALIVE int web_tree_refit(tml_context *tml)
{
    tml_tree *tree = pointer(request.tree);
    tml_status status = tml_tree_refit(tml, tree, buffer_of(request.vertices));
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_tree_size(tml_context *tml)
{
    (void)tml;
    reply.size = (double)tml_tree_save_size(pointer(request.tree));
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_tree_save(tml_context *tml)
{
    const web_request *r = &request;
    return tml_tree_save(tml, pointer(r->tree), pointer(r->data), (size_t)r->size);
}

EMSCRIPTEN_KEEPALIVE int web_tree_load(tml_context *tml)
{
    tml_tree *tree;
    tml_status status = tml_tree_load(tml, pointer(request.data), (size_t)request.size, &tree);
    if (status == TML_OK)
        tell_tree(tree);
    return status;
}

/* data: a double, six floats and two words a pose, as in tml_collide_distance_result. */
_Static_assert(sizeof(tml_collide_distance_result) == 40, "read so by index.js");
EMSCRIPTEN_KEEPALIVE int web_collide_distance(tml_context *tml)
{
    const web_request *r = &request;
    return tml_collide_distance(tml, pointer(r->tree), pointer(r->other_tree), pointer(r->poses),
                                (uint32_t)r->pose_count, pointer(r->data));
}

static tml_collide_result hits;

/* What it finds stays until web_collide_free. */
EMSCRIPTEN_KEEPALIVE int web_collide(tml_context *tml)
{
    const web_request *r = &request;
    tml_collide_desc desc = {.a = pointer(r->tree),
                             .b = pointer(r->other_tree),
                             .poses = pointer(r->poses),
                             .pose_count = (uint32_t)r->pose_count,
                             .want = (tml_collide_want)r->what,
                             .classes = (uint32_t)r->classes,
                             .segments = r->segments != 0.0,
                             .method = (tml_collide_method)r->method,
                             .memory_limit = (size_t)r->memory_limit};
    tml_status status = tml_collide(tml, &desc, &hits);
    if (status != TML_OK)
        return status;
    reply.pairs = address(hits.pairs);
    reply.segments = address(hits.segments);
    reply.first = address(hits.first);
    reply.count = (double)hits.count;
    reply.node_pairs = (double)hits.node_pairs;
    reply.step_pairs = address(hits.step_pairs);
    reply.step_count = hits.step_count;
    reply.tested = (double)hits.tested;
    reply.unsure = (double)hits.unsure;
    double *counts = &reply.class_count0;
    for (int kind = 0; kind < TML_COLLIDE_CLASS_COUNT; kind++)
        counts[kind] = (double)hits.class_counts[kind];
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_collide_free(tml_context *tml)
{
    tml_collide_free(tml, &hits);
}

/* ---- subdivide ------------------------------------------------------------------------------- */

EMSCRIPTEN_KEEPALIVE int web_subdivider_create(tml_context *tml)
{
    const web_request *r = &request;
    tml_subdivider_desc desc = {.positions = buffer_of(r->vertices),
                                .indices = buffer_of(r->indices),
                                .crease_edges = buffer_of(r->creases),
                                .crease_sharpness = buffer_of(r->crease_sharpness),
                                .corners = buffer_of(r->corners),
                                .corner_sharpness = buffer_of(r->corner_sharpness),
                                .boundary = (tml_subdivide_boundary)r->boundary,
                                .weights = (tml_subdivide_weights)r->weighting,
                                .fix = r->fix != 0.0};
    tml_subdivider *subdivider;
    tml_status status = tml_subdivider_create(tml, &desc, &subdivider);
    if (status != TML_OK)
        return status;
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, &info);
    reply.subdivider = address(subdivider);
    reply.vertex_count = (double)info.vertex_count;
    reply.edge_count = (double)info.edge_count;
    reply.triangle_count = (double)info.triangle_count;
    reply.boundary_edge_count = (double)info.boundary_edge_count;
    reply.sharp_edge_count = (double)info.sharp_edge_count;
    return TML_OK;
}
EMSCRIPTEN_KEEPALIVE void web_subdivider_destroy(tml_subdivider *subdivider)
{
    tml_subdivider_destroy(subdivider);
}

/* The buffers are JavaScript's from here on. */
static void tell_subdivided(const tml_subdivide_result *result)
{
    reply.vertices = handle_of(result->buffers.positions);
    reply.vertex_normals = handle_of(result->buffers.normals);
    reply.indices = handle_of(result->buffers.indices);
    reply.origins = handle_of(result->buffers.origins);
    reply.vertex_count = (double)result->vertex_count;
    reply.triangle_count = (double)result->triangle_count;
    reply.depth = result->depth;
    reply.error = result->error;
    reply.is_within_budget = result->is_within_budget;
    reply.is_within_depth = result->is_within_depth;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_uniform(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_subdivide_uniform_desc desc = {
        .levels = (uint32_t)r->levels, .limit = r->limit != 0.0, .normals = r->normals != 0.0};
    tml_subdivide_result result;
    tml_status status = tml_subdivide_uniform(pointer(r->subdivider), &desc, &result);
    if (status == TML_OK)
        tell_subdivided(&result);
    return status;
}

static tml_subdivide_adaptive_desc adaptive_desc_of(const web_request *r)
{
    tml_subdivide_adaptive_desc desc = {.criterion = (tml_subdivide_criterion)r->criterion,
                                        .threshold = (float)r->threshold,
                                        .max_depth = (uint32_t)r->depth,
                                        .budget = (uint64_t)r->budget,
                                        .slivers = r->slivers != 0.0,
                                        .normals = r->normals != 0.0,
                                        .origins = r->origins != 0.0};
    if (r->camera != 0.0) {
        memcpy(desc.camera.matrix, pointer(r->camera), sizeof desc.camera.matrix);
        desc.camera.width = (uint32_t)r->width;
        desc.camera.height = (uint32_t)r->height;
        desc.camera.nearest = (float)r->nearest;
        desc.camera.everywhere = r->everywhere != 0.0;
    }
    return desc;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_adaptive(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    const tml_subdivide_adaptive_desc desc = adaptive_desc_of(r);
    tml_subdivide_result result;
    tml_status status = tml_subdivide_adaptive(pointer(r->subdivider), &desc, &result);
    if (status == TML_OK)
        tell_subdivided(&result);
    return status;
}

EMSCRIPTEN_KEEPALIVE int web_subdivide_enqueue(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    tml_subdivide_adaptive_desc adaptive = adaptive_desc_of(r);
    adaptive.buffers = (tml_subdivide_buffers){.positions = buffer_of(r->vertices),
                                               .normals = buffer_of(r->vertex_normals),
                                               .indices = buffer_of(r->indices),
                                               .origins = buffer_of(r->origins_out)};
    return tml_subdivide_adaptive_enqueue(
        pointer(r->subdivider),
        &(tml_subdivide_adaptive_enqueue_desc){.adaptive = &adaptive,
                                               .camera = buffer_of(r->camera_buffer),
                                               .level_triangles = (uint64_t)r->level_triangles,
                                               .counts = buffer_of(r->counts),
                                               .draw = buffer_of(r->draw)});
}
