/* What the functions that JavaScript calls share: each takes a request, which is a record of
 * doubles that index.js fills by name, and answers in a reply, which it reads by name. The two
 * lists of names below are the whole agreement between the two languages, but for the streams:
 * JavaScript writes their descs itself, as layouts.py lays them out.
 *
 * Numbers up to 2^53 are exact in a double. A pointer is a number; a buffer is the address of a
 * tml_buffer, 0 for none. Nothing is checked here that the library checks itself. */
#ifndef WEB_H
#define WEB_H

#include <emscripten.h>
#include <stdlib.h>
#include <string.h>

#include <trommel/gl.h>
#include <trommel/trommel.h>

/* clang-format off */
#define WEB_REQUEST(X)                                                                             \
    X(engine) X(path) X(threads) X(exact_counts) X(buffer) X(type) X(count) X(data) X(first)       \
    X(host) X(label) X(texture) X(width) X(height) X(name) X(colours) X(colours_format)            \
    X(tile_width) X(tile_height) X(slices) X(channels)                                             \
    WEB_REQUEST_KERNEL(X) WEB_REQUEST_MESH(X) WEB_REQUEST_MORE(X)
#define WEB_REPLY(X)                                                                               \
    X(tml) X(name) X(features) X(threads) X(is_software) X(path) X(buffer) X(texture) X(width)     \
    X(height) X(count) X(glsl) X(data) X(type)                                                     \
    WEB_REPLY_KERNEL(X) WEB_REPLY_MESH(X) WEB_REPLY_MORE(X)

/* What surfaces and meshes alone (WEB_MESHES) have no use for, and streams alone (WEB_STREAMS). */
#ifdef WEB_MESHES
#    define WEB_REQUEST_KERNEL(X)
#    define WEB_REPLY_KERNEL(X)
#else
#define WEB_REQUEST_KERNEL(X)                                                                      \
    X(source) X(run) X(result) X(param_count) X(param0) X(param1) X(param2) X(param3) X(param4)    \
    X(param5) X(library)
#define WEB_REPLY_KERNEL(X) X(kernel)
#endif
#ifdef WEB_STREAMS
#    define WEB_REQUEST_MESH(X)
#    define WEB_REPLY_MESH(X)
#else
#define WEB_REQUEST_MESH(X)                                                                        \
    X(size) X(keep) X(in0) X(mask) X(k) X(method) X(out) X(indices) X(counts) X(dims0) X(dims1)    \
    X(dims2) X(spacing0) X(spacing1) X(spacing2) X(origin0) X(origin1) X(origin2) X(direction0)    \
    X(direction1) X(direction2) X(direction3) X(direction4) X(direction5) X(direction6)            \
    X(direction7) X(direction8) X(points) X(radii) X(radius) X(kind) X(field_kernel) X(margin)     \
    X(resolution) X(is_field) X(volume) X(attribute) X(index) X(iso) X(isovalues)                  \
    X(isovalue_count) X(labels) X(label_count) X(all_labels) X(normals) X(soup) X(caps) X(flip)    \
    X(drop_degenerate) X(largest_component) X(region0) X(region1) X(region2) X(region3)            \
    X(region4) X(region5) X(position0) X(position1) X(position2) X(iso_buffer) X(iso_index)        \
    X(cells) X(vertices) X(vertex_normals) X(vertex_values) X(wants_cells) X(triangle_cells)       \
    X(components_only) X(room) X(vertex_count) X(triangle_count) X(big_endian) X(skip) X(frame)    \
    X(memory_limit)
#define WEB_REPLY_MESH(X)                                                                          \
    X(size) X(dims0) X(dims1) X(dims2) X(spacing0) X(spacing1) X(spacing2) X(origin0) X(origin1)   \
    X(origin2) X(direction0) X(direction1) X(direction2) X(direction3) X(direction4)               \
    X(direction5) X(direction6) X(direction7) X(direction8) X(slope) X(intercept) X(format)        \
    X(space) X(unit) X(comment) X(positions) X(radii) X(values) X(value_name) X(dropped)           \
    X(radius) X(margin) X(iso) X(vertices) X(vertex_normals) X(vertex_values) X(indices)           \
    X(triangle_cells) X(vertex_count) X(triangle_count) X(active_cells) X(parts) X(part_count)     \
    X(stages) X(stage_count) X(components) X(boundary_edges) X(nonmanifold_edges) X(euler)         \
    X(area) X(enclosed) X(lower0) X(lower1) X(lower2) X(upper0) X(upper1) X(upper2)
