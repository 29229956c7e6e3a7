/* Stands at the top of every compute shader of the engine, after the kernel vocabulary: the
 * workgroup's shape, where it stands in the grid, stores, and lengths that live on the device. */
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(local_size_x = 256) in;
const uint GROUP = 256u;
/* Lanes of a subgroup: every subgroup of ours is full. */
layout(constant_id = 100) const uint SUBGROUP = 32u;
const uint SUBGROUPS_MAX = GROUP / 4u;

/* The grid is as wide as the engine likes (VK_GROUPS_X); groups past the work must return. */
uint group_index()
{
    return gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
}
uint subgroup_index()
{
    return gl_LocalInvocationID.x / SUBGROUP;
}

/* Lanes that a branch or a loop parted are together again. That a subgroup's are behind every branch is
 * promised only by VK_KHR_shader_subgroup_uniform_control_flow, which a lent device need not have been
 * made with; without it Vulkan promises it to workgroups that branch as one. It holds by how devices
 * work: those that run a subgroup as one vector with a mask join lanes where the branch ends, and those
 * that schedule lanes one by one wait at a subgroupBarrier for all of them. probe.comp tries it. */
void reconverge()
{
    subgroupBarrier();
}

/* ---- addresses ------------------------------------------------------------------------------- */

layout(buffer_reference, std430, buffer_reference_align = 4) buffer word_at {
    uint bits;
};
/* Words and quadruples of words, less than 2^31 of either: SPIR-V takes an index for signed, and its bytes
 * are counted in 64 bits. Passes have at most 2^30 elements and streams in segments less than 2^32,
 * which are half as many quadruples where an element has 8 bytes. */
layout(buffer_reference, std430, buffer_reference_align = 4) buffer words_at {
    uint v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) buffer quads_at {
    uvec4 v[];
};

/* A word that other workgroups write in the same dispatch, and they by atomics (atomicExchange and the
 * like have device scope, too): only such words carry a value between workgroups that run side by
 * side, each by itself. A plain load may come from a cache that nobody keeps up to date, and of two
 * plain words each may be of another time. */
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
/* One halfword or byte, beside others that are stored at the same time: without 8- and 16-bit
 * storage that takes two atomics. The address is that of the array. */
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

/* ---- numbers of 64 bits in pairs ------------------------------------------------------------- */

uvec2 add64(uvec2 a, uvec2 b)
{
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
/* The sum over the subgroup: in parts of 16 bits, which 128 lanes cannot carry out of 32. */
uvec2 subgroup_sum64(uvec2 value)
{
    uint low = subgroupAdd(value.x & 0xffffu);
    uint high = subgroupAdd(value.x >> 16);
    uint top = subgroupAdd(value.y);
    return add64(uvec2(low, top), uvec2(high << 16, high >> 16));
}
/* Plain loads and stores: for what an earlier dispatch has stored, or the workgroup itself. */
uvec2 load64(uvec2 address)
{
    return uvec2(word_at(address).bits, word_at(address_of_word(address, 1u)).bits);
}
void store64(uvec2 address, uvec2 value)
{
    word_at(address).bits = value.x;
    word_at(address_of_word(address, 1u)).bits = value.y;
}

/* ---- lengths --------------------------------------------------------------------------------- */

uint stream_length(uvec2 length, uint bound)
{
    return is_none(length) ? bound : min(bound, word_at(length).bits);
}
