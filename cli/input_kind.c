/* Determines what a file holds, by its contents. */
#include "input_kind.h"

#include "standard_names.h"

tml_file_kind input_kind_of_file(tml_context *tml, const char *path)
{
    tml_file_kind kind;
    tml_file_format(tml, path, TML_FILE_NONE, &kind);
    const bool may_be_obj = kind == TML_FILE_NONE || kind == TML_FILE_POINTS;
    return may_be_obj && standard_is_input(path) && tml_file_format(tml, path, TML_FILE_MESH, NULL)
               ? TML_FILE_MESH
               : kind;
}
