/* Files of points. */
#include "reference.h"
#include <trommel/io.h>

/* Points to a file and back. With an origin, coordinates of seven digits keep their millimetres. */
static void save_and_load(tml_context *tml)
{
    const char *path = "reference_points.ply";
    float positions[] = {0, 0, 0, 1, 2, 3};
    const tml_points points = {.positions = positions, .count = 2, .origin = {5000000, 0, 0}};
    tml_points loaded;
    MUST(tml_points_save(tml, path, &points));
    CHECK(!strcmp(tml_points_format(tml, path), "PLY"));
    MUST(tml_points_load(tml, path, NULL, &loaded));
    CHECK(loaded.count == 2 && loaded.origin[0] + loaded.positions[3] == 5000001);
    tml_points_free(tml, &loaded);
    remove(path);
}

/* What points carry, by its name: three columns vx vy vz are "velocity". */
static void attributes(tml_context *tml)
{
    const char *path = "reference_points.csv", *const names[] = {"velocity"};
    tml_points points;
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("x,y,z,vx,vy,vz\n0,0,0,1,2,3\n1,0,0,4,5,6\n", file) >= 0 && !fclose(file));
    MUST(tml_points_load(tml, path, &(tml_points_load_desc){.names = names, .name_count = 1},
                         &points));
    const tml_point_attribute *velocity = &points.attributes[0];
    CHECK(!strcmp(velocity->name, "velocity") && velocity->components == 3);
    CHECK(velocity->values[3] == 4);
    tml_points_free(tml, &points);
    remove(path);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){save_and_load, attributes, NULL});
}
