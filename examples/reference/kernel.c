/* Kernels: functions of yours that operations call, in what C and GLSL have in common, so that one
 * text runs on every engine; and the words that such a text may use. */
#include "reference.h"

#include <trommel/kernel_begin.h>
/* clang-format off */

TML_KERNEL(float, length_of, (vec2 v), { return length2(v); })
TML_KERNEL(float, line, (float x, float y, tml_params p), { return p.f[0] * x + y + F(p.u[0]); })
TML_KERNEL(vec3, placed, (vec3 x, tml_params p), { return transform3(p.m, x); })
TML_KERNEL(float, depth_of, (vec3 x, tml_params p), {
    return transform4(p.m, VEC4(x.x, x.y, x.z, 1.0f)).z;
})
TML_KERNEL(uint, place, (tml_index i), { return 10u * U(i); })
TML_KERNEL(vec3, halfway, (uvec2 ends, tml_words points), {
    return scale3(add3(tml_word_vec3(points, ends.x), tml_word_vec3(points, ends.y)), 0.5f);
})
TML_KERNEL(vec4, second, (tml_words w), {
    vec2 of_pairs = tml_word_vec2(w, 1u);
    vec4 of_fours = tml_word_vec4(w, 1u);
    return VEC4(tml_word_float(w, 1u), of_pairs.x, of_fours.x, of_fours.w);
})
TML_KERNEL(float, chance, (tml_index i), { return tml_random_float(U(i), 0u); })
TML_KERNEL(uvec2, draws, (uint i), {
    return UVEC2(tml_random_uint(i, 1u), tml_random(i, 1u, 0u).x);
})
TML_KERNEL(uint, die, (uint i), { return 1u + tml_multiply_high(tml_random_uint(i, 0u), 6u); })

TML_LIBRARY(heat,
    FUNCTION(float) heat_of(float x) { return x * x * (3.0f - 2.0f * x); }
    FUNCTION(float) heat_twice(float x) { return heat_of(heat_of(x)); }
)
TML_KERNEL_WITH(heat, float, warmer, (float x), { return heat_twice(x); })

TML_KERNEL_OUTS((float whole, float part), split, (float x), {
    split_out o;
    o.whole = floor(x);
    o.part = x - o.whole;
    return o;
})
TML_KERNEL_OUTS_WITH(heat, (float once, float again), both_warm, (float x), {
    both_warm_out o;
    o.once = heat_of(x);
    o.again = heat_twice(x);
    return o;
})

TML_LIBRARY(span,
    STRUCT_BEGIN(span_range)
        int first;
        int last;
    STRUCT_END(span_range)
    TABLE_BEGIN(int, span_widths, 3) 1, 10, 100 TABLE_END
    FUNCTION(span_range) span_at(int first, uint size) {
        span_range r;
        r.first = first;
        r.last = first + span_widths[size];
        return r;
    }
)
TML_KERNEL_WITH(span, int, span_end, (int first), { return span_at(first, 1u).last; })

