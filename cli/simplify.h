/* --simplify: a mesh with fewer triangles, by meshoptimizer, if the build has it (TML_SIMPLIFY). */
#ifndef CLI_SIMPLIFY_H
#define CLI_SIMPLIFY_H

#include <math.h>
#include <stddef.h>

#include <trommel/mesh.h>

#include "options/options.h"

/* The goal; zeroed: no simplification. Of count and error, the first one reached ends it. */
typedef struct simplify_goal {
    struct {
        double ratio;       /* share of the triangles, below 1 */
        uint64_t triangles; /* or their number */
    } count;
    double error; /* bound on about how far the surface moves, in the mesh's units */
    bool check;   /* compute simplify_checks of the result */
} simplify_goal;

/* Rows of an option table for `member`, a simplify_goal; ...: more fields of the first two. */
/* clang-format off */
#define SIMPLIFY_OPTIONS(args, member, ...)                                                        \
    {OPT_CUSTOM, "simplify", .argument = "RATIO|N", .parse = simplify_parse,                       \
     .offset = offsetof(args, member.count),                                                       \
     .brief = "to a share of the triangles, or to N of them",                                      \
     .help = "fewer triangles: a share below 1, such as 0.1, or a number; vertices that stay "     \
             "keep their place, normal and values, and where labels meet they all stay, so that "  \
             "for labels --simplify-error is better; what is closed stays closed, triangles have " \
             "an area, edges of four triangles are cut apart, and small parts go",                 \
     __VA_ARGS__},                                                                                 \
    {OPT_NUMBER, "simplify-error", .argument = "E", .least = 1e-30, .most = INFINITY,              \
     .offset = offsetof(args, member.error),                                                       \
     .help = "as few triangles as leave the surface about where it was: E, in the input's "        \
             "units, bounds the mean over the planes that a vertex stands for, and single "        \
             "points lie farther; with --simplify, what is reached first",                         \
     __VA_ARGS__},                                                                                 \
    {OPT_FLAG, "check", .needs = "simplify|simplify-error",                                        \
     .offset = offsetof(args, member.check),                                                       \
     .help = "tell how far the vertices that were there lie from the simplified mesh, and which "  \
             "of its triangles meet others"}
/* clang-format on */

const char *simplify_parse(const char *text, void *member);
static inline bool simplify_is_asked(const simplify_goal *goal)
{
    return goal->count.ratio > 0 || goal->count.triangles || goal->error > 0;
}

/* Results of --check. */
typedef struct simplify_checks {
    double mean, farthest; /* distances of the original vertices from the new mesh */
    uint64_t pairs;        /* of triangles that meet beyond what they share, as in tml_collide */
    uint64_t boundary_edges, nonmanifold_edges;
} simplify_checks;

/* The result: a mesh with arrays of its own. */
typedef struct simplified {
    tml_mesh mesh;
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES]; /* the mesh's attributes */
    uint64_t before;                                        /* original number of triangles */
    double error; /* about how far the surface moved, in the mesh's units */
    bool is_checked;
    simplify_checks checks;
} simplified;

/* Simplifies an indexed mesh. out must not be moved afterwards.
 * Errors: UNSUPPORTED (no meshoptimizer, or 64-bit indices), OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status simplify_mesh(tml_context *tml, const simplify_goal *goal,
                                        const tml_mesh *mesh, simplified *out);
void simplify_free(tml_context *tml, simplified *made);
/* Reports the result as the object "simplified". */
void simplify_tell(const simplified *made, const char *unit);

#endif
