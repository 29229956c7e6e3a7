/* Which engines and calls support the topology of the trilinear interpolant. */
#include "surface/surface_internal.h"

tml_status surface_check_trilinear(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                   bool on_host)
{
    if (desc->label_count || desc->all_labels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.topology is TRILINEAR, which labels do not have: nothing is "
                         "interpolated between them",
                         call);
    if (!on_host && surface_engine(tml)->trilinear < SURFACE_TRILINEAR_ALWAYS)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "%s: desc.topology is TRILINEAR, which the %s engine %s; open the CPU engine", call,
            tml->engine->name,
            surface_engine(tml)->trilinear ? "makes by tml_surface alone, of volumes"
                                           : "does not make on this path");
    return TML_OK;
}
