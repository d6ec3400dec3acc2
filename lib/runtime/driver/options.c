#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "driver/driver.h"
#include "record/output_file.h"

const char *const NS_MODE_NAMES[] = {
    [NS_MODE_SERIAL] = "serial",
    [NS_MODE_NATIVE] = "native",
    [NS_MODE_EMULATED] = "emulated",
    [NS_MODE_VIRTUAL] = "virtual",
    [NS_MODE_TURNS] = "turns",
    [NS_MODE_PACED] = "paced",
    NULL,
};
const char *const NS_COSTS_NAMES[] = {[NS_COSTS_MODEL] = "model", [NS_COSTS_MEASURED] = "measured", NULL};

enum { MOST_WORKERS = 1 << 16, MOST_REPEATS = 1000000, MOST_NAMES = 32, LONGEST_NAME = 63 };
enum { TIME_DECIMALS = 3, FRACTION_DECIMALS = 18 };
static const int64_t FRACTION_ONE = INT64_C(1000000000000000000);

/* Write a sentence for the user to `problem`. Return false. */
__attribute__((format(printf, 2, 3))) static bool refuse(char *problem, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(problem, NS_PROBLEM_BYTES, sentence, arguments);
    va_end(arguments);
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Return the Levenshtein distance of the first letters of `a` and `b`, computed row by row. */
static uint32_t distance_of(const char *a, const char *b) {
    const size_t long_a = strnlen(a, LONGEST_NAME), long_b = strnlen(b, LONGEST_NAME);
    uint32_t row[LONGEST_NAME + 1];
    for (uint32_t at = 0; at <= long_b; at++) row[at] = at;
    for (uint32_t i = 1; i <= long_a; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= long_b; j++) {
            const uint32_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[long_b];
}

int ns_names_find(const char *const *names, const char *name, const char **nearest) {
    uint32_t smallest = UINT32_MAX;
    *nearest = "";
    for (int at = 0; names[at]; at++) {
        const uint32_t distance = distance_of(names[at], name);
        if (!distance && strcmp(names[at], name) == 0) return at;
        if (distance < smallest) {
            smallest = distance;
            *nearest = names[at];
        }
    }
    return -1;
}

/* Return the index of a name in `names`. For an unknown name, return -1, with a sentence. */
static int read_name(const char *option, const char *const *names, const char *name, char *problem) {
    const char *nearest;
    char all[128] = "";
    const int found = ns_names_find(names, name, &nearest);
    for (int at = 0; names[at]; at++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", at ? ", " : "", names[at]);
    }
    if (found < 0) {
        refuse(problem, "%s is '%s', and has to be one of %s; the nearest is %s", option, name, all, nearest);
    }
    return found;
}

/* ---- values of parameters ---------------------------------------------------------------------------------------- */

/* Read a decimal number with at most `decimals` digits behind the point, as a whole number of units of the last
 * decimal. */
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

static bool read_between(int64_t *value, const char *text, int decimals, int64_t low, int64_t high) {
    return read_decimal(value, text, decimals) && low <= *value && *value <= high;
}

static bool read_value(ns_value *self, const ns_parameter *parameter, const char *text, char *problem) {
    const char *name = parameter->name;
    const int64_t low = parameter->low, high = parameter->high;
    switch (parameter->kind) {
        case NS_CHOICE: self->number = read_name(name, parameter->choices, text, problem); return self->number >= 0;
        case NS_INTEGER:
            if (read_between(&self->number, text, 0, low, high)) return true;
            return refuse(problem, "%s is '%s', and has to be a whole number from %" PRId64 " to %" PRId64, name, text,
                          low, high);
        case NS_TIME:
            if (read_between(&self->number, text, TIME_DECIMALS, low, high)) return true;
            return refuse(problem,
                          "%s is '%s', and has to be nanoseconds from %" PRId64 " to %" PRId64
                          ", with at most three decimals",
                          name, text, low / 1000, high / 1000);
        case NS_FRACTION: break;
    }
    if (read_between(&self->number, text, FRACTION_DECIMALS, 0, FRACTION_ONE)) return true;
    return refuse(problem, "%s is '%s', and has to be a decimal number from 0 to 1", name, text);
}

/* Write `number` units of 1 / `one` as a decimal number with `digits` decimals, without zeros at its end. */
static void write_decimal(int64_t number, int64_t one, int digits) {
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64 ".%0*" PRId64, number / one, digits, number % one);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    printf("%.*s", length, text);
}

void ns_value_write(const ns_parameter *parameter, int64_t value) {
    switch (parameter->kind) {
        case NS_INTEGER: printf("%" PRId64, value); return;
        case NS_TIME: write_decimal(value, 1000, TIME_DECIMALS); return;
        case NS_FRACTION: write_decimal(value, FRACTION_ONE, FRACTION_DECIMALS); return;
        case NS_CHOICE: ns_json_write_text(stdout, parameter->choices[value]); return;
    }
}

/* ---- single options ---------------------------------------------------------------------------------------------- */

enum option_kind { YES, NO, TEXT, WORKERS, REPEAT, SEED, MODE, COSTS, KERNEL, SETTING };

static const struct {
    const char *name;
    enum option_kind kind;
    size_t field; /* offset in ns_options: of a bool for YES and NO, of a pointer for TEXT */
} OPTION[] = {
    {"--kernel", KERNEL, 0},
    {"--set", SETTING, 0},
    {"--mode", MODE, 0},
    {"--workers", WORKERS, 0},
    {"--plan", TEXT, offsetof(ns_options, pool.plan)},
    {"--costs", COSTS, 0},
    {"--seed", SEED, 0},
    {"--record", TEXT, offsetof(ns_options, pool.record)},
    {"--repeat", REPEAT, 0},
    {"--json", YES, offsetof(ns_options, json)},
    {"--list", YES, offsetof(ns_options, list)},
    {"--help", YES, offsetof(ns_options, help)},
    {"--verify", YES, offsetof(ns_options, verify)},
    {"--no-verify", NO, offsetof(ns_options, verify)},
    {"--rehearse", YES, offsetof(ns_options, rehearse)},
    {"--warm-up", YES, offsetof(ns_options, warm_up)},
    {"--controls", TEXT, offsetof(ns_options, pool.controls)},
    {"--measures", TEXT, offsetof(ns_options, pool.measures)},
};
enum { OPTIONS = sizeof OPTION / sizeof *OPTION };

static bool read_kernel(ns_options *self, const char *name, char *problem) {
    const char *names[MOST_NAMES] = {NULL}, *nearest;
    for (int at = 0; NS_KERNELS[at]; at++) names[at] = NS_KERNELS[at]->name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) {
        return refuse(problem, "there is no kernel '%s'; the nearest is %s, and --list shows all", name, nearest);
    }
    self->kernel = NS_KERNELS[found];
    return true;
}

