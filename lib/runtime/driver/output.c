#include "driver/output.h"

#include <inttypes.h>

#include "record/output_file.h"

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static const char *const KIND_NAME[] = {
    [NS_INTEGER] = "integer",   [NS_CHOICE] = "choice", [NS_TIME] = "time",
    [NS_FRACTION] = "fraction", [NS_PATH] = "path",
};

static void write_bounds(FILE *file, const ns_parameter *parameter) {
    if (parameter->kind == NS_CHOICE) {
        char name[32];
        fputs(",\"choices\":[", file);
        for (int at = 0; ns_choice_name(parameter->choices, at, name, sizeof name); at++) {
            if (at) fputc(',', file);
            ns_json_write_text(file, name);
        }
        fputc(']', file);
    } else if (parameter->kind == NS_INTEGER || parameter->kind == NS_TIME) {
        const ns_value low = {.number = parameter->low}, high = {.number = parameter->high};
        fputs(",\"low\":", file);
        ns_value_write(file, parameter, &low);
        fputs(",\"high\":", file);
        ns_value_write(file, parameter, &high);
    }
}

static void write_parameter(FILE *file, const ns_parameter *parameter) {
    const bool text = parameter->kind == NS_CHOICE || parameter->kind == NS_PATH;
    fprintf(file, "{\"name\":\"%s\",\"kind\":\"%s\",\"default\":", parameter->name, KIND_NAME[parameter->kind]);
    fprintf(file, text ? "\"%s\"" : "%s", parameter->otherwise);
    write_bounds(file, parameter);
    fputs(",\"meaning\":", file);
    ns_json_write_text(file, parameter->meaning);
    fputc('}', file);
}

static void write_kernel(FILE *file, const ns_kernel *kernel) {
    fprintf(file, "{\"name\":\"%s\",\"meaning\":", kernel->name);
    ns_json_write_text(file, kernel->meaning);
    fputs(",\"parameters\":[", file);
    for (int at = 0; kernel->parameters[at].name; at++) {
        if (at) fputc(',', file);
        write_parameter(file, &kernel->parameters[at]);
    }
    fputs("]}", file);
}

static void print_kernel(FILE *file, const ns_kernel *kernel) {
    fprintf(file, "%-11s %s\n", kernel->name, kernel->meaning);
    for (const ns_parameter *parameter = kernel->parameters; parameter->name; parameter++) {
        const char *choices = parameter->choices;
        fprintf(file, "    %s=%s  %s%s%s\n", parameter->name, parameter->otherwise, parameter->meaning,
                choices ? ": " : "", choices ? choices : "");
    }
}

