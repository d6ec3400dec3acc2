#include "driver/options/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver/options/names.h"
#include "driver/options/values.h"

const char *const NS_MODE_NAMES[] = {
    [NS_MODE_SERIAL] = "serial",
    [NS_MODE_NATIVE] = "native",
    [NS_MODE_EMULATED] = "emulated",
    [NS_MODE_VIRTUAL] = "virtual",
    NULL,
};
const char *const NS_COSTS_NAMES[] = {[NS_COSTS_MODEL] = "model", [NS_COSTS_MEASURED] = "measured", NULL};

enum { MOST_WORKERS = 1 << 16, MOST_REPEATS = 1000000, MOST_KERNELS = 32 };

/* Where a sentence for the user goes. */
typedef struct {
    char *text;
    size_t bytes;
} complaint;

__attribute__((format(printf, 2, 3))) static bool refuse(const complaint *self, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(self->text, self->bytes, sentence, arguments);
    va_end(arguments);
    return false;
}

/* ---- single options ---------------------------------------------------------------------------------------------- */

typedef struct {
    ns_options *options;
    const char **settings; /* of parameters, up to NULL */
    const complaint *problem;
} reader;

static bool read_kernel(const reader *self, const char *name) {
    const char *names[MOST_KERNELS] = {NULL}, *nearest;
    for (int at = 0; NS_KERNELS[at]; at++) names[at] = NS_KERNELS[at]->name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) {
        return refuse(self->problem, "there is no kernel '%s'; the nearest is %s, and --list shows all", name, nearest);
    }
    self->options->kernel = NS_KERNELS[found];
    return true;
}

static bool read_name(const reader *self, const char *option, const char *const *names, const char *name, int *found) {
    const char *nearest;
    *found = ns_names_find(names, name, &nearest);
    if (*found >= 0) return true;
    char all[128] = "";
    for (int at = 0; names[at]; at++) {
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", at ? ", " : "", names[at]);
    }
    return refuse(self->problem, "%s is '%s', and has to be one of %s; the nearest is %s", option, name, all, nearest);
}

static bool read_mode(const reader *self, const char *name) {
    int mode;
    const bool known = read_name(self, "--mode", NS_MODE_NAMES, name, &mode);
    if (known) self->options->pool.mode = (enum ns_mode)mode;
    return known;
}

static bool read_costs(const reader *self, const char *name) {
    int costs;
    const bool known = read_name(self, "--costs", NS_COSTS_NAMES, name, &costs);
    if (known) self->options->pool.costs = (enum ns_costs)costs;
    return known;
}

static bool read_workers(const reader *self, const char *text) {
    int64_t workers;
    if (!ns_integer_read(&workers, text, 1, MOST_WORKERS)) {
        return refuse(self->problem, "--workers is '%s', and has to be a whole number from 1 to %d", text,
                      MOST_WORKERS);
    }
    self->options->pool.workers = (uint32_t)workers;
    return true;
}

static bool read_repeat(const reader *self, const char *text) {
    if (ns_integer_read(&self->options->repeats, text, 1, MOST_REPEATS)) return true;
    return refuse(self->problem, "--repeat is '%s', and has to be a whole number from 1 to %d", text, MOST_REPEATS);
}

static bool read_seed(const reader *self, const char *text) {
    int64_t seed;
    if (!ns_integer_read(&seed, text, 0, INT64_MAX)) {
        return refuse(self->problem, "--seed is '%s', and has to be a whole number from 0 to 2^63 - 1", text);
    }
    self->options->pool.seed = (uint64_t)seed;
    return true;
}

static bool read_plan(const reader *self, const char *path) {
    self->options->pool.plan = path;
    return true;
}

static bool read_record(const reader *self, const char *path) {
    self->options->pool.record = path;
    return true;
}

static bool read_controls(const reader *self, const char *path) {
    self->options->pool.controls = path;
    return true;
}

static bool read_measures(const reader *self, const char *path) {
    self->options->pool.measures = path;
    return true;
}

static bool keep_setting(const reader *self, const char *setting) {
    const char **next = self->settings;
    while (*next) next++;
    *next = setting;
    return true;
}

static bool ask_json(const reader *self, const char *none) {
    (void)none;
    return self->options->json = true;
}

static bool ask_list(const reader *self, const char *none) {
    (void)none;
    return self->options->list = true;
}

static bool ask_help(const reader *self, const char *none) {
    (void)none;
    return self->options->help = true;
}

static bool ask_rehearse(const reader *self, const char *none) {
    (void)none;
    return self->options->rehearse = true;
}

static bool ask_warm_up(const reader *self, const char *none) {
    (void)none;
    return self->options->warm_up = true;
}

static bool ask_verify(const reader *self, const char *none) {
    (void)none;
    return self->options->verify = true;
}

