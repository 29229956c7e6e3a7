/* Shared by all descents of two trees: schedule, poses, exact decisions, room for pairs. */
#include <math.h>
#include <string.h>

#include "collide/collide_internal.h"
#include "core/matrix.h"
#include "exact/exact.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"

/* A side whose boxes are more than this many times as large is split, whatever its levels. A box is
 * split as soon as the other side's boxes have half its size; similar meshes are split in turn. */
static const double coarser = 2;

uint32_t collide_schedule(const tml_tree *a, const tml_tree *b, double b_scale,
                          collide_step steps[COLLIDE_STEPS_MAX])
{
    uint32_t a_level = a->levels, b_level = b->levels, count = 0;
    if (a_level == 0 || b_level == 0)
        return 0;
    while (a_level + b_level > 0) {
        bool splits_b = b_level >= a_level;
        if (a_level > 1 && b_level > 1) { /* the last two steps are always the same */
            double a_size = a->level_size[a_level], b_size = b_scale * b->level_size[b_level];
            if (b_size > coarser * a_size && b_scale > 0)
                splits_b = true;
            else if (a_size > coarser * b_size && b_scale > 0)
                splits_b = false;
        }
        steps[count++] = (collide_step){splits_b, a_level, b_level};
        if (splits_b)
            b_level--;
        else
            a_level--;
    }
    return count;
}

uint64_t collide_memory_limit(tml_context *tml, size_t asked)
{
    const uint64_t most = (uint64_t)1 << 30;
    tml_device_info device;
    if (asked)
        return asked;
    tml_context_describe(tml, &device);
    return device.memory ? TML_MIN_OF(most, device.memory / 4) : most;
}

/* ---- poses ----------------------------------------------------------------------------------- */

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static vec4 row_of(const float matrix[12], int r)
{
    return VEC4(matrix[4 * r], matrix[4 * r + 1], matrix[4 * r + 2], matrix[4 * r + 3]);
}

double collide_scale_of(const collide_pose *poses, uint32_t count)
{
    double sum = 0;
    for (uint32_t p = 0; p < count; p++) {
        double squares = 0;
        for (int i = 0; i < 12; i++)
            squares += i % 4 < 3 ? (double)poses[p].matrix[i] * (double)poses[p].matrix[i] : 0;
        sum += sqrt(squares / 3);
    }
    return sum / count;
}

void collide_posed_triangle(const tml_tree *b, const collide_pose *pose, uint32_t slot,
                            float out[9])
{
    float own[9];
    tree_triangle(b, slot, own);
    if (pose->is_identity) {
        memcpy(out, own, sizeof own);
        return;
    }
    for (int k = 0; k < 9; k++)
        out[k] = collide_pose_row(row_of(pose->matrix, k % 3),
                                  VEC3(own[k - k % 3], own[k - k % 3 + 1], own[k - k % 3 + 2]));
}

/* Inverts an affine matrix of 3 rows of 4. Returns false if it is singular or its inverse has an
 * element of at least 2^60. */
static bool invert(const float m[12], double out[3][4])
{
    double own[9], inverse[9], largest = 0;
    for (int i = 0; i < 9; i++)
        own[i] = (double)m[4 * (i / 3) + i % 3];
    double determinant = tml_invert3(own, inverse);
    if (determinant == 0 || !isfinite(determinant))
        return false;
    for (int r = 0; r < 3; r++) {
        memcpy(out[r], inverse + 3 * r, 3 * sizeof(double));
        out[r][3] = 0;
        for (int c = 0; c < 3; c++)
            out[r][3] -= out[r][c] * (double)m[4 * c + 3];
        for (int c = 0; c < 4; c++)
            largest = fmax(largest, fabs(out[r][c]));
    }
    return largest < 0x1p60;
}

/* The largest magnitude of a tree's coordinates, per axis. */
static void reach_of(const tml_tree *tree, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = fmax(fabs((double)tree->lower[k]), fabs((double)tree->upper[k]));
}

/* Sets the pose's margin: how far, per axis, a posed vertex of b may lie from its original place
 * after inverse is applied in float. It is the sum of three errors: the difference of inverse times
 * matrix from the identity, 4 roundings of the pose, and 4 roundings of the inverse. A rounding is
 * 2^-24 of the sum of the terms' magnitudes; 2^-21 for all leaves room for what is not counted,
 * such as the rounding of the widened box. */
