/* Included by every compute shader of the engine after the kernel vocabulary (kernel.glsl): the
 * workgroup's shape and index, stores, 64-bit integers, and lengths in device memory. */
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(local_size_x = 256) in;
const uint GROUP = 256u;
/* Invocations of a subgroup. Every subgroup is full. */
layout(constant_id = 100) const uint SUBGROUP = 32u;
const uint SUBGROUPS_MAX = GROUP / 4u;

/* The grid is VK_GROUPS_X wide, so it may be larger than the work: workgroups past it return. */
uint group_index()
{
    return gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
}
uint subgroup_index()
{
    return gl_LocalInvocationID.x / SUBGROUP;
}

/* Reconverges a subgroup after divergent control flow. Vulkan guarantees reconvergence only if
 * control flow is uniform in the workgroup, or with VK_KHR_shader_subgroup_uniform_control_flow,
 * which a caller-owned device may not have enabled. All known devices reconverge nevertheless:
 * devices with an execution mask where the branch ends, devices with independent thread scheduling
 * at subgroupBarrier, where they wait for all invocations. probe.comp tests it. */
void reconverge()
{
    subgroupBarrier();
}

/* ---- addresses ------------------------------------------------------------------------------- */

layout(buffer_reference, std430, buffer_reference_align = 4) buffer word_at {
    uint bits;
};
/* Words and uvec4, fewer than 2^31 of either, because SPIR-V treats an index as signed; its byte
 * offset has 64 bits. A pass has at most 2^30 elements. Segmented streams have fewer than 2^32,
 * which for 8-byte elements are half as many uvec4. */
layout(buffer_reference, std430, buffer_reference_align = 4) buffer words_at {
    uint v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer quads_at {
    uvec4 v[];
};

/* Loads a word that other workgroups write in the same dispatch. Such words are accessed by atomics
 * of device scope only: running workgroups communicate by nothing else, and by each word on its
 * own. A plain load may hit a cache that is not coherent, and two plain words may have been stored
 * at different times. */
#define ATOMIC_LOAD(word)                                                                          \
    atomicLoad(word, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed)

bool is_none(uvec2 address)
{
    return (address.x | address.y) == 0u;
}
/* address + 4 * i and address + size * i, size below 2^16. */
uvec2 address_add(uvec2 address, uint low, uint high)
{
    uint carry;
    uint sum = uaddCarry(address.x, low, carry);
    return uvec2(sum, address.y + high + carry);
}
uvec2 address_of_word(uvec2 address, uint i)
{
    return address_add(address, i << 2, i >> 30);
}
uvec2 address_of(uvec2 address, uint i, uint size)
{
    uint high, low;
    umulExtended(i, size, high, low);
    return address_add(address, low, high);
}

void store_word(uvec2 address, uint i, uint value)
{
    word_at(address_of_word(address, i)).bits = value;
}
/* Stores a halfword or a byte while other invocations store the rest of its word. Without 8- and
 * 16-bit storage that takes two atomics. address: the array's. */
void store_bits(uvec2 at, uint mask, uint value)
{
    uint shift = (at.x & 3u) << 3;
    word_at word = word_at(uvec2(at.x & ~3u, at.y));
    atomicAnd(word.bits, ~(mask << shift));
    atomicOr(word.bits, (value & mask) << shift);
}
void store_half(uvec2 address, uint i, uint value)
{
    store_bits(address_add(address, i << 1, i >> 31), 0xffffu, value);
}
void store_byte(uvec2 address, uint i, uint value)
{
    store_bits(address_add(address, i, 0u), 0xffu, value);
}

/* ---- 64-bit integers as uvec2 (low, high) ---------------------------------------------------- */

uvec2 add64(uvec2 a, uvec2 b)
{
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
/* The sum over the subgroup, by parts of 16 bits: their sums over up to 128 invocations do not
 * overflow. */
uvec2 subgroup_sum64(uvec2 value)
{
    uint low = subgroupAdd(value.x & 0xffffu);
    uint high = subgroupAdd(value.x >> 16);
    uint top = subgroupAdd(value.y);
    return add64(uvec2(low, top), uvec2(high << 16, high >> 16));
}
/* Plain loads and stores, for values that an earlier dispatch or this workgroup stored. */
uvec2 load64(uvec2 address)
{
    return uvec2(word_at(address).bits, word_at(address_of_word(address, 1u)).bits);
}
void store64(uvec2 address, uvec2 value)
{
    word_at(address).bits = value.x;
    word_at(address_of_word(address, 1u)).bits = value.y;
}

/* The u64 there, at most "most". */
uint load64_within(uvec2 address, uint most)
{
    uvec2 n = load64(address);
    return n.y != 0u ? most : min(n.x, most);
}

/* ---- lengths --------------------------------------------------------------------------------- */

uint stream_length(uvec2 length, uint bound)
{
    return is_none(length) ? bound : min(bound, word_at(length).bits);
}
