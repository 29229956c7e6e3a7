/* The distance of two meshes on the device: finds pairs of triangles that may be nearest. */
#ifndef COLLIDE_DISTANCE_STREAM_H
#define COLLIDE_DISTANCE_STREAM_H

#include "collide/collide_internal.h"
#include "stream/program.h"

/* The part of a program that goes from poses to pairs of triangles. */
typedef struct distance_stream {
    program *p;
    tml_tree *a, *b;
    uint32_t count; /* maximum number of poses */
    uint64_t room;  /* number of pairs that fit in each step */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    tml_buffer boxes[2], triangles[2], shapes[2]; /* [0]: a's, [1]: b's */
    /* Arrays with an element per pair: the pair (slot of a, slot of b, pose, bits of a distance),
     * sorted by pose; and its pose. Element 0 of the other two: the total of children, and the
     * number of pairs that the fullest step made. */
    tml_buffer pairs, pose, children, largest;
    tml_length length;  /* number of pairs */
    tml_buffer view;    /* trees and poses, as kernels read them */
    tml_buffer best;    /* upper bound of each pose's distance */
    tml_buffer numbers; /* 0, 1 ... count */
} distance_stream;

enum {
    DISTANCE_ROOM_LEAST = 1 << 10,
    DISTANCE_ROOM_MOST = 1 << 25, /* 64 children per pair: 2^31 in all */
    /* two lists of pairs, the kept indices, poses, children, two largest, two bounds */
    DISTANCE_PAIR_BYTES = 2 * 16 + 7 * 4,
};
/* Returns a number of pairs that is enough for most meshes. */
uint64_t distance_usual_room(const tml_context *tml, uint32_t poses);

/* Adds all steps up to the pairs of triangles. poses: 12 floats per pose. */
void distance_add(distance_stream *run, tml_buffer poses, tml_length length, double limit);
/* Adds an array with an element per pair. */
tml_buffer distance_array(const distance_stream *run, tml_type type);
/* Folds the values of each pose's pairs.
 * pose: each pair's pose. type: of the result.
 * Returns: an array with an element per pose. */
tml_buffer distance_add_best(const distance_stream *run, tml_fold fold, tml_buffer values,
                             tml_buffer pose, tml_type type);

#endif
