/* Replaces zeros in a field's desc by the values that tml_field_prepare chooses. */
#ifndef FIELD_RESOLVED_H
#define FIELD_RESOLVED_H

#include <trommel/field.h>

/* resolved may be desc, and iso NULL. On failure neither is changed. */
static inline tml_status resolve_field(tml_context *tml, const tml_field_desc *desc,
                                       tml_field_desc *resolved, double *iso)
{
    tml_field_prepared made;
    tml_status status = tml_field_prepare(tml, &(tml_field_prepare_desc){.field = *desc}, &made);
    if (status != TML_OK)
        return status;
    *resolved = made.field;
    if (iso)
        *iso = made.iso;
    return status;
}

#endif
