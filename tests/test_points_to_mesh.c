/* From a points' file to a mesh's file in one call: the command writes the same bytes, and so does
 * the call in slabs; each failure tells its side and leaves no file. */
#include <math.h>
#include <unistd.h>

#include <trommel/points.h>
#include <trommel/volumes.h>

#include "test.h"

#include "contexts.h"
#include "folder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const cloud = "dam_break_4732.vtk";

/* The command's words, and a desc that means the same. */
typedef struct way {
    const char *words, *name;
    tml_points_mesh_desc desc;
    const char *attribute;
} way;

static const double two[] = {0.2, 0.5};
static const tml_surface_desc plain = {.normals = TML_NORMALS_CENTRAL},
                              bare = {.normals = TML_NORMALS_NONE},
                              largest = {.normals = TML_NORMALS_CENTRAL,
                                         .isovalues = two,
                                         .isovalue_count = 2,
                                         .largest_component = true},
                              caps = {.normals = TML_NORMALS_CENTRAL, .caps = true};
static const way ways[] = {
    {"", "a.ply", {.save.slabs.components = true}, NULL},
    {"--field distance --resolution 60 --normals none",
     "a.stl",
     {.kind = TML_POINTS_DISTANCE, .field.resolution = 60, .save.slabs.surface = &bare},
     NULL},
    {"--iso 0.2,0.5 --resolution 60 --largest --kernel poly6",
     "a.glb",
     {.field = {.resolution = 60, .kernel = TML_FIELD_POLY6}, .save.slabs.surface = &largest},
     NULL},
    {"--field density --radius 0.1 --cell 0.25r --bounds 0:1,:,0:0.5 --caps --smooth 3",
     "a.obj",
     {.kind = TML_POINTS_DENSITY,
      .field = {.radius = 0.1, .lower = {0, -INFINITY, 0}, .upper = {1, INFINITY, 0.5}},
      .cell = 0.25,
      .save = {.slabs.surface = &caps, .smooth = 3}},
     NULL},
    {"--field anisotropic --radius 0.1 --cell 0.04 --collapse 0.4 --attribute velocity",
     "a.vtp",
     {.kind = TML_POINTS_ANISOTROPIC,
      .field = {.radius = 0.1, .grid.spacing = {0.04, 0.04, 0.04}},
      .collapse = 0.4},
     "velocity"},
};

static tml_points_mesh_desc desc_of(const way *w, tml_load_desc *load)
{
    tml_points_mesh_desc desc = w->desc;
    *load = (tml_load_desc){.names = &w->attribute, .name_count = w->attribute != NULL};
    desc.load = load;
    desc.save.file.mesh.comment = "made by trommel";
    desc.save.file.mesh.up = TML_UP_Z;
    if (!desc.save.slabs.surface)
        desc.save.slabs.surface = &plain;
    return desc;
}

static bool command_makes(const char *words, const char *name)
{
    char line[2048];
    const char *program = getenv("TML_CLI");
    snprintf(line, sizeof line, "'%s' surface '%s' %s -o '%s' --quiet --backend cpu", program,
             test_data(cloud), words, in_folder(name));
    return CHECK(system(line) == 0);
}

TEST(the_command_writes_the_same_bytes)
{
    if (!getenv("TML_CLI") || !*getenv("TML_CLI"))
        SKIP("TML_CLI names no program");
    tml_context *tml = open_cpu(2);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        tml_load_desc load;
        tml_points read;
        tml_field_desc field;
        tml_surface_saved result;
        char by_command[64];
        const tml_points_mesh_desc desc = desc_of(&ways[i], &load);
        snprintf(by_command, sizeof by_command, "command_%s", ways[i].name);
        if (!command_makes(ways[i].words, by_command))
            continue;
        CHECK_OK(tml, tml_points_to_mesh(tml, test_data(cloud), in_folder(ways[i].name), &desc,
                                         &read, &field, &result));
        CHECK(!result.is_empty && result.surface.triangle_count > 0);
        CHECK(read.count == 4732 && !read.positions);
        CHECK(field.radius > 0 && tml_buffer_is_none(field.points));
        CHECK(!desc.save.slabs.components || result.surface.components > 0);
        if (!CHECK(test_same_files(in_folder(by_command), in_folder(ways[i].name))))
            printf("  (surface %s)\n", ways[i].words);
        tml_surface_saved_free(tml, &result);
    }
    tml_close(tml);
}

