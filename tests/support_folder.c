/* A test program's own folder of temporary files. */
#include "test.h"

#include "folder.h"

char folder[512];

void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");
    CHECK(file && fwrite(data, 1, size, file) == size);
    if (file)
        fclose(file);
}

size_t file_count(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

void remove_files(void)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlink(in_folder(entry->d_name));
    if (directory)
        closedir(directory);
}

bool make_folder(const char *name)
{
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/trommel-%s-XXXXXX", root ? root : "/tmp", name);
    if (!mkdtemp(folder)) {
        perror(folder);
        return false;
    }
    return true;
}
