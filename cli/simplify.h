/* --simplify: a mesh of fewer triangles, by meshoptimizer, where the build found it
 * (TML_SIMPLIFY). */
#ifndef CLI_SIMPLIFY_H
#define CLI_SIMPLIFY_H

#include <math.h>
#include <stddef.h>

#include <trommel/mesh.h>

#include "options/options.h"

/* What is asked for. Zeroed: nothing. Where both are given, what is reached first ends it. */
typedef struct simplify_goal {
    struct {
        double ratio;       /* of the triangles, below 1 */
        uint64_t triangles; /* or so many */
    } count;
    double error; /* the surface moves by about so much at most, in the mesh's units */
    bool check;   /* what is left is looked at: simplify_checks */
} simplify_goal;

/* Rows of an option table for a simplify_goal, a member of struct args; what else is so of the
 * first two. */
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

/* What --check tells. */
typedef struct simplify_checks {
    double mean, farthest; /* distances of the vertices that were there */
    uint64_t pairs; /* of triangles that meet outside what they share, as tml_collide has them */
    uint64_t boundary_edges, nonmanifold_edges;
} simplify_checks;

/* What came of it: a mesh over arrays of its own. */
typedef struct simplified {
    tml_mesh mesh;
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES]; /* the mesh's */
    uint64_t before;                                        /* triangles */
    double error; /* the surface has moved by about so much, in the mesh's units */
    bool is_checked;
    simplify_checks checks;
} simplified;

/* Of an indexed mesh. out stays where it is. Errors: UNSUPPORTED (the build has no meshoptimizer,
 * or indices have 64 bits), OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status simplify_mesh(tml_context *tml, const simplify_goal *goal,
                                        const tml_mesh *mesh, simplified *out);
void simplify_free(tml_context *tml, simplified *made);
/* Tells what came of it: the object "simplified". */
void simplify_tell(const simplified *made, const char *unit);

#endif