static bool read_count(const char *option, int64_t *count, const char *text, int most, char *problem) {
    if (read_between(count, text, 0, 1, most)) return true;
    return refuse(problem, "%s is '%s', and has to be a whole number from 1 to %d", option, text, most);
}

/* Read option `at` with its value. Settings of kernel parameters are added to `settings`, which ends with NULL. */
static bool read_option(ns_options *self, int at, const char *value, const char **settings, char *problem) {
    const char *option = OPTION[at].name;
    void *field = (char *)self + OPTION[at].field;
    int64_t number;
    int found;
    switch (OPTION[at].kind) {
        case YES: *(bool *)field = true; return true;
        case NO: *(bool *)field = false; return true;
        case TEXT: *(const char **)field = value; return true;
        case KERNEL: return read_kernel(self, value, problem);
        case REPEAT: return read_count(option, &self->repeats, value, MOST_REPEATS, problem);
        case WORKERS:
            if (!read_count(option, &number, value, MOST_WORKERS, problem)) return false;
            self->pool.workers = (uint32_t)number;
            return true;
        case SEED:
            if (!read_between(&number, value, 0, 0, INT64_MAX)) {
                return refuse(problem, "--seed is '%s', and has to be a whole number from 0 to 2^63 - 1", value);
            }
            self->pool.seed = (uint64_t)number;
            return true;
        case MODE:
            found = read_name(option, NS_MODE_NAMES, value, problem);
            if (found >= 0) self->pool.mode = (enum ns_mode)found;
            return found >= 0;
        case COSTS:
            found = read_name(option, NS_COSTS_NAMES, value, problem);
            if (found >= 0) self->pool.costs = (enum ns_costs)found;
            return found >= 0;
        case SETTING: break;
    }
    int set = 0;
    while (settings[set]) set++;
    if (set == NS_MOST_PARAMETERS) {
        return refuse(problem, "no kernel has more than %d parameters to --set", NS_MOST_PARAMETERS);
    }
    settings[set] = value;
    return true;
}

