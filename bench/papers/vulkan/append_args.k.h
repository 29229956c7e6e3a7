/* Arguments of shaders/append.comp: the flagged of count elements are appended to "to", as far as
 * there is room. */
ARGS_BEGIN(append_args)
ARG_ADDRESS(flags) /* u32, likewise from and to */
ARG_ADDRESS(from)
ARG_ADDRESS(to)
ARG_ADDRESS(counter)
ARG_UINT(count)
ARG_UINT(room)
ARGS_END(append_args)