static void pose_margin(const tml_tree *b, collide_pose *pose)
{
    double reach[3], posed[3], error[3];
    reach_of(b, reach);
    for (int r = 0; r < 3; r++) {
        const float *m = pose->matrix + 4 * r;
        posed[r] = fabs((double)m[3]);
        for (int c = 0; c < 3; c++)
            posed[r] += fabs((double)m[c]) * reach[c];
        error[r] = 0x1p-21 * posed[r];
    }
    for (int r = 0; r < 3; r++) {
        const float *inverse = pose->inverse + 4 * r;
        double margin = 0x1p-21 * (fabs((double)inverse[3]) + reach[r]);
        double shift = inverse[3];
        for (int c = 0; c < 3; c++) {
            double product = c == r ? -1.0 : 0.0;
            for (int k = 0; k < 3; k++)
                product += (double)inverse[k] * (double)pose->matrix[4 * k + c];
            margin += fabs(product) * reach[c];
            shift += (double)inverse[c] * (double)pose->matrix[4 * c + 3];
            margin += fabs((double)inverse[c]) * (error[c] + 0x1p-21 * posed[c]);
        }
        margin += fabs(shift);
        pose->margin[r] = (float)(margin * 1.0001) + 0x1p-120f;
    }
}

bool collide_pose_is_usable(const tml_tree *b, const float *matrix)
{
    double reach[3];
    reach_of(b, reach);
    for (int r = 0; r < 3 && matrix; r++) {
        const float *m = matrix + 4 * r;
        double posed = fabs((double)m[3]);
        for (int c = 0; c < 3; c++)
            posed += fabs((double)m[c]) * reach[c];
        if (!(posed <= (double)COLLIDE_COORDINATE_MAX))
            return false;
    }
    return true;
}

tml_status collide_pose_make(tml_context *tml, const char *call, const tml_tree *a,
                             const tml_tree *b, const float *matrix, uint32_t number,
                             collide_pose *out)
{
    *out = (collide_pose){.is_identity = 0};
    memcpy(out->matrix, matrix ? matrix : identity, sizeof out->matrix);
    out->is_identity = memcmp(out->matrix, identity, sizeof identity) == 0;
    double reach[3], inverse[3][4];
    reach_of(b, reach);
    for (int r = 0; r < 3; r++) {
        const float *m = out->matrix + 4 * r;
        double posed = fabs((double)m[3]);
        for (int c = 0; c < 3; c++)
            posed += fabs((double)m[c]) * reach[c];
        for (int c = 0; c < 4; c++)
            if (!isfinite(m[c]))
                return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                 "%s: poses: element %d of matrix %u is %g, needs a finite number",
                                 call, 4 * r + c, number, (double)m[c]);
        if (!(posed <= (double)COLLIDE_COORDINATE_MAX))
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: poses: matrix %u takes b to coordinates of up to %g, needs less than "
                "2^100",
                call, number, posed);
    }
    double a_reach[3], farthest = 0;
    reach_of(a, a_reach);
    for (int k = 0; k < 3; k++)
        farthest = fmax(farthest, fmax(a_reach[k], reach[k]));
    out->margin[0] = out->margin[1] = out->margin[2] = 0x1p120f;
    if (!out->is_identity && farthest < 0x1p60 && invert(out->matrix, inverse)) {
        for (int i = 0; i < 12; i++)
            out->inverse[i] = (float)inverse[i / 4][i % 4];
        pose_margin(b, out);
    }
    return TML_OK;
}

tml_collide_class collide_settle(const collide_job *job, const collide_pose *pose, uint32_t a_slot,
                                 uint32_t b_slot)
{
    float a[9], b[9];
    tree_triangle(job->a, a_slot, a);
    collide_posed_triangle(job->b, pose, b_slot, b);
    return job->is_self ? collide_exact_neighbours(a, b, NULL) : collide_exact(a, b, NULL);
}

tml_status collide_pairs_grow(collide_job *job, uint64_t count)
{
    if (job->pair_count + count <= job->pair_capacity)
        return TML_OK;
    uint64_t capacity = TML_MAX_OF(job->pair_count + count, job->pair_capacity * 2);
    tml_collide_pair *pairs = tml_alloc_array(job->tml, capacity, sizeof *pairs);
    if (!pairs)
        return tml_error(
            job->tml, TML_ERROR_OUT_OF_MEMORY,
            "tml_collide: no memory for %llu pairs; ask for TML_COLLIDE_WANT_COUNT, fewer "
            "classes or fewer poses",
            (unsigned long long)capacity);
    if (job->pair_count)
        memcpy(pairs, job->pairs, (size_t)job->pair_count * sizeof *pairs);
    tml_free(job->tml, job->pairs, (size_t)job->pair_capacity * sizeof *pairs);
    job->pairs = pairs;
    job->pair_capacity = capacity;
    return TML_OK;
}

#include "kernels/kernel_end.h"
