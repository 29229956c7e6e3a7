/* Files of arrays (NPY), whole and in pieces, by one process or several. */
#include "reference.h"
#include <trommel/extend.h>
#include <trommel/files.h>

/* An array to a file and back. */
static void save_and_load(tml_context *tml)
{
    const char *path = "reference_array.npy";
    float values[] = {1, 2, 3};
    const tml_array array = {.data = values, .size = sizeof values, .type = TML_F32, .count = 3};
    tml_array loaded;
    MUST(tml_array_save(tml, path, &array));
    MUST(tml_array_load(tml, path, 0, UINT64_MAX, &loaded));
    CHECK(loaded.type == TML_F32 && loaded.count == 3 && ((const float *)loaded.data)[2] == 3);
    tml_array_free(tml, &loaded);
    remove(path);
}

/* An array of any size: written piece by piece, read in parts. */
static void pieces(tml_context *tml)
{
    const char *path = "reference_pieces.npy";
    tml_array_stream *stream;
    tml_array part;
    MUST(tml_array_stream_open(tml, path, TML_U32, 4, NULL, &stream));
    tml_status status = tml_array_stream_write(stream, 0, 2, (uint32_t[]){10, 11});
    TML_THEN(status, tml_array_stream_write(stream, 2, 2, (uint32_t[]){12, 13}));
    MUST(tml_array_stream_finish(stream, status)); /* of a failure it leaves no file */
    MUST(tml_array_load(tml, path, 2, 2, &part));
    CHECK(part.total == 4 && part.count == 2 && ((const uint32_t *)part.data)[0] == 12);
    tml_array_free(tml, &part);
    remove(path);
}

/* ---- several processes --------------------------------------------------------------------- */

/* A team, of one process: by MPI these would be MPI_Exscan, MPI_Allgather, MPI_File_write_at ... */
static tml_status team_scan(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                            uint64_t *before, uint64_t *all)
{
    (void)user, (void)tml;
    memset(before, 0, (size_t)count * sizeof *before);
    memcpy(all, mine, (size_t)count * sizeof *all);
    return TML_OK;
}

static tml_status team_gather(void *user, tml_context *tml, uint64_t count, const uint64_t *mine,
                              uint64_t *all)
{
    (void)user, (void)tml;
    memcpy(all, mine, (size_t)count * sizeof *all);
    return TML_OK;
}

static tml_status team_open(void *user, tml_context *tml, const char *path)
{
    FILE **file = user;
    *file = fopen(path, "r+b");
    return *file ? TML_OK : tml_error(tml, TML_ERROR_FILE_ACCESS, "%s: cannot be opened", path);
}

static tml_status team_write(void *user, tml_context *tml, uint64_t offset, const void *data,
                             uint64_t size)
{
    FILE **file = user;
    if (fseek(*file, (long)offset, SEEK_SET) || fwrite(data, 1, (size_t)size, *file) != size)
        return tml_error(tml, TML_ERROR_FILE_ACCESS, "cannot be written");
    return TML_OK;
}

static tml_status team_close(void *user, tml_context *tml)
{
    FILE **file = user;
    return fclose(*file) ? tml_error(tml, TML_ERROR_FILE_ACCESS, "cannot be closed") : TML_OK;
}

/* Processes that write one file together, each its share. (shift and collect are for meshes.) */
static void team(tml_context *tml)
{
    const char *path = "reference_team.npy";
    FILE *file = NULL;
    const tml_team alone = {.rank = 0,
                            .count = 1,
                            .scan = team_scan,
                            .gather = team_gather,
                            .open = team_open,
                            .write = team_write,
                            .close = team_close,
                            .user = &file};
    tml_array_stream *stream;
    tml_array loaded;
    MUST(tml_array_stream_open(tml, path, TML_U32, 2, &alone, &stream));
    MUST(tml_array_stream_finish(stream, tml_array_stream_write(stream, 0, 2, (uint32_t[]){7, 8})));
    MUST(tml_array_load(tml, path, 0, UINT64_MAX, &loaded));
    CHECK(loaded.count == 2 && ((const uint32_t *)loaded.data)[1] == 8);
    tml_array_free(tml, &loaded);
    remove(path);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){save_and_load, pieces, team, NULL});
}
