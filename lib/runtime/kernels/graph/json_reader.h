/* Reading JSON from its beginning to its end: the caller says what it expects next. The first thing that is otherwise
 * is kept as a sentence with its line; after that nothing more is found.
 */
#ifndef NS_JSON_READER_H
#define NS_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NS_JSON_NAME_BYTES = 64, NS_JSON_MOST_DEPTH = 32 };

typedef struct {
    char *text; /* of the whole file, with a zero byte at its end */
    const char *at;
    uint32_t depth;                 /* of objects and arrays that have been entered */
    bool begun[NS_JSON_MOST_DEPTH]; /* whether something has been read of each */
    bool failed;
    char problem[160];
} ns_json_reader;

/* Read the file; false, with a sentence in `problem`, if that cannot be done. */
bool ns_json_open(ns_json_reader *self, const char *path);
void ns_json_close(ns_json_reader *self);

/* Enter the object or array that comes next. */
void ns_json_enter(ns_json_reader *self, char bracket);

/* Whether another member of the object follows; its key. At its end, the object is left. */
bool ns_json_next_key(ns_json_reader *self, char key[NS_JSON_NAME_BYTES]);

/* Whether another entry of the array follows. At its end, the array is left. */
bool ns_json_next_entry(ns_json_reader *self);

/* The value that comes next: a string, cut at 63 bytes; a whole number from 0 to `most`; anything. */
void ns_json_read_text(ns_json_reader *self, char text[NS_JSON_NAME_BYTES]);
int64_t ns_json_read_integer(ns_json_reader *self, int64_t most);
void ns_json_skip(ns_json_reader *self);

/* What has been read is not right here, for this reason. */
void ns_json_fail(ns_json_reader *self, const char *reason);

#endif
