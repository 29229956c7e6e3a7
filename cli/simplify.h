/* --simplify: a mesh of fewer triangles, by meshoptimizer, where the build found it (TML_SIMPLIFY). */
#ifndef CLI_SIMPLIFY_H
#define CLI_SIMPLIFY_H

#include <trommel/io.h>

#include "options.h"

/* What is asked for. Zeroed: nothing. */
typedef struct simplify_goal {
    double ratio;       /* of the triangles, below 1 */
    uint64_t triangles; /* or so many */
} simplify_goal;

/* A row of an option table for a simplify_goal. */
#define SIMPLIFY_OPTION(member_offset, ...)                                                        \
    {                                                                                              \
        OPT_CUSTOM, "simplify", .argument = "RATIO|N", .parse = simplify_parse,                    \
                                .offset = member_offset,                                           \
                                .brief = "to a share of the triangles, or to N of them",           \
                                .help = "fewer triangles: a share below 1, such as 0.1, or a "     \
                                        "number; vertices that stay keep their place, normal and " \
                                        "value; what is closed stays closed, but edges of more "   \
                                        "than two triangles may arise",                            \
                                __VA_ARGS__                                                        \
    }

const char *simplify_parse(const char *text, void *member);
static inline bool simplify_is_asked(const simplify_goal *goal)
{
    return goal->ratio > 0 || goal->triangles;
}

/* What came of it: a mesh over arrays of its own. */
typedef struct simplified {
    tml_mesh mesh;
    uint64_t before; /* triangles */
    double error;    /* the surface has moved by about so much, in the mesh's units */
    double size;     /* of the mesh: its longest side */
} simplified;

/* Of an indexed mesh. Errors: UNSUPPORTED (the build has no meshoptimizer, or indices have 64 bits), OUT_OF_MEMORY,
 * CANCELLED. */
TML_MUST_CHECK tml_status simplify_mesh(tml_context *tml, const simplify_goal *goal,
                                        const tml_mesh *mesh, simplified *out);
void simplify_free(tml_context *tml, simplified *made);
/* Tells what came of it: the object "simplified". */
void simplify_tell(const simplified *made);

#endif
