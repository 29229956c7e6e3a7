/* A test program's own folder of temporary files, which test_main_in_folder (or
 * make_folder and remove_folder) makes and removes; include after
 * test.h. */
#ifndef FOLDER_H
#define FOLDER_H

#include <dirent.h>

static char folder[512];

/* Good until eight more paths were made, as test_path. */
static inline const char *in_folder(const char *name)
{
    return test_path(folder, name);
}

static inline void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");
    CHECK(file && fwrite(data, 1, size, file) == size);
    if (file)
        fclose(file);
}

static inline size_t file_count(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

static inline void remove_files(void)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlink(in_folder(entry->d_name));
    if (directory)
        closedir(directory);
}

/* name tells one program's folder from another's. */
static inline bool make_folder(const char *name)
{
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/trommel-%s-XXXXXX", root ? root : "/tmp", name);
    if (!mkdtemp(folder)) {
        perror(folder);
        return false;
    }
    return true;
}

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
