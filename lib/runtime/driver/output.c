#include <inttypes.h>

#include "driver/driver.h"
#include "record/output_file.h"

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static const char *const KIND_NAME[] = {
    [NS_INTEGER] = "integer", [NS_CHOICE] = "choice", [NS_TIME] = "time", [NS_FRACTION] = "fraction"};

static void write_bounds(const ns_parameter *parameter) {
    if (parameter->kind == NS_CHOICE) {
        fputs(",\"choices\":[", stdout);
        for (int at = 0; parameter->choices[at]; at++) {
            if (at) putchar(',');
            ns_json_write_text(stdout, parameter->choices[at]);
        }
        putchar(']');
    } else if (parameter->kind == NS_INTEGER || parameter->kind == NS_TIME) {
        fputs(",\"low\":", stdout);
        ns_value_write(parameter, parameter->low);
        fputs(",\"high\":", stdout);
        ns_value_write(parameter, parameter->high);
    }
}

static void write_parameter(const ns_parameter *parameter) {
    printf("{\"name\":\"%s\",\"kind\":\"%s\",\"default\":", parameter->name, KIND_NAME[parameter->kind]);
    printf(parameter->kind == NS_CHOICE ? "\"%s\"" : "%s", parameter->otherwise);
    write_bounds(parameter);
    fputs(",\"meaning\":", stdout);
    ns_json_write_text(stdout, parameter->meaning);
    putchar('}');
}

static void write_kernel(const ns_kernel *kernel) {
    printf("{\"name\":\"%s\",\"meaning\":", kernel->name);
    ns_json_write_text(stdout, kernel->meaning);
    fputs(",\"parameters\":[", stdout);
    for (int at = 0; at < kernel->parameter_count; at++) {
        if (at) putchar(',');
        write_parameter(&kernel->parameters[at]);
    }
    fputs("]}", stdout);
}

static void print_kernel(const ns_kernel *kernel) {
    printf("%-11s %s\n", kernel->name, kernel->meaning);
    for (int number = 0; number < kernel->parameter_count; number++) {
        const ns_parameter *parameter = &kernel->parameters[number];
        printf("    %s=%s  %s", parameter->name, parameter->otherwise, parameter->meaning);
        for (int at = 0; parameter->choices && parameter->choices[at]; at++) {
            printf("%s%s", at ? " " : ": ", parameter->choices[at]);
        }
        putchar('\n');
    }
}