TML_KERNEL(vec2, mirrored, (vec2 v), { return sub2(scale2(VEC2(1.0f, 1.0f), 2.0f), v); })
TML_KERNEL(float, square_away, (vec2 v), {
    vec2 d = add2(v, VEC2(-1.0f, -1.0f));
    return dot2(d, d);
})
TML_KERNEL(vec3, reflected, (vec3 v), {
    vec3 up = cross3(VEC3(1.0f, 0.0f, 0.0f), VEC3(0.0f, 1.0f, 0.0f));
    vec3 r = sub3(v, scale3(up, 2.0f * dot3(v, up)));
    return scale3(r, 1.0f / length3(r));
})
TML_KERNEL(vec4, halfway_to_one, (vec4 a), {
    vec4 one = VEC4(1.0f, 1.0f, 1.0f, 1.0f);
    return add4(a, scale4(sub4(one, a), 0.5f));
})
TML_KERNEL(float, square_of, (vec4 a), { return dot4(a, a); })
TML_KERNEL(uvec2, two, (uint x), { return UVEC2(x, x + 1u); })
TML_KERNEL(uvec3, three, (uint x), { return UVEC3(x, x + 1u, x + 2u); })
TML_KERNEL(uvec4, four, (uint x), { return UVEC4(x, x + 1u, x + 2u, x + 3u); })
TML_KERNEL(vec4, parts, (float x), { return VEC4(floor(x), ceil(x), trunc(x), fract(x)); })
TML_KERNEL(vec4, ranges, (float x), {
    return VEC4(mod(x, 360.0f), clamp(x, 0.0f, 1.0f), mix(10.0f, 20.0f, step(0.0f, x)), sign(x));
})
TML_KERNEL(uvec3, beside_five, (uint x), {
    return UVEC3(min(x, 5u), max(x, 5u), U(abs(I(x) - 5)));
})
TML_KERNEL(vec4, powers, (float x), {
    return VEC4(sqrt(x), inversesqrt(x), exp2(log2(x)), pow(x, 2.0f));
})
TML_KERNEL(vec4, identities, (float x), {
    return VEC4(sin(x) * sin(x) + cos(x) * cos(x), asin(x) + acos(x), tan(atan(x)), log(exp(x)));
})
TML_KERNEL(uvec4, bits, (float x), {
    uint u = floatBitsToUint(x);
    return UVEC4(u, popcount32(u), lowest_bit32(u), U(is_nan(x) || is_inf(x)));
})
TML_KERNEL(vec2, neighbours, (float x), {
    return VEC2(uintBitsToFloat(floatBitsToUint(x) + 1u), intBitsToFloat(floatBitsToInt(x) - 1));
})
TML_KERNEL(float, turn, (vec4 m), {
    PRECISE float t = rounded_product(m.x, m.w) - rounded_product(m.y, m.z);
    return t;
})
TML_KERNEL(double, doubled, (tml_words w), { return 2.0 * DOUBLE(tml_word(w, TML_LOW_WORD), tml_word(w, 1u - TML_LOW_WORD)); })
TML_KERNEL(uint64, joined, (uint low, uint high), { return UINT64(low, high); })
TML_KERNEL(int64, negated, (uint low, uint high), { return INT64(0u, 0u) - INT64(low, high); })
/* clang-format on */
#include <trommel/kernel_end.h>

/* A kernel is a macro's call; a desc refers to it by TML_USE. */
static void kernel(tml_context *tml)
{
    float length;
    const tml_buffer in = buffer_of(tml, TML_VEC(TML_F32, 2), 1, &(tml_vec2){3, 4});
    const tml_buffer out = buffer_of(tml, TML_F32, 1, NULL);
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(length_of), .in = {in}, .out = {out}}));
    MUST(tml_buffer_read(tml, out, &length));
    CHECK(length == 5);
}

/* Several arrays, up to TML_MAX_INPUTS of TML_MAX_PARAMS parameters, and numbers of the desc. */
static void parameters(tml_context *tml)
{
    float out[2];
    const tml_buffer x = buffer_of(tml, TML_F32, 2, (float[]){1, 2});
    const tml_buffer y = buffer_of(tml, TML_F32, 2, (float[]){0.5f, 0});
    const tml_params params = {.f = {3}, .u = {100}};
    MUST(tml_map(
        tml, &(tml_map_desc){.kernel = TML_USE(line), .params = params, .in = {x, y}, .out = {y}}));
    MUST(tml_buffer_read(tml, y, out));
    CHECK(out[0] == 103.5f && out[1] == 106);
}

/* A 4x4 matrix, column by column: here the points half as large, and five further along z. */
static void matrix(tml_context *tml)
{
    tml_vec3 at[1];
    float depth[1];
    const tml_params half = {.m = {0.5f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 5, 1}};
    const tml_buffer x = buffer_of(tml, TML_VEC(TML_F32, 3), 1, &(tml_vec3){2, 4, 6});
    const tml_buffer z = buffer_of(tml, TML_F32, 1, NULL);
    MUST(tml_map(
        tml, &(tml_map_desc){.kernel = TML_USE(depth_of), .params = half, .in = {x}, .out = {z}}));
    MUST(tml_map(
        tml, &(tml_map_desc){.kernel = TML_USE(placed), .params = half, .in = {x}, .out = {x}}));
    MUST(tml_buffer_read(tml, z, depth));
    MUST(tml_buffer_read(tml, x, at));
    CHECK(depth[0] == 8 && at[0].x == 1 && at[0].y == 2 && at[0].z == depth[0]);
}

