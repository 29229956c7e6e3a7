/* Errors and warnings of a command, and the exit codes that belong to them. */
#include "messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options/words.h"
#include "ranks.h"
#include "report/progress.h"
#include "running.h"
#include "standard_names.h"

/* State of the context's log hook. */
static struct {
    bool quiet, strict;
    char error[512];   /* the latest; all that is known if a context failed to open */
    uint32_t warnings; /* from the library */
} log_state;

typedef enum message_kind { MESSAGE_WARNING, MESSAGE_ERROR, MESSAGE_USAGE } message_kind;

/* Prints a message in one piece, since other processes may print, too. */
static void print_message(message_kind kind, const char *format, va_list values)
{
    char text[4096];
    size_t room = sizeof text - 128, used;
    const bool has = cli_has_command();
    progress_clear();
    snprintf(text, room, "%s: %s%s%s", cli_this_program.name, has ? cli_name() : "",
             has ? ": " : "", kind == MESSAGE_WARNING ? "warning: " : "");
    used = strlen(text);
    vsnprintf(text + used, room - used, format, values);
    standard_names_in(text + used, room - used);
    if (kind != MESSAGE_WARNING)
        running_keep_failure(text + used);
    used = strlen(text);
    snprintf(text + used, sizeof text - used, "\n");
    used = strlen(text);
    if (kind == MESSAGE_USAGE)
        snprintf(text + used, sizeof text - used, "Try '%s%s%s --help'.\n", cli_this_program.name,
                 has ? " " : "", has ? cli_name() : "");
    if (kind == MESSAGE_WARNING ? ranks_mine() == 0 : !ranks_keep_message(text))
        fputs(text, stderr);
}

/* Whether this text was already printed. A file may be opened twice, to examine and to read it. */
static bool was_printed(const char *text)
{
    enum { REMEMBERED = 64 };
    static uint64_t printed[REMEMBERED];
    static uint32_t count;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 1099511628211u;
    for (uint32_t i = 0; i < count && i < REMEMBERED; i++)
        if (printed[i] == hash)
            return true;
    printed[count++ % REMEMBERED] = hash;
    return false;
}

static void print_warning(const char *format, ...) TML_FORMAT(1, 2);
static void print_warning(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_WARNING, format, values);
    va_end(values);
}

void cli_warn(const char *format, ...)
{
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (!log_state.quiet && !was_printed(text))
        print_warning("%s", text);
}

int(cli_error)(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_ERROR, format, values);
    va_end(values);
    return CLI_FAILED;
}

int cli_usage(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(MESSAGE_USAGE, format, values);
    va_end(values);
    return CLI_USAGE;
}

int(cli_fail)(tml_context *tml, tml_status status)
{
    if (status == TML_OK)
        return CLI_OK;
    if (status == TML_ERROR_CANCELLED) {
        cli_error("cancelled");
        return CLI_CANCELLED;
    }
    const char *detail = cli_last_error(tml);
    return cli_error("%s", *detail ? detail : tml_status_text(status));
}

/* Removes what helps only programmers: the call's name, "tml_volume_load: ", and names of fields.
 * The result is valid for three more calls. */
static const char *for_users(const char *message)
{
    static char texts[4][2048];
    static unsigned next;
    const char *colon = strncmp(message, "tml_", 4) == 0 ? strstr(message, ": ") : NULL;
    return words_for_users(colon ? colon + 2 : message, texts[next++ % 4], sizeof texts[0]);
}

bool cli_is_strict(void)
{
    return log_state.strict;
}

uint32_t cli_warnings(void)
{
    return log_state.warnings;
}

const char *cli_last_error(const tml_context *tml)
{
    return for_users(tml_last_error(tml));
}

void cli_take_message(void *user, tml_log_level level, const char *message)
{
    (void)user;
    if (level == TML_LOG_WARNING) {
        log_state.warnings++;
        cli_warn("%s", for_users(message));
    }
    if (level == TML_LOG_ERROR)
        snprintf(log_state.error, sizeof log_state.error, "%s", message);
}

void messages_begin(bool quiet, bool strict)
{
    log_state.quiet = quiet;
    log_state.strict = strict;
}

void messages_begin_opening(bool quiet)
{
    log_state.error[0] = '\0';
    log_state.quiet = quiet;
}

const char *messages_of_opening(void)
{
    return for_users(log_state.error);
}