#endif
#if defined WEB_MESHES || defined WEB_STREAMS
#    define WEB_REQUEST_MORE(X)
#    define WEB_REPLY_MORE(X)
#else
#define WEB_REQUEST_MORE(X)                                                                        \
    X(srgb) X(picture_values) X(to) X(to_channels) X(to_srgb) X(stats) X(state) X(luminance) X(what)     \
    X(weight0) X(weight1) X(weight2) X(histogram_low) X(bin_log2) X(mask_width) X(mask_height)        \
    X(meter) X(filter) X(level) X(last) X(log_luminance)                                     \
    X(floor) X(by) X(clip_low) X(clip_high) X(percentile) X(ev100) X(key) X(bias) X(ev_min)        \
    X(ev_max) X(speed_up) X(speed_down) X(seconds) X(reset) X(scale) X(tone) X(white)        \
    X(tree) X(other_tree) X(poses) X(pose_count) X(classes) X(segments) X(skip_broken)        \
    X(rule) X(is_signed) X(sides) X(distances) X(positions) X(triangles) X(features)               \
    X(directions) X(t_max) X(hits) X(t) X(barycentrics) X(rays)                                    \
    X(subdivider) X(fix) X(levels) X(limit) X(criterion) X(threshold) X(depth) X(budget) X(origins)   \
    X(creases) X(crease_sharpness) X(corners) X(corner_sharpness) X(boundary) X(weighting)         \
    X(camera) X(nearest) X(measure_outside) X(slivers) X(camera_buffer) X(level_triangles) X(origins_out) X(draw)

#define WEB_REPLY_MORE(X)                                                                          \
    X(channels) X(srgb) X(pixels) X(positive) X(zero) X(negative) X(nan) X(infinite) X(weight)     \
    X(min) X(max) X(mean) X(deviation) X(log2_mean) X(geometric_mean) X(histogram_low)             \
    X(bin_width) X(histogram) X(percentile)                                                        \
    X(tree) X(broken_count) X(depth) X(pairs) X(first) X(segments) X(node_pairs) X(tested)         \
    X(step_pairs) X(step_count)                                                                    \
    X(unsure) X(class_count0) X(class_count1) X(class_count2) X(class_count3) X(class_count4) \
    X(subdivider) X(edge_count) X(boundary_edge_count) X(origins) X(error) X(is_within_budget)       \
    X(is_within_depth) X(sharp_edge_count)
#endif
/* clang-format on */

#define WEB_FIELD(name) double name;
typedef struct web_request {
    WEB_REQUEST(WEB_FIELD)
} web_request;
typedef struct web_reply {
    WEB_REPLY(WEB_FIELD)
} web_reply;

extern web_request request;
extern web_reply reply;

static inline void *pointer(double address)
{
    return (void *)(uintptr_t)address;
}

static inline double address(const void *pointer)
{
    return (double)(uintptr_t)pointer;
}

static inline const char *text(double address)
{
    return pointer(address);
}

static inline tml_buffer buffer_of(double address)
{
    return address != 0.0 ? *(const tml_buffer *)pointer(address) : (tml_buffer){0};
}

/* A handle for JavaScript, which frees it with the buffer (web_buffer_destroy); 0 for none. */
static inline double handle_of(tml_buffer buffer)
{
    if (tml_buffer_is_none(buffer))
        return 0.0;
    tml_buffer *handle = malloc(sizeof *handle);
    if (handle)
        *handle = buffer;
    return address(handle);
}

static inline tml_type type_of(double name)
{
    return name != 0.0 ? tml_type_from_name(text(name)) : TML_TYPE_NONE;
}

#ifndef WEB_STREAMS
static inline tml_grid grid_of(const web_request *r)
{
    return (tml_grid){
        .dims = {(uint64_t)r->dims0, (uint64_t)r->dims1, (uint64_t)r->dims2},
        .spacing = {r->spacing0, r->spacing1, r->spacing2},
        .origin = {r->origin0, r->origin1, r->origin2},
        .direction = {r->direction0, r->direction1, r->direction2, r->direction3, r->direction4,
                      r->direction5, r->direction6, r->direction7, r->direction8},
    };
}

static inline void tell_grid(const tml_grid *grid)
{
    double *dims = &reply.dims0, *spacing = &reply.spacing0, *origin = &reply.origin0;
    for (int a = 0; a < 3; a++) {
        dims[a] = (double)grid->dims[a];
        spacing[a] = grid->spacing[a];
        origin[a] = grid->origin[a];
    }
    memcpy(&reply.direction0, grid->direction, sizeof grid->direction);
}
#endif

/* Of a context on WebGL (web_gl.c; without_gl.c where a part has none). */
const tml_gl_desc *web_gl_desc(void);
void web_gl_tell(tml_context *tml);

static inline tml_gl_image colours_of(const web_request *r)
{
    return (tml_gl_image){(uint32_t)r->colours, (uint32_t)r->colours_format};
}

#endif
