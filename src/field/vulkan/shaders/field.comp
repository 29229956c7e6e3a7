/* A workgroup gathers a brick's points from the bins that its support touches: bins in ascending
 * order, and points of a bin in source order, as on the CPU. An invocation has two samples. Points
 * whose support meets the brick are compacted into shared memory, from which all invocations read
 * them. */
#include "field.glsl"

layout(constant_id = 0) const int FORMULA = FIELD_WENDLAND_C2;
layout(constant_id = 1) const bool SHEARED = false;
layout(constant_id = 2) const bool HAS_DENSITIES = false;
layout(constant_id = 3) const bool HAS_SHAPES = false;
const uint SHAPE_WORDS = 10u; /* FIELD_SHAPE_WORDS: xx xy xz yy yz zz, share, support */

shared uint sums[SUBGROUPS_MAX];
shared uint bin_end[GROUP];      /* inclusive prefix of the points in the bins of this batch */
shared vec4 near_points[GROUP]; /* position in samples, relative to the brick's first; reach */
shared float near_shares[GROUP];
shared uint near_numbers[GROUP];

/* Exclusive prefix sum of n over the invocations, and the total. */
uint group_scan(uint n, out uint total)
{
    uint inclusive = subgroupInclusiveAdd(n);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u)
        sums[subgroup_index()] = inclusive;
    barrier();
    uint before = 0u;
    total = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        if (s == subgroup_index())
            before = total;
        total += sums[s];
    }
    barrier();
    return before + inclusive - n;
}

uvec3 bin_at(bin_box box, uint i)
{
    uint row = i / box.count.x;
    return box.first + uvec3(i % box.count.x, row % box.count.y, row / box.count.y);
}
uint bin_number(bin_box box, uvec3 at)
{
    return box.first_bin + at.x + box.bins.x * (at.y + box.bins.y * at.z);
}

/* Point k of a batch of bins, which starts at bin first of the box. Returns the point relative to
 * the brick. number: its index. */
vec4 find_point(bin_box box, uint first, uint k, uvec3 base, out uint number)
{
    uint m = 0u; /* bins that end at k or before */
    for (uint bit = GROUP / 2u; bit != 0u; bit >>= 1)
        if (bin_end[m + bit - 1u] <= k)
            m += bit;
    uvec3 at = bin_at(box, first + m);
    uint before = m == 0u ? 0u : bin_end[m - 1u];
    number = LOAD_U32(args.starts, bin_number(box, at)) + k - before;
    vec4 point = uintBitsToFloat(quads_at(address_of(args.points, number, 16u)).v[0]);
    point.xyz += vec3(ivec3(at << box.edge_log2) - ivec3(base));
    return point;
}

float shape_at(uint number, uint word)
{
    return LOAD_F32(args.densities, SHAPE_WORDS * number + word);
}

bool is_near(vec4 point, uint number)
{
    vec3 support =
        vec3(field_support(point.w, args.extent_x), field_support(point.w, args.extent_y),
             field_support(point.w, args.extent_z));
    if (HAS_SHAPES)
        support = vec3(shape_at(number, 7u), shape_at(number, 8u), shape_at(number, 9u));
    return field_is_near(point.xyz, support, vec3(0.0), vec3(float(BRICK - 1u)));
}

/* Squared length of d in units of the reach. d: in samples; unit: 1 / reach. */
float square_of(vec3 d, float unit)
{
    vec3 world = vec3(args.xx, args.yy, args.zz) * d;
    if (SHEARED) {
        world.x += args.xy * d.y + args.xz * d.z;
        world.y += args.yz * d.z;
    }
    world *= unit;
    return dot(world, world);
}

float square_in(vec3 straight, vec3 shear, vec3 d)
{
    vec3 world = straight * d + vec3(shear.x * d.y + shear.y * d.z, shear.z * d.z, 0.0);
    return dot(world, world);
}

