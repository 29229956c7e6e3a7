/* Included by the float tier's shaders with a user's kernel, before kernel_glue.glsl
 * (gpu/kernel_glue.h), which calls array n kernel_arrayN. Functions for int have uint in their
 * names. */
uniform sampler2D kernel_in0, kernel_in1, kernel_in2, kernel_in3;
uniform vec4 kernel_in0_shape, kernel_in1_shape, kernel_in2_shape, kernel_in3_shape;
uniform vec4 kernel_f;
uniform vec4 kernel_u;
#ifdef KERNEL_MATRIX
uniform vec4 kernel_m0, kernel_m1, kernel_m2, kernel_m3; /* columns */
#endif
#define kernel_array0 kernel_in0, kernel_in0_shape
#define kernel_array1 kernel_in1, kernel_in1_shape
#define kernel_array2 kernel_in2, kernel_in2_shape
#define kernel_array3 kernel_in3, kernel_in3_shape

/* Values of tml_type (<trommel/core.h>). */
#define KERNEL_U8  1
#define KERNEL_I8  2
#define KERNEL_U16 3
#define KERNEL_I16 4
#define KERNEL_F16 9
#define kernel_is_word(type) false

int kernel_load_uint(int type, sampler2D words, vec4 shape, int i)
{
    if (type == KERNEL_U8)
        return int(load_byte(words, shape, float(i)));
    return int(load_half_word(words, shape, float(i)));
}
int kernel_load_int(int type, sampler2D words, vec4 shape, int i)
{
    if (type == KERNEL_I8) {
        float byte = load_byte(words, shape, float(i));
        return int(byte >= 128.0 ? byte - 256.0 : byte);
    }
    float value = load_half_word(words, shape, float(i));
    return int(value >= 32768.0 ? value - 65536.0 : value);
}
float kernel_load_float(int type, sampler2D words, vec4 shape, int i)
{
    if (type == KERNEL_F16)
        return float_of_half(load_half_word(words, shape, float(i)));
    return load_float(words, shape, float(i));
}
vec2 kernel_load_vec2(int type, sampler2D words, vec4 shape, int i)
{
    float at = 2.0 * float(i);
    return vec2(load_float(words, shape, at), load_float(words, shape, at + 1.0));
}
vec3 kernel_load_vec3(int type, sampler2D words, vec4 shape, int i)
{
    float at = 3.0 * float(i);
    return vec3(load_float(words, shape, at), load_float(words, shape, at + 1.0),
                load_float(words, shape, at + 2.0));
}
vec4 kernel_load_vec4(int type, sampler2D words, vec4 shape, int i)
{
    float at = 4.0 * float(i);
    return vec4(load_float(words, shape, at), load_float(words, shape, at + 1.0),
                load_float(words, shape, at + 2.0), load_float(words, shape, at + 3.0));
}
/* For kernel_of_word, which no shader of the tier calls. */
#define kernel_float_of(word) 0.0
#define kernel_int_of(word)   0
#define kernel_uint_of(word)  0

tml_params kernel_params()
{
    tml_params p;
    p.f = kernel_f;
    p.u = ivec4(kernel_u);
#ifdef KERNEL_MATRIX
    p.m = mat4(kernel_m0, kernel_m1, kernel_m2, kernel_m3);
#endif
    return p;
}

/* Stores a component of a result as a word. */
void store_result(float value, float part)
{
    store_float(value);
}
void store_result(int value, float part)
{
    store_number(float(value));
}
void store_result(vec2 value, float part)
{
    store_float(part < 1.0 ? value.x : value.y);
}
void store_result(vec3 value, float part)
{
    store_float(part < 1.0 ? value.x : part < 2.0 ? value.y : value.z);
}
void store_result(vec4 value, float part)
{
    store_float(pick(value, part));
}