/* Takes the other way than the desc does. */
static tml_status decide(void *user, const tml_points *points, const tml_field_desc *field,
                         const tml_surface_saved *known, tml_surface_save_desc *save)
{
    const bool *wanted = user;
    CHECK(points->positions != NULL && field->grid.dims[0] > 0 && known->stage_count == 2);
    CHECK(save->making == TML_MAKE_SLABS);
    save->making = *wanted ? TML_MAKE_SLABS : TML_MAKE_AUTO;
    return TML_OK;
}

TEST(slabs_make_the_same_file)
{
    tml_context *tml = open_cpu(2);
    tml_load_desc load;
    tml_points_mesh_desc desc = desc_of(&ways[2], &load);
    const char *const names[] = {"whole.ply", "slabs.ply"};
    desc.save.making = TML_MAKE_SLABS;
    desc.save.slabs.slab_layers = 7;
    desc.decide = decide;
    for (int i = 0; i < 2; i++) {
        bool in_slabs = i;
        tml_surface_saved result;
        desc.user = &in_slabs;
        CHECK_OK(tml, tml_points_to_mesh(tml, test_data(cloud), in_folder(names[i]), &desc, NULL,
                                         NULL, &result));
        CHECK(tml_buffer_is_none(result.surface.mesh.positions) == in_slabs &&
              result.surface.part_count == 2);
        tml_surface_saved_free(tml, &result);
    }
    CHECK(test_same_files(in_folder(names[0]), in_folder(names[1])));
    tml_close(tml);
}

/* ---- what fails ------------------------------------------------------------------------------ */

static tml_status refuse_known(void *user, const tml_points *points, const tml_field_desc *field,
                               const tml_surface_saved *known, tml_surface_save_desc *save)
{
    (void)points;
    (void)field;
    (void)known;
    (void)save;
    return tml_error(user, TML_ERROR_UNSUPPORTED, "not these");
}

static tml_status refuse_mesh(void *user, tml_mesh *mesh)
{
    CHECK(mesh->vertex_count > 0 && mesh->positions && mesh->indices);
    return tml_error(user, TML_ERROR_CANCELLED, "not this one");
}

