/* What the distance of two meshes is found from on the device: pairs of triangles that may be
 * nearest, of every pose. */
#ifndef COLLIDE_DISTANCE_STREAM_H
#define COLLIDE_DISTANCE_STREAM_H

#include "collide/collide_internal.h"
#include "stream/program.h"

/* A program's part from poses to pairs. */
typedef struct distance_stream {
    program *p;
    tml_tree *a, *b;
    uint32_t count; /* poses, at most */
    uint64_t room;  /* pairs that a step has room for */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    tml_buffer boxes[2], triangles[2], shapes[2]; /* a's, b's */
    /* Arrays. Of pairs: (slot of a, slot of b, pose, bits of a distance), pose by pose; their
     * poses; how many children all have; how many pairs the fullest step made (element 0 of
     * either). */
    tml_buffer pairs, pose, children, largest;
    tml_length length;  /* pairs */
    tml_buffer view;    /* trees and poses, as kernels read them */
    tml_buffer best;    /* what poses are certainly not farther apart than */
    tml_buffer numbers; /* 0, 1 ... count */
} distance_stream;

enum {
    DISTANCE_ROOM_LEAST = 1 << 10,
    DISTANCE_ROOM_MOST = 1 << 25, /* 64 children each, which 32 bits count */
    /* two lists of pairs, what is kept of the next, their poses, children, two largest, two
     * bounds */
    DISTANCE_PAIR_BYTES = 2 * 16 + 7 * 4,
};
/* Pairs that are enough for most meshes. */
uint64_t distance_usual_room(const tml_context *tml, uint32_t poses);

/* Adds all steps up to the pairs of triangles. poses: 12 floats each. */
void distance_add(distance_stream *run, tml_buffer poses, tml_length length, double limit);
/* An array of an element a pair. */
tml_buffer distance_array(const distance_stream *run, tml_type type);
/* The least of the values of each pose's pairs, by fold. pose: the pairs' poses; type: of what is
 * returned. */
tml_buffer distance_add_best(const distance_stream *run, tml_fold fold, tml_buffer values,
                             tml_buffer pose, tml_type type);

#endif
