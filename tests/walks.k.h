/* A function library for test_gathers.c: a walk through a tree in an array of words. Word 2 * n has
 * the first child of node n, and word 2 * n + 1 the number of its children. */
#define WALKS_NODE_WORDS 2u

/* clang-format off */
STRUCT_BEGIN(walks_node)
    uint first;
    uint children;
STRUCT_END(walks_node)

TABLE_BEGIN(uint, walks_weights, 4)
    1u, 3u, 5u, 7u
TABLE_END
FUNCTION(walks_node) walks_read(tml_words tree, uint n)
{
    walks_node node;
    node.first = tml_word(tree, WALKS_NODE_WORDS * n);
    node.children = tml_word(tree, WALKS_NODE_WORDS * n + 1u);
    return node;
}

/* Returns a hash of the nodes from n down along first children. */
FUNCTION(uint) walks_hash(tml_words tree, uint n)
{
    uint hash = 0u;
    walks_node node = walks_read(tree, n);
    while (node.children > 0u) {
        hash = hash * 31u + walks_weights[node.children & 3u] + node.first;
        node = walks_read(tree, node.first);
    }
    return hash;
}
