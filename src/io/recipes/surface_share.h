/* A surface that several processes make in slabs: which layers each one takes, and how their
 * results become one. */
#ifndef TML_SURFACE_SHARE_H
#define TML_SURFACE_SHARE_H

#include <trommel/volumes.h>

typedef struct layer_share {
    uint64_t first, count; /* count 0: nothing is left for this process */
} layer_share;

/* Chooses this process's share of layers [first, first + count). With bricks, which may be NULL,
 * shares have about as many bricks that one of the isovalues crosses, or in which one of the labels
 * lies; without them, as many layers. Every process has a layer if there are enough. */
layer_share tml_share_layers(uint64_t first, uint64_t count, const tml_team *team,
                             const tml_volume_index *bricks, const tml_surface_desc *surface);

/* Adds up the components of all processes: those that a process holds whole are in its result, and
 * those that go on from one process's layers to the next one's are joined. */
TML_MUST_CHECK tml_status tml_share_join_components(tml_context *tml, const tml_team *team,
                                                    tml_surface_result *result);

/* Makes the counts of all processes the result of each. soup: their welded pieces become a soup. */
TML_MUST_CHECK tml_status tml_share_join_results(tml_context *tml, const tml_team *team, bool soup,
                                                 tml_surface_result *result);

#endif
