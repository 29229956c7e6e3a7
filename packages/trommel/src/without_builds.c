/* What JavaScript does not offer and a page need not load: trees that are built on the device, in the place of
 * src/collide/collide_build.c. */
#include "collide/collide_internal.h"

tml_status collide_build_create(tml_context *tml, const tml_tree_desc *desc, tml_tree *tree)
{
    (void)desc;
    (void)tree;
    return tml_error(tml, TML_ERROR_UNSUPPORTED, "tml_tree_create: on_device: not in this build");
}

void collide_build_destroy(tml_context *tml, tml_tree *tree)
{
    (void)tml;
    (void)tree;
}

tml_status collide_tree_fetch(tml_context *tml, const char *call, tml_tree *tree, uint32_t parts)
{
    (void)tml;
    (void)call;
    (void)tree;
    (void)parts;
    return TML_OK;
}