/* A kernel of several outputs, up to TML_MAX_OUTS, which may be its inputs. TML_KERNEL_OUTS_WITH
 * calls functions. */
static void several_outputs(tml_context *tml)
{
    float wholes[2], rests[2];
    const tml_buffer x = buffer_of(tml, TML_F32, 2, (float[]){1.25f, 3.5f});
    const tml_buffer part = buffer_of(tml, TML_F32, 2, NULL);
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(split), .in = {x}, .out = {x, part}}));
    MUST(tml_buffer_read(tml, x, wholes));
    MUST(tml_buffer_read(tml, part, rests));
    CHECK(wholes[1] == 3 && rests[1] == 0.5f);
    MUST(tml_map(tml,
                 &(tml_map_desc){.kernel = TML_USE(both_warm), .in = {part}, .out = {x, part}}));
    MUST(tml_buffer_read(tml, part, rests));
    CHECK(rests[1] == heat_twice(0.5f));
}

/* An element's position; where nothing goes in, the length says how many there are. */
static void positions(tml_context *tml)
{
    uint32_t places[3];
    const tml_buffer out = buffer_of(tml, TML_U32, 3, NULL);
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(place), .length.count = 3, .out = {out}}));
    MUST(tml_buffer_read(tml, out, places));
    CHECK(places[1] == 10 && places[2] == 20);
}

/* An array read at any place: each edge's middle from the two points that it names. */
static void gather(tml_context *tml)
{
    tml_vec3 middle;
    const tml_vec3 corners[] = {{0, 0, 0}, {9, 9, 9}, {2, 4, 6}};
    const tml_buffer points = buffer_of(tml, TML_VEC(TML_F32, 3), 3, corners);
    const tml_buffer edges = buffer_of(tml, TML_VEC(TML_U32, 2), 1, &(tml_uvec2){0, 2});
    const tml_buffer out = buffer_of(tml, TML_VEC(TML_F32, 3), 1, NULL);
    MUST(tml_map(tml,
                 &(tml_map_desc){.kernel = TML_USE(halfway), .in = {edges, points}, .out = {out}}));
    MUST(tml_buffer_read(tml, out, &middle));
    CHECK(middle.x == 1 && middle.y == 2 && middle.z == 3);
}

/* The same array as numbers, pairs or fours: the second of each. */
static void views_of_an_array(tml_context *tml)
{
    tml_vec4 v;
    const tml_buffer words = buffer_of(tml, TML_F32, 8, (float[]){0, 1, 2, 3, 4, 5, 6, 7});
    const tml_buffer out = buffer_of(tml, TML_VEC(TML_F32, 4), 1, NULL);
    MUST(tml_map(tml,
                 &(tml_map_desc){
                     .kernel = TML_USE(second), .in = {words}, .length.count = 1, .out = {out}}));
    MUST(tml_buffer_read(tml, out, &v));
    CHECK(v.x == 1 && v.y == 2 && v.z == 4 && v.w == 7);
}

/* Random numbers have no state: an element and which of its draws it is always give the same. */
static void random_numbers(tml_context *tml)
{
    double mean;
    tml_uvec2 drawn;
    const tml_buffer out = buffer_of(tml, TML_F32, 1000, NULL);
    const tml_buffer result = buffer_of(tml, TML_F64, 1, NULL);
    MUST(tml_map(tml,
                 &(tml_map_desc){.kernel = TML_USE(chance), .length.count = 1000, .out = {out}}));
    MUST(tml_reduce(tml, &(tml_reduce_desc){.in = out, .folds = {{TML_FOLD_MEAN, result}}}));
    MUST(tml_buffer_read(tml, result, &mean));
    call_kernel(tml, TML_USE(draws), &(uint32_t){7}, &drawn);
    CHECK(mean > 0.45 && mean < 0.55 && drawn.x == drawn.y);
    uint32_t thrown;
    call_kernel(tml, TML_USE(die), &(uint32_t){7}, &thrown);
    CHECK(thrown >= 1 && thrown <= 6);
}

