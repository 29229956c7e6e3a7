/* What the distance of two meshes is found from on the device: pairs of triangles that may be nearest, of every pose. */
#ifndef COLLIDE_DISTANCE_STREAM_H
#define COLLIDE_DISTANCE_STREAM_H

#include "collide/collide_internal.h"

/* What a tree keeps on the device if it is the a of a call. */
struct collide_near {
    tml_buffer pairs[2], kept, pose, lengths, largest[2]; /* room elements each */
    tml_buffer below, above;
    uint64_t room;
    tml_buffer shapes, view, best, queries,
        places; /* of pose_room poses; queries: 0, 1 ... pose_room */
    uint32_t pose_room;
    tml_buffer count; /* of pairs that the last step kept */
    /* The host's: poses; what it is told. The device's own distances: of pairs, of poses, and which pair is a pose's. */
    tml_buffer poses, told;
    tml_buffer distances, keys, nearest, which, won;
    tml_buffer points[2], triangles;
};

/* One run, from poses to pairs. */
typedef struct near_stream {
    tml_context *tml;
    const char *call;
    tml_tree *a, *b;
    struct collide_near *kept;
    tml_buffer boxes[2], triangles[2], shapes[2]; /* a's, b's */
    collide_step steps[COLLIDE_STEPS_MAX];
    uint32_t step_count;
    uint32_t count;    /* poses, at most */
    tml_status status; /* once something failed, nothing more is done */
    int from;          /* where the pairs are, and the largest number of them so far */
    tml_length length;
} near_stream;

enum {
    NEAR_ROOM_LEAST = 1 << 10,
    NEAR_ROOM_MOST = 1 << 25, /* 64 children each, which 32 bits count */
    /* two lists of pairs, what is kept of the next, their poses, length, two largest, two bounds */
    NEAR_PAIR_BYTES = 2 * 16 + 7 * 4,
};
/* Pairs that are enough for most meshes. */
uint64_t near_usual_room(const tml_context *tml, uint32_t poses);

void near_make(near_stream *run, tml_type type, uint64_t count, const void *data, const char *label,
               tml_buffer *out);
void near_map(near_stream *run, const tml_map_desc *desc);
/* Makes what is not there. On failure none of it is. */
void near_trees_make(near_stream *run, struct collide_near **kept);
void near_room_make(near_stream *run, uint64_t room);
void near_poses_make(near_stream *run, uint32_t room);
void near_drop(tml_context *tml, struct collide_near **kept);

/* Enqueues all up to the pairs of triangles: in kept->pairs[from], as (slot of a, slot of b, pose, bits of a distance),
 * pose by pose, run->length of them; kept->largest[from][0]: pairs that the fullest step made. poses: 12 floats each. */
void near_enqueue(near_stream *run, tml_buffer poses, tml_length length, double limit);
/* The least of values of each pose's pairs, by fold. */
void near_best_enqueue(near_stream *run, tml_fold fold, tml_buffer values, tml_buffer out);

#endif