void ns_output_kernels(bool json) {
    if (json) fputs("{\"kernels\":[", stdout);
    for (int at = 0; NS_KERNELS[at]; at++) {
        if (!json) {
            print_kernel(NS_KERNELS[at]);
        } else {
            fputs(at ? ",\n" : "\n", stdout);
            write_kernel(NS_KERNELS[at]);
        }
    }
    if (json) fputs("\n]}\n", stdout);
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static int64_t sum_of(const ns_report *report, int counter) {
    int64_t sum = 0;
    for (uint32_t worker = 0; worker < report->workers; worker++) {
        sum += report->counters[(size_t)worker * NS_COUNTERS + (size_t)counter];
    }
    return sum;
}

/* Write `count` numbers as a JSON list: numbers[0], numbers[step], numbers[2 * step], ... */
static void write_list(const int64_t *numbers, size_t count, size_t step) {
    for (size_t at = 0; at < count; at++) printf("%s%" PRId64, at ? "," : "[", numbers[at * step]);
    fputs(count ? "]" : "[]", stdout);
}

static void write_columns(const ns_report *report) {
    fputs(",\"columns\":{", stdout);
    for (int counter = 0; counter < NS_COUNTERS; counter++) {
        printf("%s\"%s\":%" PRId64, counter ? "," : "", NS_COUNTER_NAME[counter], sum_of(report, counter));
    }
    fputs("},\"worker\":{", stdout);
    for (int counter = 0; counter < NS_COUNTERS; counter++) {
        printf("%s\"%s\":", counter ? "," : "", NS_COUNTER_NAME[counter]);
        write_list(report->counters + counter, report->workers, NS_COUNTERS);
    }
    fputs("},\"node\":[", stdout);
    for (uint32_t worker = 0; worker < report->workers; worker++) {
        printf("%s%" PRId32, worker ? "," : "", report->node[worker]);
    }
    putchar(']');
}

static void write_matrix(const char *name, const int64_t *values, uint32_t rows, uint32_t columns) {
    printf(",\"%s\":[", name);
    for (uint32_t row = 0; row < rows; row++) {
        if (row) putchar(',');
        write_list(values + (size_t)row * columns, columns, 1);
    }
    putchar(']');
}

static const char *truth(bool value) { return value ? "true" : "false"; }

/* Write the part of the outcome that differs from run to run. A run that was not verified counts as correct. */
static void write_outcome(const ns_outcome *self) {
    const ns_report *report = &self->report;
    printf("\"seed\":%" PRIu64 ",\"correct\":%s", self->seed, truth(self->correct));
    printf(self->verified ? ",\"serial_ps\":%" PRId64 : ",\"serial_ps\":null", self->serial_ps);
    printf(",\"makespan_ps\":%" PRId64 ",\"rehearsed_ps\":%" PRId64, report->makespan_ps, self->rehearsed_ps);
    printf(",\"hop_ps\":[%" PRId64 ",%" PRId64 ",%" PRId64 "]", self->hop_ps[0], self->hop_ps[1], self->hop_ps[2]);
    printf(report->trace_hash ? ",\"trace_hash\":\"%016" PRIx64 "\"" : ",\"trace_hash\":null", report->trace_hash);
    printf(",\"page_faults\":%" PRId64, report->page_faults);
    write_columns(report);
    write_matrix("node_attempts", report->node_attempts, report->nodes, report->nodes);
    write_matrix("node_success", report->node_success, report->nodes, report->nodes);
    write_matrix("node_bytes", report->node_bytes, report->nodes, report->nodes);
    write_matrix("words", report->words, report->word_count, NS_SYNC_COUNTS);
}

static void write_parameters(const ns_options *options) {
    const ns_parameter *parameters = options->kernel->parameters;
    fputs("\"parameters\":{", stdout);
    for (int at = 0; at < options->kernel->parameter_count; at++) {
        printf("%s\"%s\":", at ? "," : "", parameters[at].name);
        ns_value_write(&parameters[at], options->values[at].number);
    }
    putchar('}');
}

static void write_json(const ns_options *options, const ns_outcome *outcomes, int64_t count) {
    bool correct = true;
    for (int64_t run = 0; run < count; run++) correct &= outcomes[run].correct;
    printf("{\"kernel\":\"%s\",", options->kernel->name);
    write_parameters(options);
    printf(",\"mode\":\"%s\",\"costs\":\"%s\",\"workers\":%" PRIu32 ",", NS_MODE_NAMES[options->pool.mode],
           NS_COSTS_NAMES[options->pool.costs], outcomes[0].workers);
    if (!options->repeats) {
        write_outcome(&outcomes[0]);
    } else {
        printf("\"seed\":%" PRIu64 ",\"correct\":%s,\"runs\":[", options->pool.seed, truth(correct));
        for (int64_t run = 0; run < count; run++) {
            fputs(run ? ",\n{" : "\n{", stdout);
            write_outcome(&outcomes[run]);
            putchar('}');
        }
        putchar(']');
    }
    fputs("}\n", stdout);
}

static void print_outcome(const ns_outcome *self) {
    const ns_report *report = &self->report;
    printf("%14.6f ms", (double)report->makespan_ps * 1e-9);
    if (self->verified) {
        printf(" %14.6f ms %10s", (double)self->serial_ps * 1e-9, self->correct ? "correct" : "WRONG");
    } else {
        printf(" %17s %10s", "-", "unverified");
    }
    printf(" %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", sum_of(report, NS_TASKS), sum_of(report, NS_STEAL_ATTEMPTS),
           sum_of(report, NS_STEAL_SUCCESS));
}

void ns_output_outcomes(const ns_options *options, const ns_outcome *outcomes, int64_t count) {
    if (options->json) {
        write_json(options, outcomes, count);
        return;
    }
    printf("%s, mode %s, costs %s, %" PRIu32 " workers\n", options->kernel->name, NS_MODE_NAMES[options->pool.mode],
           NS_COSTS_NAMES[options->pool.costs], outcomes[0].workers);
    printf("%17s %17s %10s %10s %10s %10s\n", "makespan", "serial twin", "result", "tasks", "attempts", "steals");
    for (int64_t run = 0; run < count; run++) print_outcome(&outcomes[run]);
}
