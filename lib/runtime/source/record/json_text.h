/* Strings in JSON. */
#ifndef NS_JSON_TEXT_H
#define NS_JSON_TEXT_H

#include <stdio.h>

/* Write `text`, which is UTF-8, as a JSON string with its quotes. */
void ns_json_write_text(FILE *file, const char *text);

#endif