TEST(failures_tell_their_side)
{
    tml_context *tml = open_cpu(1);
    const double far[] = {99};
    const char *const names[] = {"velocity", "nothing"};
    const tml_load_desc wrong = {.names = names, .name_count = 2}, little = {.memory_limit = 1000};
    const tml_surface_desc beyond = {.isovalues = far, .isovalue_count = 1};
    const struct {
        const char *path, *name;
        tml_points_mesh_desc desc;
        tml_status status;
        tml_side side;
    } cases[] = {
        {"none.xyz", "m.ply", {.cell = 0}, TML_ERROR_FILE_ACCESS, TML_SIDE_SOURCE},
        {NULL, "m.ply", {.load = &wrong}, TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SOURCE},
        {NULL, "m.ply", {.load = &little}, TML_ERROR_OUT_OF_MEMORY, TML_SIDE_SOURCE},
        {NULL, "m.ply", {.cell = -1}, TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SURFACE},
        {NULL,
         "m.ply",
         {.decide = refuse_known, .user = tml},
         TML_ERROR_UNSUPPORTED,
         TML_SIDE_SURFACE},
        {NULL,
         "m.ply",
         {.save.file = {.edit = refuse_mesh, .user = tml}},
         TML_ERROR_CANCELLED,
         TML_SIDE_MESH},
        {NULL,
         "m.ply",
         {.save = {.making = TML_MAKE_SLABS, .smooth = 1}},
         TML_ERROR_INVALID_ARGUMENT,
         TML_SIDE_SURFACE},
        {NULL, NULL, {.save.making = TML_MAKE_SLABS}, TML_ERROR_INVALID_ARGUMENT, TML_SIDE_SURFACE},
        {NULL, "m.xyz", {.cell = 0.5}, TML_ERROR_UNSUPPORTED, TML_SIDE_MESH},
        {NULL, "m.ply", {.save.slabs.surface = &beyond}, TML_OK, TML_SIDE_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        tml_surface_saved result;
        char path[512];
        snprintf(path, sizeof path, "%s",
                 cases[i].path ? in_folder(cases[i].path) : test_data(cloud));
        CHECK_STATUS(tml_points_to_mesh(tml, path, cases[i].name ? in_folder(cases[i].name) : NULL,
                                        &cases[i].desc, NULL, NULL, &result),
                     cases[i].status);
        CHECK_EQ_I64(result.failed, cases[i].side);
        CHECK(result.is_empty == (cases[i].status == TML_OK));
        CHECK(access(in_folder("m.ply"), F_OK) != 0);
        tml_surface_saved_free(tml, &result);
    }
    tml_close(tml);
}

TEST(ellipsoids_need_one_radius)
{
    tml_context *tml = open_cpu(1);
    float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, radii[] = {1, 1, 2};
    const tml_points points = {.positions = positions, .radii = radii, .count = 3};
    tml_points_mesh_desc desc = {.kind = TML_POINTS_ANISOTROPIC};
    tml_surface_saved result;
    CHECK_OK(tml, tml_points_save(tml, in_folder("p.ply"), &points));
    CHECK_STATUS(
        tml_points_to_mesh(tml, in_folder("p.ply"), in_folder("m.ply"), &desc, NULL, NULL, &result),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.field.radius") != NULL);
    tml_surface_saved_free(tml, &result);
    desc.field.radius = 1;
    CHECK_OK(tml, tml_points_to_mesh(tml, in_folder("p.ply"), in_folder("m.ply"), &desc, NULL, NULL,
                                     &result));
    tml_surface_saved_free(tml, &result);
    tml_close(tml);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* A file a label: each is the mesh that its part of the whole is. */
TEST(each_label_has_a_file)
{
    enum { SIDE = 12 };
    tml_context *tml = open_cpu(1);
    static uint8_t samples[SIDE * SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
        const bool is_in = x > 1 && x < 10 && y > 1 && y < 10 && z > 1 && z < 10;
        samples[i] = !is_in ? 0 : x < 6 ? 3 : 40;
    }
    const tml_volume volume = {.data = samples,
                               .size = sizeof samples,
                               .type = TML_U8,
                               .grid = {.dims = {SIDE, SIDE, SIDE}},
                               .slope = 1};
    CHECK_OK(tml, tml_volume_save(tml, in_folder("l.nrrd"), &volume));
    const tml_surface_labels_desc labels = {.sharing = TML_LABELS_MANIFOLD, .smooth = 4};
    tml_surface_saved saved;
    CHECK_OK(tml, tml_volume_to_mesh(tml, in_folder("l.nrrd"), in_folder("label_%03d.ply"),
                                     &(tml_volume_mesh_desc){.save.slabs.boundaries = &labels},
                                     NULL, &saved));
    CHECK(saved.surface.part_count == 2 && !saved.is_empty);
    for (uint32_t p = 0; p < saved.surface.part_count; p++) {
        const tml_mesh_part *part = &saved.surface.parts[p];
        char name[64];
        tml_mesh_file file;
        CHECK(tml_path_number("label_%03d.ply", part->label, false, name, sizeof name));
        if (!CHECK_OK(tml, tml_mesh_load(tml, in_folder(name), NULL, &file)))
            continue;
        CHECK(file.mesh.vertex_count == part->vertex_count &&
              file.mesh.triangle_count == part->triangle_count);
        tml_mesh_file_free(tml, &file);
    }
    tml_surface_saved_free(tml, &saved);
    tml_close(tml);
}

/* ---- kinds of files -------------------------------------------------------------------------- */

TEST(kinds_of_files)
{
    tml_context *tml = open_cpu(1);
    float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, range[] = {0, 1};
    uint32_t indices[] = {0, 1, 2};
    const tml_mesh mesh = {
        .positions = positions, .indices = indices, .vertex_count = 3, .triangle_count = 1};
    const tml_points points = {.positions = positions, .count = 3};
    const tml_volume_index index = {.dims = {2, 2, 2}, .type = TML_U8, .ranges = range, .count = 1};
    CHECK_OK(tml, tml_mesh_save(tml, in_folder("m.ply"), &mesh));
    CHECK_OK(tml, tml_mesh_save(tml, in_folder("m.obj"), &mesh));
    CHECK_OK(tml, tml_mesh_save(tml, in_folder("n.obj"), &mesh));
    char obj[512];
    snprintf(obj, sizeof obj, "%s", in_folder("n.obj"));
    CHECK(rename(obj, in_folder("obj.txt")) == 0);
    CHECK_OK(tml, tml_points_save(tml, in_folder("p.ply"), &points));
    CHECK_OK(tml, tml_volume_index_save(tml, in_folder("i.tmx"), &index));
    const struct {
        const char *name;
        bool is_data;
        tml_file_kind asked, kind;
        const char *format;
    } cases[] = {
        {"pictures/basn2c16.png", true, TML_FILE_NONE, TML_FILE_PICTURE, "PNG"},
        {"volumes/ball30_gz.nrrd", true, TML_FILE_NONE, TML_FILE_VOLUME, "NRRD"},
        {"volumes/ball30_gz.nrrd", true, TML_FILE_MESH, TML_FILE_NONE, NULL},
        {"points/bunny397.pcd", true, TML_FILE_NONE, TML_FILE_POINTS, "PCD"},
        {"points/points_cloudcompare.xyz", true, TML_FILE_NONE, TML_FILE_POINTS, "XYZ"},
        {"i.tmx", false, TML_FILE_NONE, TML_FILE_INDEX, "index"},
        {"m.ply", false, TML_FILE_NONE, TML_FILE_MESH, "PLY"},
        {"m.ply", false, TML_FILE_POINTS, TML_FILE_POINTS, "PLY"},
        {"p.ply", false, TML_FILE_NONE, TML_FILE_POINTS, "PLY"},
        {"p.ply", false, TML_FILE_MESH, TML_FILE_NONE, NULL},
        {"m.obj", false, TML_FILE_NONE, TML_FILE_MESH, "OBJ"},
        {"obj.txt", false, TML_FILE_MESH, TML_FILE_MESH, "OBJ"},
        {"obj.txt", false, TML_FILE_NONE, TML_FILE_POINTS, "XYZ"},
        {"none", false, TML_FILE_NONE, TML_FILE_NONE, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        tml_file_kind found = TML_FILE_MESH;
        const char *path = cases[i].is_data ? test_data(cases[i].name) : in_folder(cases[i].name);
        const char *format = tml_file_format(tml, path, cases[i].asked, &found);
        const bool is_kind = CHECK_EQ_I64(found, cases[i].kind);
        const bool is_format = CHECK(!format == !cases[i].format) &&
                               CHECK(!format || strcmp(format, cases[i].format) == 0);
        if (!is_kind || !is_format)
            printf("  (%s: %s)\n", cases[i].name, format ? format : "none");
    }
    tml_close(tml);
}

TEST(numbers_in_names)
{
    char out[16];
    CHECK(tml_path_number("a_%d.ply", 0, false, NULL, 0) &&
          tml_path_number("%04d", 0, false, NULL, 0));
    CHECK(!tml_path_number("a.ply", 0, false, NULL, 0) &&
          !tml_path_number("%s", 0, false, NULL, 0) &&
          !tml_path_number("%d_%d", 0, false, NULL, 0) &&
          !tml_path_number("%12d", 0, false, NULL, 0));
    CHECK(tml_path_number("a_%04d.ply", 7, false, out, sizeof out) &&
          strcmp(out, "a_0007.ply") == 0);
    CHECK(tml_path_number("%d", (uint64_t)-3, true, out, sizeof out) && strcmp(out, "-3") == 0);
    CHECK(tml_path_number("a.ply", 7, false, out, sizeof out) && strcmp(out, "a.ply") == 0);
    CHECK(!tml_path_number("a_%x.ply", 7, false, out, sizeof out));
    CHECK(!tml_path_number("a_long_name_%d.ply", 7, false, out, sizeof out));
}

int main(int argc, char **argv)
{
    return test_main_in_folder("points-to-mesh", argc, argv);
}
