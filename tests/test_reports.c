/* Inputs that other programs' users have reported as read wrongly, each with what is right
 * (TML_DATA: reports/README.md). Volumes are 6 x 5 x 4 samples of 10 x + 3 y + 7 z, meshes the unit
 * cube, unless a test says otherwise. */
#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include "test.h"

#include "contexts.h"
#include "folder.h"
#include "warned.h"

enum { TEXT = 1 << 16 };
static char err[TEXT], out[TEXT];

static const char *report(const char *name)
{
    char relative[128];
    snprintf(relative, sizeof relative, "reports/%s", name);
    return test_full_data(relative);
}

#define NEED_REPORTS()                                                                             \
    if (!report("README.md"))                                                                      \
    SKIP("TML_DATA names no collection")

/* ---- volumes --------------------------------------------------------------------------------- */

typedef struct volume_row {
    const char *name;
    tml_load_desc desc;
    double spacing[3];    /* 0: any */
    double scale, offset; /* of 10 x + 3 y + 7 z: what the values are */
    bool is_warned;       /* something had to be assumed */
    const char *unit;     /* NULL: any */
} volume_row;

static double physical(const tml_volume *v, uint64_t i)
{
    double stored = (double)NAN;
    switch (v->type) {
    case TML_U8:
        stored = ((const uint8_t *)v->data)[i];
        break;
    case TML_U16:
        stored = ((const uint16_t *)v->data)[i];
        break;
    case TML_I16:
        stored = ((const int16_t *)v->data)[i];
        break;
    case TML_F32:
        stored = (double)((const float *)v->data)[i];
        break;
    case TML_F64:
        stored = ((const double *)v->data)[i];
        break;
    default:
        break;
    }
    return v->slope * stored + v->intercept;
}

static void check_volume(const volume_row *r)
{
    tml_context *tml = open_listening();
    tml_volume v;
    bool good = CHECK_OK(tml, tml_volume_load(tml, report(r->name), &r->desc, &v));
    if (good) {
        const uint64_t *dims = v.grid.dims;
        good &= CHECK(dims[0] == 6 && dims[1] == 5 && dims[2] == 4);
        for (uint64_t i = 0; i < dims[0] * dims[1] * dims[2] && good; i++) {
            uint64_t x = i % 6, y = i / 6 % 5, z = i / 30;
            good &= CHECK_NEAR(physical(&v, i),
                               r->scale * (double)(10 * x + 3 * y + 7 * z) + r->offset, 1e-4);
        }
        for (int a = 0; a < 3 && r->spacing[a] != 0; a++)
            good &= CHECK_NEAR(v.grid.spacing[a], r->spacing[a], 1e-6 * r->spacing[a]);
        if (r->unit)
            good &= CHECK_STR(v.unit, r->unit);
        good &= CHECK(!r->is_warned || warned[0]);
        tml_volume_free(tml, &v);
    }
    if (!good)
        printf("  (%s: %s)\n", r->name, warned);
    tml_close(tml);
}

TEST(volumes_are_what_their_files_say)
{
    static const volume_row rows[] = {
        {"ome_units.ome.tif", .scale = 1, .spacing = {500, 500, 3000}, .unit = "nm"},
        {"ome_lines.ome.tif", .scale = 1, .spacing = {0.5, 0.5, 3}},
        {"ome_order.ome.tif", .scale = 1},
        {"imagej_colours.tif", .scale = 1, .spacing = {0.5, 0.5, 3}},
        {"imagej_signed.tif", .scale = 4, .offset = -200},
        {"dicom_no_positions", .scale = 1, .is_warned = true, .unit = "mm"},
        {"dicom_no_preamble", .scale = 1, .spacing = {1, 2, 3}},
        {"dicom_frames_mixed.dcm", .scale = 1, .spacing = {1, 2, 3}},
        {"nifti_dim4_0.nii", .scale = 1, .spacing = {1, 2, 3}},
        {"nifti_sform_0.nii", {.spacing = {1, 2, 3}}, .scale = 1, .spacing = {1, 2, 3}},
        {"vti_key.vti", .scale = 1, .spacing = {1, 2, 3}},
    };
    NEED_REPORTS();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_volume(&rows[i]);
}

