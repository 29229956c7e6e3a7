/* Divides a surface in slabs among processes: which layers a process works on, and how the results
 * are combined. */
#ifndef TML_SURFACE_SHARE_H
#define TML_SURFACE_SHARE_H

#include <trommel/volumes.h>

typedef struct layer_share {
    uint64_t first, count; /* count 0: no layers are left for this process */
} layer_share;

/* Chooses this process's share of layers [first, first + count). Every process has a layer if there
 * are enough.
 * bricks  shares have about equally many bricks that an isovalue crosses or in which a label lies;
 *         NULL: equally many layers */
layer_share tml_share_layers(uint64_t first, uint64_t count, const tml_team *team,
                             const tml_volume_index *bricks, const tml_surface_desc *surface);

/* Joins components that continue from one process's layers to the next one's, and counts each in
 * the result of the process in which it ends. Components inside a process are counted already. */
TML_MUST_CHECK tml_status tml_share_join_components(tml_context *tml, const tml_team *team,
                                                    tml_surface_result *result);

/* Sets each process's result to the counts of all processes. soup: the welded pieces become a
 * soup. */
TML_MUST_CHECK tml_status tml_share_join_results(tml_context *tml, const tml_team *team, bool soup,
                                                 tml_surface_result *result);

#endif
