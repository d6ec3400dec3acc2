#include "kernels/graph/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ns_json_open(ns_json_reader *self, const char *path) {
    FILE *file = fopen(path, "rb");
    long bytes = -1;
    *self = (ns_json_reader){0};
    if (file && fseek(file, 0, SEEK_END) == 0) bytes = ftell(file);
    if (bytes >= 0) self->text = malloc((size_t)bytes + 1);
    if (self->text) {
        rewind(file);
        self->text[fread(self->text, 1, (size_t)bytes, file)] = 0;
        self->at = self->text;
    } else {
        snprintf(self->problem, sizeof self->problem, "the file cannot be read");
    }
    if (file) fclose(file);
    return self->text != NULL;
}

void ns_json_close(ns_json_reader *self) { free(self->text); }

void ns_json_fail(ns_json_reader *self, const char *reason) {
    size_t line = 1;
    if (self->failed) return;
    for (const char *at = self->text; at < self->at; at++) line += *at == '\n';
    snprintf(self->problem, sizeof self->problem, "line %zu: %s", line, reason);
    self->failed = true;
}

/* The next letter that is no blank; 0 at the end. */
static char peek(ns_json_reader *self) {
    self->at += strspn(self->at, " \t\r\n");
    return self->failed ? 0 : *self->at;
}

static void expect(ns_json_reader *self, char letter) {
    char reason[] = "a ' ' is missing";
    reason[3] = letter;
    if (peek(self) == letter) {
        self->at++;
    } else {
        ns_json_fail(self, reason);
    }
}

void ns_json_enter(ns_json_reader *self, char bracket) {
    expect(self, bracket);
    if (self->depth == NS_JSON_MOST_DEPTH) {
        ns_json_fail(self, "the JSON is nested too deeply");
    } else {
        self->begun[self->depth++] = false;
    }
}

/* Whether `bracket` does not end here what was entered last; what follows is behind a comma, but for the first. */
static bool goes_on(ns_json_reader *self, char bracket) {
    if (self->failed) return false;
    if (peek(self) == bracket) {
        self->at++;
        self->depth--;
        return false;
    }
    if (self->begun[self->depth - 1]) expect(self, ',');
    self->begun[self->depth - 1] = true;
    return !self->failed;
}

bool ns_json_next_entry(ns_json_reader *self) { return goes_on(self, ']'); }

bool ns_json_next_key(ns_json_reader *self, char key[NS_JSON_NAME_BYTES]) {
    if (!goes_on(self, '}')) return false;
    ns_json_read_text(self, key);
    expect(self, ':');
    return !self->failed;
}

/* Escapes are kept as they are written: no name that is looked for has any. */
void ns_json_read_text(ns_json_reader *self, char text[NS_JSON_NAME_BYTES]) {
    size_t length = 0;
    expect(self, '"');
    while (!self->failed && *self->at && *self->at != '"') {
        const size_t letters = self->at[0] == '\\' && self->at[1] ? 2 : 1;
        for (size_t at = 0; at < letters && length + 1 < NS_JSON_NAME_BYTES; at++) text[length++] = self->at[at];
        self->at += letters;
    }
    text[length] = 0;
    if (!self->failed) expect(self, '"');
}

int64_t ns_json_read_integer(ns_json_reader *self, int64_t most) {
    int64_t number = 0;
    const char first = peek(self);
    if (first < '0' || first > '9') ns_json_fail(self, "a whole number is needed here");
    for (; !self->failed && *self->at >= '0' && *self->at <= '9'; self->at++) {
        const bool fits = !__builtin_mul_overflow(number, 10, &number) &&
                          !__builtin_add_overflow(number, *self->at - '0', &number) && number <= most;
        if (!fits) ns_json_fail(self, "this number is too large here");
    }
    return self->failed ? 0 : number;
}

void ns_json_skip(ns_json_reader *self) {
    char name[NS_JSON_NAME_BYTES];
    switch (peek(self)) {
        case '{':
            ns_json_enter(self, '{');
            while (ns_json_next_key(self, name)) ns_json_skip(self);
            return;
        case '[':
            ns_json_enter(self, '[');
            while (ns_json_next_entry(self)) ns_json_skip(self);
            return;
        case '"': ns_json_read_text(self, name); return;
        default: break;
    }
    const size_t length = strspn(self->at, "+-.0123456789aeflnrstuE");
    if (!length) ns_json_fail(self, "a value is missing");
    self->at += length;
}