TEST(images_in_several_files_are_whole_or_refused)
{
    static const char *const names[] = {"ome_files/c0.ome.tif", "ome_files/c1.ome.tif"};
    NEED_REPORTS();
    for (uint32_t c = 0; c < 2; c++) {
        tml_context *tml = open_listening();
        tml_volume v;
        tml_status status = tml_volume_load(tml, report(names[c]), NULL, &v);
        if (status != TML_OK) {
            CHECK(strstr(tml_last_error(tml), "file"));
        } else {
            for (uint64_t z = 0; z < 4; z++) /* or another file's channel, and a word */
                CHECK(physical(&v, 30 * z) == 50.0 * c + 7.0 * (double)z ||
                      strstr(warned, "files"));
            CHECK(v.grid.dims[2] == 4);
            tml_volume_free(tml, &v);
        }
        tml_close(tml);
    }
}

TEST(a_pointer_is_not_called_gzip)
{
    NEED_REPORTS();
    tml_context *tml = open_listening();
    tml_volume v;
    CHECK(tml_volume_load(tml, report("pointer.nii.gz"), NULL, &v) != TML_OK);
    CHECK(!strstr(tml_last_error(tml), "compressed with gzip"));
    CHECK(strstr(tml_last_error(tml), "LFS"));
    tml_close(tml);
}

TEST(no_sample_comes_out_of_old_memory)
{
    NEED_REPORTS();
    tml_context *tml = open_listening();
    tml_volume v;
    tml_picture p;
    if (tml_volume_load(tml, report("deflate_strip_longer_than_its_rows.tif"), NULL, &v) ==
        TML_OK) {
        for (size_t i = 0; i < v.size; i++)
            CHECK(((const uint8_t *)v.data)[i] == 0);
        tml_volume_free(tml, &v);
    }
#ifdef TML_EXR
    CHECK_STATUS(tml_picture_load(tml, report("exr_uncompressed_row_of_1_byte.exr"), NULL, &p),
                 TML_ERROR_FILE_FORMAT);
#else
    (void)p;
#endif
    tml_close(tml);
}

/* ---- meshes and points ----------------------------------------------------------------------- */

static double enclosed(const tml_mesh *m)
{
    const uint32_t *indices = m->indices;
    double sum = 0;
    for (uint64_t t = 0; t < m->triangle_count; t++) {
        const float *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = m->positions + 3 * (uint64_t)indices[3 * t + (uint64_t)k];
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            sum += (double)p[0][i] *
                   ((double)p[1][j] * (double)p[2][k] - (double)p[1][k] * (double)p[2][j]);
        }
    }
    return sum / 6;
}

TEST(meshes_are_the_cube)
{
    static const struct {
        const char *name;
        double volume;
        bool is_warned;
    } rows[] = {
        {"stl_capitals.stl", 1, false},    {"stl_one_byte_more.stl", 1, false},
        {"stl_normals_ind.stl", 1, false}, {"off_glued.off", 1, false},
        {"obj_two_corners.obj", 1, true},  {"obj_normal_0.obj", 1, false},
        {"polygons.vtk", 1, false},        {"sparse.gltf", 11.0 / 6, false},
    };
    NEED_REPORTS();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tml_context *tml = open_listening();
        tml_mesh_file file;
        bool good = CHECK_OK(tml, tml_mesh_load(tml, report(rows[i].name), NULL, &file));
        if (good) {
            good &= CHECK_EQ_U64(file.mesh.triangle_count, 12);
            good &= CHECK_NEAR(enclosed(&file.mesh), rows[i].volume, 1e-6);
            good &= CHECK(!rows[i].is_warned || warned[0]);
            tml_mesh_file_free(tml, &file);
        }
        if (!good)
            printf("  (%s: %s)\n", rows[i].name, warned);
        tml_close(tml);
    }
}

TEST(what_gltf_requires_is_known_or_refused)
{
    NEED_REPORTS();
    tml_context *tml = open_listening();
    tml_mesh_file file;
    if (tml_mesh_load(tml, report("required.gltf"), NULL, &file) == TML_OK) {
        CHECK_EQ_U64(file.mesh.triangle_count, 24);
        CHECK_NEAR(enclosed(&file.mesh), 2, 1e-5);
        tml_mesh_file_free(tml, &file);
    } else {
        CHECK(strstr(tml_last_error(tml), "EXT_mesh_gpu_instancing"));
    }
    tml_close(tml);
}

