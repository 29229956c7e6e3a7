/* A test program's own folder of temporary files. test_main_in_folder, or make_folder and
 * remove_folder, creates and removes it. Include after test.h. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>

extern char folder[512];

/* Returns the path of a file in the folder. As with test_path, it is valid until eight more paths
 * are made. */
static inline const char *in_folder(const char *name)
{
    return test_path(folder, name);
}

void write_file(const char *name, const void *data, size_t size);
size_t file_count(void);
void remove_files(void);

/* Creates the folder. name is part of its name. */
bool make_folder(const char *name);

static inline void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

/* As test_main, with a folder. */
static inline int test_main_in_folder(const char *name, int argc, char **argv)
{
    if (!make_folder(name))
        return 1;
    int result = test_main(argc, argv);
    remove_folder();
    return result;
}

#endif