void ns_output_kernels(FILE *file, bool json) {
    if (json) fputs("{\"kernels\":[", file);
    for (int at = 0; NS_KERNELS[at]; at++) {
        if (!json) {
            print_kernel(file, NS_KERNELS[at]);
        } else {
            fputs(at ? ",\n" : "\n", file);
            write_kernel(file, NS_KERNELS[at]);
        }
    }
    if (json) fputs("\n]}\n", file);
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

static int64_t sum_of(const ns_report *report, int counter) {
    int64_t sum = 0;
    for (uint32_t worker = 0; worker < report->workers; worker++) {
        sum += report->counters[(size_t)worker * NS_COUNTERS + (size_t)counter];
    }
    return sum;
}

static void write_columns(FILE *file, const ns_report *report) {
    fputs(",\"columns\":{", file);
    for (int counter = 0; counter < NS_COUNTERS; counter++) {
        fprintf(file, "%s\"%s\":%" PRId64, counter ? "," : "", NS_COUNTER_NAME[counter], sum_of(report, counter));
    }
    fputs("},\"worker\":{", file);
    for (int counter = 0; counter < NS_COUNTERS; counter++) {
        fprintf(file, "%s\"%s\":[", counter ? "," : "", NS_COUNTER_NAME[counter]);
        for (uint32_t worker = 0; worker < report->workers; worker++) {
            const int64_t value = report->counters[(size_t)worker * NS_COUNTERS + (size_t)counter];
            fprintf(file, "%s%" PRId64, worker ? "," : "", value);
        }
        fputc(']', file);
    }
    fputs("},\"node\":[", file);
    for (uint32_t worker = 0; worker < report->workers; worker++) {
        fprintf(file, "%s%" PRId32, worker ? "," : "", report->node[worker]);
    }
    fputc(']', file);
}

static void write_matrix(FILE *file, const char *name, const int64_t *values, uint32_t rows, uint32_t columns) {
    fprintf(file, ",\"%s\":[", name);
    for (uint32_t row = 0; row < rows; row++) {
        fputs(row ? ",[" : "[", file);
        for (uint32_t column = 0; column < columns; column++) {
            fprintf(file, "%s%" PRId64, column ? "," : "", values[(size_t)row * columns + column]);
        }
        fputc(']', file);
    }
    fputc(']', file);
}

static const char *truth(bool value) { return value ? "true" : "false"; }

/* Write the part of the outcome that differs from run to run. A run that was not verified counts as correct. */
static void write_outcome(FILE *file, const ns_outcome *self) {
    const ns_report *report = &self->report;
    fprintf(file, "\"seed\":%" PRIu64 ",\"correct\":%s", self->seed, truth(self->correct));
    if (self->verified) {
        fprintf(file, ",\"serial_ps\":%" PRId64, self->serial_ps);
    } else {
        fputs(",\"serial_ps\":null", file);
    }
    fprintf(file, ",\"makespan_ps\":%" PRId64, report->makespan_ps);
    fprintf(file, ",\"rehearsed_ps\":%" PRId64, self->rehearsed_ps);
    fprintf(file, ",\"hop_ps\":[%" PRId64 ",%" PRId64 ",%" PRId64 "]", self->hop_ps[0], self->hop_ps[1],
            self->hop_ps[2]);
    fprintf(file, report->trace_hash ? ",\"trace_hash\":\"%016" PRIx64 "\"" : ",\"trace_hash\":null",
            report->trace_hash);
    fprintf(file, ",\"page_faults\":%" PRId64, report->page_faults);
    write_columns(file, report);
    write_matrix(file, "node_attempts", report->node_attempts, report->nodes, report->nodes);
    write_matrix(file, "node_success", report->node_success, report->nodes, report->nodes);
    write_matrix(file, "node_bytes", report->node_bytes, report->nodes, report->nodes);
    write_matrix(file, "words", report->words, report->word_count, NS_SYNC_COUNTS);
}

static void write_parameters(FILE *file, const ns_options *options) {
    const ns_parameter *parameters = options->kernel->parameters;
    fputs("\"parameters\":{", file);
    for (int at = 0; parameters[at].name; at++) {
        fprintf(file, "%s\"%s\":", at ? "," : "", parameters[at].name);
        ns_value_write(file, &parameters[at], &options->values[at]);
    }
    fputc('}', file);
}

static void write_json(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count) {
    bool correct = true;
    for (int64_t run = 0; run < count; run++) correct &= outcomes[run].correct;
    fprintf(file, "{\"kernel\":\"%s\",", options->kernel->name);
    write_parameters(file, options);
    fprintf(file, ",\"mode\":\"%s\",\"costs\":\"%s\",\"workers\":%" PRIu32 ",", NS_MODE_NAMES[options->pool.mode],
            NS_COSTS_NAMES[options->pool.costs], outcomes[0].workers);
    if (!options->repeats) {
        write_outcome(file, &outcomes[0]);
    } else {
        fprintf(file, "\"seed\":%" PRIu64 ",\"correct\":%s,\"runs\":[", options->pool.seed, truth(correct));
        for (int64_t run = 0; run < count; run++) {
            fputs(run ? ",\n{" : "\n{", file);
            write_outcome(file, &outcomes[run]);
            fputc('}', file);
        }
        fputc(']', file);
    }
    fputs("}\n", file);
}

static void print_outcome(FILE *file, const ns_outcome *self) {
    const ns_report *report = &self->report;
    fprintf(file, "%14.6f ms", (double)report->makespan_ps * 1e-9);
    if (self->verified) {
        fprintf(file, " %14.6f ms %10s", (double)self->serial_ps * 1e-9, self->correct ? "correct" : "WRONG");
    } else {
        fprintf(file, " %17s %10s", "-", "unverified");
    }
    fprintf(file, " %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", sum_of(report, NS_TASKS),
            sum_of(report, NS_STEAL_ATTEMPTS), sum_of(report, NS_STEAL_SUCCESS));
}

static void print_table(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count) {
    fprintf(file, "%s, mode %s, costs %s, %" PRIu32 " workers\n", options->kernel->name,
            NS_MODE_NAMES[options->pool.mode], NS_COSTS_NAMES[options->pool.costs], outcomes[0].workers);
    fprintf(file, "%17s %17s %10s %10s %10s %10s\n", "makespan", "serial twin", "result", "tasks", "attempts",
            "steals");
    for (int64_t run = 0; run < count; run++) print_outcome(file, &outcomes[run]);
}

void ns_output_outcomes(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count) {
    if (options->json) {
        write_json(file, options, outcomes, count);
    } else {
        print_table(file, options, outcomes, count);
    }
}
