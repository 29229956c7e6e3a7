/* Several processes write rows to one file. Each process writes its stretches of every array. */
#include <inttypes.h>

#include "io/meshes/mesh_format.h"

tml_status tml_mesh_team_no_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_mesh_stream: no memory for %" PRIu64 " bytes", size);
}

tml_status tml_mesh_team_largest(tml_context *tml, const tml_team *team, uint64_t mine,
                                 uint64_t *out)
{
    uint64_t size = team->count * sizeof mine, *all = tml_alloc_array(tml, size, 1);
    if (!all)
        return tml_mesh_team_no_memory(tml, size);
    tml_status status = team->gather(team->user, tml, 1, &mine, all);
    *out = 0;
    for (uint32_t r = 0; r < team->count && status == TML_OK; r++)
        *out = all[r] > *out ? all[r] : *out;
    tml_free(tml, all, size);
    return status;
}

/* Finds the next rows of the stretches, at most most, from row *done of *stretch on. Returns their
 * number.
 * *first   receives their place in the arrays
 * *place   receives their place in the whole mesh */
static uint64_t next_rows(const mesh_stretch *stretches, uint32_t count, uint64_t most,
                          uint32_t *stretch, uint64_t *done, uint64_t *first, uint64_t *place)
{
    while (*stretch < count && *done == stretches[*stretch].count) {
        ++*stretch;
        *done = 0;
    }
    *first = *place = 0;
    if (*stretch == count)
        return 0;
    const mesh_stretch *s = &stretches[*stretch];
    uint64_t n = s->count - *done < most ? s->count - *done : most;
    *first = s->first + *done;
    *place = s->place + *done;
    *done += n;
    return n;
}

/* Each write waits for all ranks, so every rank makes as many writes as the rank that needs
 * most. */
tml_status tml_mesh_team_write_rows(io_writer *writer, const mesh_share *share,
                                    const tml_mesh *mesh, mesh_rows rows, size_t row_size,
                                    mesh_fill fill)
{
    tml_context *tml = writer->tml;
    const mesh_stretch *stretches = rows == MESH_VERTICES ? share->vertices : share->triangles;
    uint64_t all = rows == MESH_VERTICES ? mesh->vertex_count : mesh->triangle_count;
    uint64_t most = TEAM_BUFFER / row_size, writes = 0, rounds = 0, done = 0, first, place;
    uint32_t stretch = 0;
    if (writer->status != TML_OK)
        return writer->status;
    for (uint32_t i = 0; i < share->stretch_count; i++)
        writes += (stretches[i].count + most - 1) / most;
    uint8_t *buffer = tml_alloc(tml, TEAM_BUFFER);
    if (!buffer)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, MESH_CALL ": %s: no memory for %d bytes",
                         writer->path, TEAM_BUFFER);
    tml_status status = tml_mesh_team_largest(tml, share->team, writes, &rounds);
    for (uint64_t i = 0; i < rounds && status == TML_OK; i++) {
        uint64_t n =
            next_rows(stretches, share->stretch_count, most, &stretch, &done, &first, &place);
        uint64_t from = rows == MESH_TRIANGLE_NUMBERS ? place : first;
        size_t size = n ? fill(mesh, from, n, buffer) : 0;
        status = share->team->write(share->team->user, tml, writer->written + place * row_size,
                                    buffer, size);
        mesh_release_pages(mesh);
        if (status == TML_OK &&
            !tml_progress(tml, "write",
                          (double)(writer->written + all * row_size * (i + 1) / rounds) /
                              (double)writer->expected))
            status = tml_error(tml, TML_ERROR_CANCELLED, MESH_CALL ": %s: cancelled", writer->path);
    }
    tml_free(tml, buffer, TEAM_BUFFER);
    writer->written += all * row_size;
    writer->status = status;
    return status;
}
