#include "driver/options/values.h"

#include <inttypes.h>
#include <string.h>

#include "driver/options/names.h"
#include "record/output_file.h"

enum { TIME_DECIMALS = 3, FRACTION_DECIMALS = 18, MOST_CHOICES = 16, CHOICE_BYTES = 32 };
static const int64_t FRACTION_ONE = INT64_C(1000000000000000000);

/* Digits with up to `decimals` of them behind a point, as a whole number of units of the last one. */
static bool read_decimal(int64_t *value, const char *text, int decimals) {
    int64_t number = 0;
    int behind = -1;
    if (*text < '0' || *text > '9') return false;
    for (; *text; text++) {
        if (*text == '.' && behind < 0 && decimals) {
            behind = 0;
            continue;
        }
        if (*text < '0' || *text > '9' || behind == decimals) return false;
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number)) {
            return false;
        }
        if (behind >= 0) behind++;
    }
    if (behind == 0) return false;
    for (int missing = decimals - (behind > 0 ? behind : 0); missing > 0; missing--) {
        if (__builtin_mul_overflow(number, 10, &number)) return false;
    }
    *value = number;
    return true;
}

bool ns_integer_read(int64_t *value, const char *text, int64_t low, int64_t high) {
    return read_decimal(value, text, 0) && low <= *value && *value <= high;
}

bool ns_choice_name(const char *names, int64_t place, char *name, size_t bytes) {
    for (; place > 0; place--) {
        names = strchr(names, ' ');
        if (!names) return false;
        names++;
    }
    snprintf(name, bytes, "%.*s", (int)strcspn(names, " "), names);
    return true;
}

static bool read_choice(ns_value *self, const ns_parameter *parameter, const char *text, char *problem, size_t bytes) {
    char name[MOST_CHOICES][CHOICE_BYTES];
    const char *names[MOST_CHOICES + 1] = {NULL}, *nearest;
    for (int at = 0; at < MOST_CHOICES && ns_choice_name(parameter->choices, at, name[at], CHOICE_BYTES); at++) {
        names[at] = name[at];
    }
    self->number = ns_names_find(names, text, &nearest);
    if (self->number >= 0) return true;
    snprintf(problem, bytes, "%s is '%s', and has to be one of: %s; the nearest is %s", parameter->name, text,
             parameter->choices, nearest);
    return false;
}

static bool refuse(const ns_parameter *parameter, const char *text, const char *right, char *problem, size_t bytes) {
    snprintf(problem, bytes, "%s is '%s', and has to be %s", parameter->name, text, right);
    return false;
}

static bool read_integer(ns_value *self, const ns_parameter *parameter, const char *text, char *problem, size_t bytes) {
    char right[96];
    if (ns_integer_read(&self->number, text, parameter->low, parameter->high)) return true;
    snprintf(right, sizeof right, "a whole number from %" PRId64 " to %" PRId64, parameter->low, parameter->high);
    return refuse(parameter, text, right, problem, bytes);
}

static bool read_time(ns_value *self, const ns_parameter *parameter, const char *text, char *problem, size_t bytes) {
    char right[128];
    const bool is_time = read_decimal(&self->number, text, TIME_DECIMALS);
    if (is_time && parameter->low <= self->number && self->number <= parameter->high) return true;
    snprintf(right, sizeof right, "nanoseconds from %" PRId64 " to %" PRId64 ", with at most three decimals",
             parameter->low / 1000, parameter->high / 1000);
    return refuse(parameter, text, right, problem, bytes);
}

bool ns_value_read(ns_value *self, const ns_parameter *parameter, const char *text, char *problem, size_t bytes) {
    switch (parameter->kind) {
        case NS_INTEGER: return read_integer(self, parameter, text, problem, bytes);
        case NS_TIME: return read_time(self, parameter, text, problem, bytes);
        case NS_CHOICE: return read_choice(self, parameter, text, problem, bytes);
        case NS_PATH: self->text = text; return true;
        case NS_FRACTION: break;
    }
    const bool is_decimal = *text && read_decimal(&self->number, text, FRACTION_DECIMALS);
    if (is_decimal && self->number <= FRACTION_ONE) return true;
    return refuse(parameter, text, "a decimal number from 0 to 1", problem, bytes);
}

/* A number of units of 1 / `one` with its `digits` decimals, but no zeros at their end. */
static void write_decimal(FILE *file, int64_t number, int64_t one, int digits) {
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64 ".%0*" PRId64, number / one, digits, number % one);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    fprintf(file, "%.*s", length, text);
}

void ns_value_write(FILE *file, const ns_parameter *parameter, const ns_value *value) {
    char name[CHOICE_BYTES];
    switch (parameter->kind) {
        case NS_INTEGER: fprintf(file, "%" PRId64, value->number); return;
        case NS_TIME: write_decimal(file, value->number, 1000, TIME_DECIMALS); return;
        case NS_FRACTION: write_decimal(file, value->number, FRACTION_ONE, FRACTION_DECIMALS); return;
        case NS_PATH: ns_json_write_text(file, value->text); return;
        case NS_CHOICE:
            ns_choice_name(parameter->choices, value->number, name, sizeof name);
            ns_json_write_text(file, name);
            return;
    }
}
