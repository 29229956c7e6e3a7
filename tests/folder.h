/* A test program's own folder of temporary files, which test_main_in_folder (or
 * make_folder and remove_folder) makes and removes; include after
 * test.h. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>

extern char folder[512];

/* Good until eight more paths were made, as test_path. */
static inline const char *in_folder(const char *name)
{
    return test_path(folder, name);
}

void write_file(const char *name, const void *data, size_t size);
size_t file_count(void);
void remove_files(void);

/* name tells one program's folder from another's. */
bool make_folder(const char *name);

static inline void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

/* As test_main. */
static inline int test_main_in_folder(const char *name, int argc, char **argv)
{
    if (!make_folder(name))
        return 1;
    int result = test_main(argc, argv);
    remove_folder();
    return result;
}

#endif
