/* Finds files that stand in for others: pointers that version control leaves if a large file is not
 * fetched, and what a failed download leaves. They have the name of a volume, a mesh or a picture,
 * but are a few lines of text or a web page. Every file that is opened is checked, so no reader
 * mistakes one for damaged data. */
#include "io/io_internal.h"

enum { HEAD_SIZE = 512 };

/* Skips blanks and a UTF-8 byte order mark. */
static io_span without_lead(io_span head)
{
    if (tml_io_starts_with(head, "\xef\xbb\xbf"))
        head = (io_span){head.text + 3, head.size - 3};
    while (head.size && (*head.text == ' ' || (*head.text >= '\t' && *head.text <= '\r')))
        head = (io_span){head.text + 1, head.size - 1};
    return head;
}

static bool begins_in_any_case(io_span head, const char *prefix)
{
    size_t size = strlen(prefix);
    return head.size >= size && tml_io_is_any_case((io_span){head.text, size}, prefix);
}

bool tml_io_is_pointer(io_span head)
{
    return tml_io_starts_with(head, "version https://git-lfs.github.com/spec/") ||
           tml_io_starts_with(head, "version https://hawser.github.com/spec/") ||
           tml_io_starts_with(head, "/annex/objects/");
}

/* Returns what the file is in place of the expected one, or NULL if it may be that. */
static const char *stand_in(io_span head)
{
    if (tml_io_is_pointer(head))
        return *head.text == '/'
                   ? "is a pointer of git-annex, which stands for the file itself; fetch "
                     "that: git annex get, or datalad get"
                   : "is a pointer of Git LFS, which stands for the file itself; fetch "
                     "that: git lfs pull";
    head = without_lead(head);
    if (begins_in_any_case(head, "<!doctype html") || begins_in_any_case(head, "<html") ||
        begins_in_any_case(head, "<head"))
        return "is a web page (HTML), as a download leaves that failed or led to a page about the "
               "file; download the file itself";
    bool is_error = tml_io_starts_with(head, "<?xml") && tml_io_find(head, "<Error>") &&
                    tml_io_find(head, "<Code>");
    if (is_error || tml_io_starts_with(head, "404: Not Found") ||
        tml_io_starts_with(head, "{\"message\":"))
        return "is a server's message that a download failed; download the file again";
    return NULL;
}

tml_status tml_io_check_stand_in(const io_file *file)
{
    char head[HEAD_SIZE];
    size_t size = file->size < sizeof head ? (size_t)file->size : sizeof head;
    if (size == 0 || tml_io_read_quietly(file, 0, head, size) != 0)
        return TML_OK; /* the reader will report it */
    const char *what = stand_in((io_span){head, size});
    return what ? tml_io_error(file, TML_ERROR_UNSUPPORTED, "%s", what) : TML_OK;
}
