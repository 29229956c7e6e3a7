/* The sum of the weights that tml_field_mean uses. */
#include "field/field_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
/* Uses the formulas above. */
#include "kernels/field_mean.k.h"

#include "field_library.h"

/* Reads only the weight. The means are unused, so the points are passed as values, too. */
TML_KERNEL_WITH(field, float, field_weight, (vec3 at, tml_words plan, tml_words points),
                { return field_mean(at, plan, points, points, 1u).weight; })

#include "kernels/kernel_end.h"

const tml_kernel *const field_weights_kernel = TML_USE(field_weight);