/* Functions that kernels share stand in a library; C calls them as any others. */
static void library(tml_context *tml)
{
    float x;
    const tml_buffer one = buffer_of(tml, TML_F32, 1, &(float){0.5f});
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(warmer), .in = {one}, .out = {one}}));
    MUST(tml_buffer_read(tml, one, &x));
    CHECK(x == 0.5f && heat_of(1) == 1);
}

/* A library may have types and tables. */
static void struct_and_table(tml_context *tml)
{
    int32_t end;
    call_kernel(tml, TML_USE(span_end), &(int32_t){5}, &end);
    CHECK(end == 15);
}

static void vectors_of_two(tml_context *tml)
{
    tml_vec2 v;
    float square;
    call_kernel(tml, TML_USE(mirrored), &(tml_vec2){0.5f, 3}, &v);
    call_kernel(tml, TML_USE(square_away), &(tml_vec2){4, 5}, &square);
    CHECK(v.x == 1.5f && v.y == -1 && square == 25);
}

static void vectors_of_three(tml_context *tml)
{
    tml_vec3 v;
    call_kernel(tml, TML_USE(reflected), &(tml_vec3){3, 0, 4}, &v);
    CHECK(fabsf(v.x - 0.6f) < 1e-6f && v.y == 0 && fabsf(v.z + 0.8f) < 1e-6f);
}

static void vectors_of_four(tml_context *tml)
{
    tml_vec4 v;
    float square;
    call_kernel(tml, TML_USE(halfway_to_one), &(tml_vec4){1, 3, 5, 7}, &v);
    call_kernel(tml, TML_USE(square_of), &v, &square);
    CHECK(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4 && square == 30);
}

/* Vectors of whole numbers have components and no sums. */
static void whole_vectors(tml_context *tml)
{
    tml_uvec2 a;
    tml_uvec3 b;
    tml_uvec4 c;
    call_kernel(tml, TML_USE(two), &(uint32_t){7}, &a);
    call_kernel(tml, TML_USE(three), &(uint32_t){7}, &b);
    call_kernel(tml, TML_USE(four), &(uint32_t){7}, &c);
    CHECK(a.y == 8 && b.z == 9 && c.w == 10);
}

static void rounding(tml_context *tml)
{
    tml_vec4 v;
    call_kernel(tml, TML_USE(parts), &(float){-2.25f}, &v);
    CHECK(v.x == -3 && v.y == -2 && v.z == -2 && v.w == 0.75f);
}

static void choices(tml_context *tml)
{
    tml_vec4 v;
    tml_uvec3 u;
    call_kernel(tml, TML_USE(ranges), &(float){-90}, &v);
    CHECK(v.x == 270 && v.y == 0 && v.z == 10 && v.w == -1);
    call_kernel(tml, TML_USE(beside_five), &(uint32_t){3}, &u);
    CHECK(u.x == 3 && u.y == 5 && u.z == 2);
}

/* Within what the C library's and each driver's functions promise. */
static void functions(tml_context *tml)
{
    tml_vec4 v;
    call_kernel(tml, TML_USE(powers), &(float){4}, &v);
    CHECK(v.x == 2 && v.y == 0.5f && fabsf(v.z - 4) < 1e-5f && fabsf(v.w - 16) < 1e-5f);
    call_kernel(tml, TML_USE(identities), &(float){0.25f}, &v);
    CHECK(fabsf(v.x - 1) < 1e-6f && fabsf(v.y - 1.5707963f) < 1e-6f);
    CHECK(fabsf(v.z - 0.25f) < 1e-6f && fabsf(v.w - 0.25f) < 1e-6f);
}

/* Floats as bits and back: the same on every engine. */
static void bit_patterns(tml_context *tml)
{
    tml_uvec4 u;
    tml_vec2 v;
    call_kernel(tml, TML_USE(bits), &(float){0.5f}, &u);
    CHECK(u.x == 0x3f000000 && u.y == 6 && u.z == 24 && u.w == 0);
    call_kernel(tml, TML_USE(neighbours), &(float){1.5f}, &v);
    CHECK(v.x == 1.5f + 0x1p-23f && v.y == 1.5f - 0x1p-23f);
}

