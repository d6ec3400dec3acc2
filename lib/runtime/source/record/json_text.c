#include "record/json_text.h"

void ns_json_write_text(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        const unsigned char letter = (unsigned char)*text;
        if (letter < 0x20) {
            fprintf(file, "\\u%04x", letter);
        } else {
            if (letter == '"' || letter == '\\') fputc('\\', file);
            fputc(letter, file);
        }
    }
    fputc('"', file);
}
