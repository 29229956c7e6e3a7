/* Arguments of the top k's shaders, and the constants that both sides use. */

#define TOP_K_BINS   256u /* of a digit of TOP_K_DIGIT bits */
#define TOP_K_DIGIT  8u
#define TOP_K_ITEMS  16u   /* elements of a tile of top_k_digit.comp per invocation */
#define TOP_K_GROUPS 1024u /* of it at most, which fill a large GPU */

/* Words of the state. */
#define TOP_K_COUNT 0u /* two words, as every u64: results */
#define TOP_K_SIFTED                                                                               \
    2u /* u64: elements of the stream that is sifted: all, or 0 if there is no sample */
#define TOP_K_LENGTH 4u /* u64: elements of the source */
#define TOP_K_LIMIT                                                                                \
    6u /* u64: the sample's code; candidates are the elements that are not after it */
#define TOP_K_TIE        8u  /* and, among the elements that equal it, those up to this index */
#define TOP_K_CANDIDATES 9u  /* how many candidates are the source; 0: the whole stream is */
#define TOP_K_PREFIX     10u /* u64: the code of the last result, as far as its digits are found */
#define TOP_K_REST       12u /* results whose code has this prefix */
#define TOP_K_STATE      16u

/* Specialization constants. Of all shaders: log2 of a key's bytes. Of top_k_keep.comp: which
 * elements are kept. */
#define TOP_K_KEY_LOG2 0u
#define TOP_K_MODE     1u
#define TOP_K_SIFT     0u /* not after the limit */
#define TOP_K_BELOW    1u /* before the last result's code */
#define TOP_K_EQUAL    2u

/* top_k_sample.comp: one workgroup, which initialises the state, and finds the limit if there is
 * room for candidates. top_k_source.comp: one invocation, which chooses the source. */
ARGS_BEGIN(top_k_sample_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(state)
ARG_ADDRESS(length_at) /* optional: u64, in place of bound */
ARG_ADDRESS(k_at)      /* optional */
ARG_ADDRESS(found)     /* u64: elements that were sifted out */
ARG_UINT(bound)
ARG_UINT(k_bound)
ARG_UINT(k_wide)
ARG_UINT(room) /* for candidates */
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(top_k_sample_args)

/* top_k_digit.comp: counts a digit of the source's codes that have the prefix. The last workgroup
 * appends the last result's digit to the prefix. */
ARGS_BEGIN(top_k_digit_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(candidates) /* their keys */
ARG_ADDRESS(state)
ARG_ADDRESS(counts) /* zeroed: TOP_K_BINS words, and a counter */
ARG_UINT(shift)
ARG_UINT(flip_low)
ARG_UINT(flip_high)
ARG_UINT(real_low)
ARG_UINT(real_high)
ARGS_END(top_k_digit_args)

/* top_k_store.comp: a result an invocation. */
ARGS_BEGIN(top_k_store_args)
ARG_ADDRESS(keys)
ARG_ADDRESS(candidates)
ARG_ADDRESS(candidate_indices)
ARG_ADDRESS(state)
ARG_ADDRESS(positions) /* u32: in the source, of each result */
ARG_ADDRESS(values)    /* optional */
ARG_ADDRESS(indices)   /* optional */
ARG_UINT(wide)         /* indices are u64 */
ARGS_END(top_k_store_args)