TEST(points_end_their_lines_in_cr)
{
    NEED_REPORTS();
    tml_context *tml = open_listening();
    tml_points points;
    if (CHECK_OK(tml, tml_points_load(tml, report("points_cr.xyz"), NULL, &points))) {
        CHECK_EQ_U64(points.count, 5);
        tml_points_free(tml, &points);
    }
    tml_close(tml);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static double red(const tml_picture *p, uint32_t x, uint32_t y)
{
    uint64_t i = ((uint64_t)y * p->width + x) * p->channels;
    uint32_t half = p->type == TML_F16 ? ((const uint16_t *)p->data)[i] : 0;
    double of_half = ldexp(1024 * (half >> 10 != 0) + (double)(half & 1023),
                           (int)(half >> 10 ? half >> 10 : 1) - 25);
    return p->type == TML_F32   ? (double)((const float *)p->data)[i]
           : p->type == TML_F16 ? of_half
           : p->type == TML_U16 ? ((const uint16_t *)p->data)[i] / 65535.0
                                : ((const uint8_t *)p->data)[i] / 255.0;
}

TEST(pictures_have_their_samples)
{
    NEED_REPORTS();
    tml_context *tml = open_listening();
    tml_picture p;
    if (CHECK_OK(tml, tml_picture_load(tml, report("crlf.pfm"), NULL, &p))) {
        for (uint32_t x = 0; x < 4; x++)
            CHECK_NEAR(red(&p, x, 0), 0.25 * x, 0);
        tml_picture_free(tml, &p);
    }
    if (CHECK_OK(tml, tml_picture_load(tml, report("cicp_pq.png"), NULL, &p))) {
        CHECK(!p.srgb);
        CHECK_NEAR(red(&p, 3, 0) / red(&p, 7, 0), 0.0044, 0.0001);
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
}

/* ---- with the command ------------------------------------------------------------------------ */

TML_FORMAT(1, 2) static int run(const char *format, ...)
{
    char line[2048], command[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    snprintf(command, sizeof command, "'%s' %s >'%s' 2>'%s' </dev/null", getenv("TML_CLI"), line,
             in_folder("out.txt"), in_folder("err.txt"));
    int status = system(command);
    test_read_text(in_folder("out.txt"), out, sizeof out);
    test_read_text(in_folder("err.txt"), err, sizeof err);
    return status;
}

#define NEED_COMMAND()                                                                             \
    NEED_REPORTS();                                                                                \
    if (!getenv("TML_CLI") || !*getenv("TML_CLI"))                                                 \
    SKIP("no command was built")

TEST(labels_are_told_apart)
{
    static const struct {
        const char *file, *options, *output, *printed;
    } rows[] = {
        {"labels_u64.npy", "--labels 720575940621234568", "x.vtp", "720575940621234568"},
        {"labels_u64.npy", "--labels all", "x.vtp", "720575940621234567"},
        {"labels_i64.npy", "--labels all --smooth 8", "x.ply", "\"triangles\": "},
        {"labels_i64.npy", "--labels all --separate", "x.ply", "\"value\": 2"},
        {"labels_f64.nii", "--labels all", "x.ply", "\"value\": 2"},
        {"labels_scaled.nii", "--labels 1,2", "x.ply", "\"value\": 2"},
    };
    NEED_COMMAND();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool good = CHECK(run("surface '%s' %s -o '%s' --json", report(rows[i].file),
                              rows[i].options, in_folder(rows[i].output)) == 0) &&
                    CHECK(strstr(out, rows[i].printed));
        if (!good)
            printf("  (%s %s: %s)\n", rows[i].file, rows[i].options, err);
    }
}

TEST(far_from_0_is_as_near_it)
{
    static const struct {
        const char *a, *b;
        double distance;
    } pairs[] = {
        {"far_a.obj", "far_b.obj", 0.001},
        {"far_b.obj", "far_a.obj", 0.001},
        {"far_a.obj", "far_c.obj", 0},
        {"far_c.obj", "far_a.obj", 0},
    };
    NEED_COMMAND();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        CHECK(run("collide '%s' '%s' --json", report(pairs[i].a), report(pairs[i].b)) == 0);
        const char *count = strstr(out, "\"pair_count\": ");
        CHECK(count && (atoi(count + 14) > 0) == (pairs[i].distance == 0));
        CHECK(run("collide '%s' '%s' --find distance --json", report(pairs[i].a),
                  report(pairs[i].b)) == 0);
        const char *distance = strstr(out, "\"distance\": ");
        if (CHECK(distance))
            CHECK_NEAR(strtod(distance + 12, NULL), pairs[i].distance, 1e-6);
    }
    CHECK(run("surface '%s' --iso 0 -o '%s'", report("far_volume.nrrd"), in_folder("x.stl")) == 0);
    bool is_warned = strstr(err, "warning") != NULL;
    CHECK(run("info '%s' --json", in_folder("x.stl")) == 0);
    CHECK(is_warned || strstr(out, "\"euler\": 2"));
}

int main(int argc, char **argv)
{
    return test_main_in_folder("reports", argc, argv);
}
