/* The choices of a surface, and which engines and calls support the topology of the trilinear
 * interpolant. */
#include <float.h>

#include "stream/desc.h"
#include "surface/surface_internal.h"

static const desc_range collapse_range = {0, DBL_MAX, "a finite length, or 0 for none"};
static const desc_row rows[] = {
    DESC_ROW(tml_surface_desc, topology, DESC_ENUM, .of = "tml_topology",
             .most = TML_TOPOLOGY_TRILINEAR),
    DESC_ROW(tml_surface_desc, normals, DESC_ENUM, .of = "tml_normals", .most = TML_NORMALS_SOBEL),
    DESC_ROW(tml_surface_desc, collapse, DESC_F64, .range = &collapse_range)};

tml_status surface_check_choices(tml_context *tml, const char *call, const tml_surface_desc *desc,
                                 bool on_host)
{
    tml_surface_desc checked = *desc;
    desc_numbers numbers = {0};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), &checked, &numbers);
    if (status != TML_OK || desc->topology == TML_TOPOLOGY_SEPARATED)
        return status;
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
