/* Shared by counting and emitting: the workspace's size, and the addresses of its arrays. Include
 * it after ARGS_USE. */
uvec3 size = uvec3(args.size_x, args.size_y, args.size_z);
uint words = (args.size_x + 31u) / 32u;

uvec2 part_of_scratch(uint number)
{
    return address_add(args.head, number << 8, number >> 24);
}