static bool ask_no_verify(const reader *self, const char *none) {
    (void)none;
    self->options->verify = false;
    return true;
}

static const struct {
    const char *name;
    bool has_value;
    bool (*read)(const reader *self, const char *value);
} OPTION[] = {
    {"--kernel", true, read_kernel},   {"--set", true, keep_setting},         {"--mode", true, read_mode},
    {"--workers", true, read_workers}, {"--plan", true, read_plan},           {"--costs", true, read_costs},
    {"--seed", true, read_seed},       {"--record", true, read_record},       {"--repeat", true, read_repeat},
    {"--json", false, ask_json},       {"--list", false, ask_list},           {"--help", false, ask_help},
    {"--verify", false, ask_verify},   {"--no-verify", false, ask_no_verify}, {"--rehearse", false, ask_rehearse},
    {"--warm-up", false, ask_warm_up}, {"--controls", true, read_controls},   {"--measures", true, read_measures},
};
enum { OPTIONS = sizeof OPTION / sizeof *OPTION };

static int find_option(const complaint *problem, const char *name) {
    const char *names[OPTIONS + 1] = {NULL}, *nearest;
    for (int at = 0; at < OPTIONS; at++) names[at] = OPTION[at].name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) refuse(problem, "there is no option '%s'; the nearest is %s", name, nearest);
    return found;
}

/* ---- parameters of the kernel ------------------------------------------------------------------------------------ */

static bool read_defaults(ns_options *self, const complaint *problem) {
    const ns_parameter *parameters = self->kernel->parameters;
    for (int at = 0; parameters[at].name; at++) {
        const char *text = parameters[at].otherwise;
        if (!ns_value_read(&self->values[at], &parameters[at], text, problem->text, problem->bytes)) return false;
    }
    return true;
}

static int find_parameter(const ns_options *self, const char *name, const complaint *problem) {
    const char *names[NS_MOST_PARAMETERS + 1] = {NULL}, *nearest;
    for (int at = 0; self->kernel->parameters[at].name; at++) names[at] = self->kernel->parameters[at].name;
    const int found = ns_names_find(names, name, &nearest);
    if (found < 0) {
        refuse(problem, "%s has no parameter '%s'; the nearest is %s, and --list shows all", self->kernel->name, name,
               nearest);
    }
    return found;
}

static bool read_setting(ns_options *self, const char *setting, const complaint *problem) {
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
    return ns_value_read(&self->values[at], &self->kernel->parameters[at], equals + 1, problem->text, problem->bytes);
}

/* ---- all together ------------------------------------------------------------------------------------------------ */

static bool are_consistent(const ns_options *self, const complaint *problem) {
    const bool serial = self->pool.mode == NS_MODE_SERIAL;
    if (!self->kernel) return refuse(problem, "there has to be a --kernel; --list shows which there are");
    if (self->pool.record && !serial) return refuse(problem, "--record goes with --mode serial");
    if (self->pool.record && self->repeats > 1) return refuse(problem, "--record goes with a single run");
    if (self->rehearse && self->pool.mode != NS_MODE_NATIVE && self->pool.mode != NS_MODE_EMULATED) {
        return refuse(problem, "--rehearse goes with the modes native and emulated");
    }
    if (self->warm_up && self->pool.record) return refuse(problem, "--warm-up goes with runs that are not recorded");
    if (self->pool.plan && serial) return refuse(problem, "--plan goes with the modes native, emulated and virtual");
    if ((self->pool.controls || self->pool.measures) && !self->pool.plan) {
        return refuse(problem, "--controls and --measures go with --plan");
    }
    return true;
}

bool ns_options_read(ns_options *self, int count, char **arguments, char *text, size_t bytes) {
    const complaint problem = {text, bytes};
    const char *settings[NS_MOST_PARAMETERS + 1] = {NULL};
    const reader reading = {self, settings, &problem};
    int parameters_set = 0;
    for (int at = 0; at < count; at++) {
        const int option = find_option(&problem, arguments[at]);
        if (option < 0) return false;
        const char *value = OPTION[option].has_value ? arguments[++at] : NULL;
        if (OPTION[option].has_value && at >= count) return refuse(&problem, "%s needs a value", OPTION[option].name);
        if (OPTION[option].read == keep_setting && parameters_set++ == NS_MOST_PARAMETERS) {
            return refuse(&problem, "no kernel has more than %d parameters to --set", NS_MOST_PARAMETERS);
        }
        if (!OPTION[option].read(&reading, value)) return false;
    }
    if (self->list || self->help) return true;
    if (!are_consistent(self, &problem) || !read_defaults(self, &problem)) return false;
    for (int at = 0; settings[at]; at++) {
        if (!read_setting(self, settings[at], &problem)) return false;
    }
    return true;
}