static int find_option(char *problem, const char *name) {
    const char *names[OPTIONS + 1] = {NULL}, *nearest;
    for (int at = 0; at < OPTIONS; at++) names[at] = OPTION[at].name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) refuse(problem, "there is no option '%s'; the nearest is %s", name, nearest);
    return found;
}

/* ---- parameters of the kernel ------------------------------------------------------------------------------------ */

static int find_parameter(const ns_options *self, const char *name, char *problem) {
    const char *names[NS_MOST_PARAMETERS + 1] = {NULL}, *nearest;
    for (int at = 0; at < self->kernel->parameter_count; at++) names[at] = self->kernel->parameters[at].name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) {
        refuse(problem, "%s has no parameter '%s'; the nearest is %s, and --list shows all", self->kernel->name, name,
               nearest);
    }
    return found;
}

static bool read_setting(ns_options *self, const char *setting, char *problem) {
    char name[64];
    const char *equals = strchr(setting, '=');
    if (!equals || (size_t)(equals - setting) >= sizeof name) {
        return refuse(problem, "--set is '%s', and has to be a parameter with its value, as in n=20", setting);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - setting), setting);
    const int at = find_parameter(self, name, problem);
    if (at < 0) return false;
    if (self->values[at].given) return refuse(problem, "%s is set twice", name);
    self->values[at].given = true;
    return read_value(&self->values[at], &self->kernel->parameters[at], equals + 1, problem);
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

static bool are_consistent(const ns_options *self, char *problem) {
    const bool serial = self->pool.mode == NS_MODE_SERIAL;
    if (!self->kernel) return refuse(problem, "there has to be a --kernel; --list shows which there are");
    if (self->pool.record && !serial) return refuse(problem, "--record goes with --mode serial");
    if (self->pool.record && self->repeats > 1) return refuse(problem, "--record goes with a single run");
    if (self->rehearse && self->pool.mode != NS_MODE_NATIVE && self->pool.mode != NS_MODE_EMULATED) {
        return refuse(problem, "--rehearse goes with the modes native and emulated");
    }
    if (self->warm_up && self->pool.record) return refuse(problem, "--warm-up goes with runs that are not recorded");
    if (self->pool.plan && serial) return refuse(problem, "--plan goes with all modes but serial");
    if ((self->pool.controls || self->pool.measures) && !self->pool.plan) {
        return refuse(problem, "--controls and --measures go with --plan");
    }
    return true;
}

bool ns_options_read(ns_options *self, int count, char **arguments, char *problem) {
    const char *settings[NS_MOST_PARAMETERS + 1] = {NULL};
    for (int at = 0; at < count; at++) {
        const int option = find_option(problem, arguments[at]);
        if (option < 0) return false;
        const bool has_value = OPTION[option].kind != YES && OPTION[option].kind != NO;
        const char *value = has_value ? arguments[++at] : NULL;
        if (has_value && at >= count) return refuse(problem, "%s needs a value", OPTION[option].name);
        if (!read_option(self, option, value, settings, problem)) return false;
    }
    if (self->list || self->help) return true;
    if (!are_consistent(self, problem)) return false;
    for (int at = 0; at < self->kernel->parameter_count; at++) {
        const ns_parameter *parameter = &self->kernel->parameters[at];
        if (!read_value(&self->values[at], parameter, parameter->otherwise, problem)) return false;
    }
    for (int at = 0; settings[at]; at++) {
        if (!read_setting(self, settings[at], problem)) return false;
    }
    return true;
}