void gather_brick(uint number)
{
    uvec3 counts = brick_counts();
    uint brick_row = number / counts.x;
    uvec3 base = BRICK * uvec3(number % counts.x, brick_row % counts.y,
                               brick_row / counts.y + args.z_first / BRICK);

    /* An invocation has two samples along z. A subgroup then spans few layers, so that all its
     * lanes skip many points together. */
    uint t = gl_LocalInvocationID.x;
    uvec3 offset = uvec3(t % BRICK, t / BRICK % BRICK, t / (BRICK * BRICK) * 2u);
    uvec3 at = base + offset;
    vec3 position = vec3(offset);
    bvec2 wanted = bvec2(false);
    if (at.x < args.dims_x && at.y < args.dims_y)
        wanted = bvec2(at.z >= args.z_first && at.z < args.z_end,
                       at.z + 1u >= args.z_first && at.z + 1u < args.z_end);
    vec2 value = vec2(args.background);
    if (args.window_first != 0u) {
        if (wanted.x)
            value.x = LOAD_F32(row_at(at.y, at.z), at.x);
        if (wanted.y)
            value.y = LOAD_F32(row_at(at.y, at.z + 1u), at.x);
    }

    uint seen = 0u; /* points of the bins before this batch */
    for (uint level = 0u; level < args.level_count; level++) {
        bin_box box = bins_near(level, base);
        uint bins = box.count.x * box.count.y * box.count.z;
        for (uint first = 0u; first < bins; first += GROUP) {
            uint here = 0u, total;
            if (first + t < bins) {
                uint bin = bin_number(box, bin_at(box, first + t));
                here = LOAD_U32(args.starts, bin + 1u) - LOAD_U32(args.starts, bin);
            }
            uint end = group_scan(here, total) + here;
            bin_end[t] = end;
            barrier();

            uint from = min(max(seen, args.window_first) - seen, total);
            uint to = min(max(seen, args.window_end) - seen, total);
            for (uint chunk = from; chunk < to; chunk += GROUP) {
                vec4 point = vec4(0.0);
                uint number = 0u;
                bool near = false;
                if (chunk + t < to) {
                    point = find_point(box, first, chunk + t, base, number);
                    near = is_near(point, number);
                }
                uint count;
                uint place = group_scan(near ? 1u : 0u, count);
                if (near)
                    near_points[place] = point;
                if (near && HAS_SHAPES) {
                    near_numbers[place] = number;
                    near_shares[place] = shape_at(number, 6u);
                } else if (near && HAS_DENSITIES)
                    near_shares[place] = field_share(LOAD_F32(args.densities, number));
                barrier();
                for (uint i = 0u; i < count; i++) {
                    vec4 p = near_points[i];
                    float unit = 1.0 / p.w;
                    vec3 d = position - p.xyz;
                    vec2 q2 = vec2(square_of(d, unit), square_of(d + vec3(0.0, 0.0, 1.0), unit));
                    if (HAS_SHAPES) {
                        uint n = near_numbers[i];
                        vec3 straight = vec3(shape_at(n, 0u), shape_at(n, 3u), shape_at(n, 5u));
                        vec3 shear = vec3(shape_at(n, 1u), shape_at(n, 2u), shape_at(n, 4u));
                        q2 = vec2(square_in(straight, shear, d),
                                  square_in(straight, shear, d + vec3(0.0, 0.0, 1.0)));
                    }
                    if (min(q2.x, q2.y) < 1.0) {
                        float share = HAS_DENSITIES || HAS_SHAPES ? near_shares[i] : 1.0;
                        value.x = field_join(FORMULA, value.x,
                                             share * field_term(FORMULA, q2.x, p.w, args.margin));
                        value.y = field_join(FORMULA, value.y,
                                             share * field_term(FORMULA, q2.y, p.w, args.margin));
                    }
                }
            }
            seen += total;
        }
    }
    if (wanted.x)
        store_word(row_at(at.y, at.z), at.x, floatBitsToUint(value.x));
    if (wanted.y)
        store_word(row_at(at.y, at.z + 1u), at.x, floatBitsToUint(value.y));
}

/* Only the device knows the length of the list, so a fixed number of workgroups stride over it. */
void main()
{
    uint count = LOAD_U32(args.bricks, 0u), stride = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index(); i < count; i += stride)
        gather_brick(LOAD_U32(args.bricks, LIST_HEAD + i));
}
