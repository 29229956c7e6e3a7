/* The page about the JSON that commands print. */
#ifndef CLI_JSON_PAGE_H
#define CLI_JSON_PAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes docs/json.md. */
void json_page_print(FILE *out);

#endif