/* Each product is rounded before the difference, on GPUs too: the sign is the same everywhere. */
static void rounded_products(tml_context *tml)
{
    float t;
    call_kernel(tml, TML_USE(turn), &(tml_vec4){3, 2, 4, 5}, &t);
    CHECK(t == 7);
}

/* 64-bit numbers, and from two words of memory; not in OpenGL ES. */
static void wide_numbers(tml_context *tml)
{
    double twice;
    uint64_t number;
    int64_t less;
    const tml_buffer words = buffer_of(tml, TML_F64, 1, &(double){0.75});
    const tml_buffer low = buffer_of(tml, TML_U32, 1, &(uint32_t){7});
    const tml_buffer high = buffer_of(tml, TML_U32, 1, &(uint32_t){1});
    const tml_buffer f64 = buffer_of(tml, TML_F64, 1, NULL);
    const tml_buffer u64 = buffer_of(tml, TML_U64, 1, NULL);
    const tml_buffer i64 = buffer_of(tml, TML_I64, 1, NULL);
    const tml_length one = {.count = 1};
    MUST(tml_map(tml, &(tml_map_desc){
                          .kernel = TML_USE(doubled), .in = {words}, .length = one, .out = {f64}}));
    MUST(tml_map(tml, &(tml_map_desc){.kernel = TML_USE(joined), .in = {low, high}, .out = {u64}}));
    MUST(
        tml_map(tml, &(tml_map_desc){.kernel = TML_USE(negated), .in = {low, high}, .out = {i64}}));
    MUST(tml_buffer_read(tml, f64, &twice));
    MUST(tml_buffer_read(tml, u64, &number));
    MUST(tml_buffer_read(tml, i64, &less));
    CHECK(twice == 1.5 && number == (1ull << 32) + 7 && less == -(int64_t)number);
}

/* ---- kernels without the macros ------------------------------------------------------------ */

/* As bindings make one: what it takes and gives, and a loop over a block of the stream. */
static void run_negative(const tml_kernel_block *block)
{
    const float *in = block->in[0];
    float *out = block->out;
    for (size_t i = 0; i < block->count; i++)
        out[i] = -in[i];
}

static void kernel_by_hand(tml_context *tml)
{
    float out[2];
    const tml_kernel negative = {.name = "negative",
                                 .glsl = "float negative(float x) { return -x; }",
                                 .result = TML_F32,
                                 .param_count = 1,
                                 .params = {TML_F32},
                                 .run = run_negative};
    const tml_buffer in = buffer_of(tml, TML_F32, 2, (float[]){1, -2});
    MUST(tml_map(tml, &(tml_map_desc){.kernel = &negative, .in = {in}, .out = {in}}));
    MUST(tml_buffer_read(tml, in, out));
    CHECK(out[0] == -1 && out[1] == 2);
}

/* How many inputs of the desc a kernel takes, and which of them have the stream's length. */
static void parameter_kinds(void)
{
    const tml_kernel *middle = TML_USE(halfway);
    uint32_t arrays = 0, streams = 0;
    for (uint32_t i = 0; i < middle->param_count; i++) {
        arrays += tml_param_is_array(middle->params[i]);
        streams += tml_param_is_elements(middle->params[i]);
    }
    CHECK(arrays == 2 && streams == 1 && middle->params[1] == TML_PARAM_WORDS);
}

int main(void)
{
    parameter_kinds();
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){kernel,
                                           parameters,
                                           matrix,
                                           several_outputs,
                                           positions,
                                           gather,
                                           views_of_an_array,
                                           random_numbers,
                                           library,
                                           struct_and_table,
                                           vectors_of_two,
                                           vectors_of_three,
                                           vectors_of_four,
                                           whole_vectors,
                                           rounding,
                                           choices,
                                           functions,
                                           bit_patterns,
                                           rounded_products,
                                           wide_numbers,
                                           kernel_by_hand,
                                           NULL});
}
