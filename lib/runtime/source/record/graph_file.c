/* Writes a recorded task graph as JSON, "numasim task graph 1" (numasim/workload/json_form/graph_models.py). A row is a
 * recorded task, numbered in the order of the run; in the file, tasks are numbered depth first below the roots of the
 * phases, and segments (the work between two ops of a task) in the order of the ops that run them. If the first
 * recorded access to an object is a read, the object was written before the run: its region is then marked
 * `initialised`, so that the simulator places its pages before the run (model 2.2). */
#include <stdio.h>
#include <string.h>

#include "record/output_file.h"
#include "record/recorder.h"

static const char *const ROLE_NAME[] = {
    [NS_WORD_LOCK] = "lock",
    [NS_WORD_ATOMIC] = "atomic",
    [NS_WORD_CONDITION] = "condition",
    [NS_WORD_BARRIER] = "barrier",
};
static const char *const MODE_NAME[] = {[NS_READ] = "read", [NS_WRITE] = "write", [NS_READ_WRITE] = "read-write"};
static const char *const PATTERN_NAME[] = {
    [NS_SEQUENTIAL] = "sequential",
    [NS_STRIDED] = "strided",
    [NS_RANDOM] = "random",
    [NS_CHASE] = "chase",
};

/* A row is a spawned task, a call, or one worker's part of a team (ns_pool_team). */
enum kind { KIND_TASK, KIND_CALL, KIND_IMPLICIT };
static const char *const KIND_TEXT[] = {
    [KIND_TASK] = "", [KIND_CALL] = "\"kind\":\"call\",", [KIND_IMPLICIT] = "\"kind\":\"implicit\","};

/* The graph, in the order in which the file lists it. */
typedef struct {
    const ns_recorder *recorder;
    const ns_pool *pool;
    uint64_t *first;      /* [rows + 1] index in `op` of the first op of each row */
    uint32_t *op;         /* [ops] the recorded ops, row by row */
    uint32_t *order;      /* [rows] the rows, depth first */
    uint32_t *number;     /* [rows] the index of each row in `order` */
    uint8_t *kind;        /* [rows] enum kind */
    uint8_t *read_first;  /* [objects] whether the first access is a read */
    uint64_t *first_then; /* [rows + 1] index in `then` of the first row that waits for each row */
    uint32_t *then;       /* [depends] waiting rows, in the order of their spawns */
    uint32_t *segment;    /* [segments] the recorded segments, in the order of the ops that are written */
    uint32_t segments;    /* the number of segments in the ops that are written */
    ns_pieces memory;
} layout;

static const ns_recorded_op *op_at(const layout *self, uint64_t place) {
    return (const ns_recorded_op *)self->recorder->ops.entries + self->op[place];
}

static bool creates(const ns_recorded_op *op) { return op->code == NS_OP_SPAWN || op->code == NS_OP_CALL; }

/* Replace the number of entries of each row, in first[row], by the index behind the row's last entry. The caller then
 * fills in entries from the last to the first, and so moves first[row] to the row's first entry. */
static void end_rows(uint64_t *first, uint32_t rows) {
    for (uint32_t row = 0; row < rows; row++) first[row + 1] += first[row];
}

/* List the ops row by row. The recorder has them in the order of execution. */
static void gather_ops(layout *self) {
    const ns_recorder *recorder = self->recorder;
    const ns_recorded_op *ops = recorder->ops.entries;
    for (uint64_t at = 0; at < recorder->ops.count; at++) self->first[ops[at].row]++;
    end_rows(self->first, recorder->rows);
    for (uint64_t at = recorder->ops.count; at-- > 0;) self->op[--self->first[ops[at].row]] = (uint32_t)at;
}

/* List, for each row, the rows that wait for it. */
static void gather_dependences(layout *self) {
    const ns_recorder *recorder = self->recorder;
    const ns_recorded_dependence *all = recorder->depends.entries;
    for (uint64_t at = 0; at < recorder->depends.count; at++) self->first_then[all[at].before]++;
    end_rows(self->first_then, recorder->rows);
    for (uint64_t at = recorder->depends.count; at-- > 0;) self->then[--self->first_then[all[at].before]] = all[at].row;
}

/* Number all rows depth first below the roots of all phases. `stack` has room for every row. */
static void number_rows(layout *self, uint32_t *stack) {
    const ns_recorded_phase *phases = self->recorder->phases.entries;
    uint32_t numbered = 0;
    for (uint64_t phase = 0; phase < self->recorder->phases.count; phase++) {
        uint32_t left = 0;
        for (uint32_t root = phases[phase].roots; root > 0; root--) {
            stack[left++] = phases[phase].first_root + root - 1;
            self->kind[stack[left - 1]] = phases[phase].team ? KIND_IMPLICIT : KIND_TASK;
        }
        while (left) {
            const uint32_t row = stack[--left];
            self->order[numbered] = row;
            self->number[row] = numbered++;
            for (uint64_t at = self->first[row + 1]; at > self->first[row]; at--) {
                const ns_recorded_op *op = op_at(self, at - 1);
                if (!creates(op)) continue;
                self->kind[op->argument] = op->code == NS_OP_CALL ? KIND_CALL : KIND_TASK;
                stack[left++] = op->argument;
            }
        }
    }
}

static void find_read_first(layout *self) {
    const ns_access *accesses = self->recorder->accesses.entries;
    for (uint64_t at = self->recorder->accesses.count; at > 0; at--) {
        self->read_first[accesses[at - 1].object] = (accesses[at - 1].mode & NS_READ) != 0;
    }
}

static int lay_out(layout *self, const ns_recorder *recorder, const ns_pool *pool) {
    const uint64_t rows = recorder->rows;
    *self = (layout){.recorder = recorder, .pool = pool};
    self->first = ns_pieces_take(&self->memory, rows + 1, sizeof *self->first);
    self->op = ns_pieces_take(&self->memory, recorder->ops.count, sizeof *self->op);
    self->order = ns_pieces_take(&self->memory, rows, sizeof *self->order);
    self->number = ns_pieces_take(&self->memory, rows, sizeof *self->number);
    self->kind = ns_pieces_take(&self->memory, rows, 1);
    self->read_first = ns_pieces_take(&self->memory, pool->object_count, 1);
    self->first_then = ns_pieces_take(&self->memory, rows + 1, sizeof *self->first_then);
    self->then = ns_pieces_take(&self->memory, recorder->depends.count, sizeof *self->then);
    self->segment = ns_pieces_take(&self->memory, recorder->segments.count, sizeof *self->segment);
    uint32_t *stack = ns_pieces_take(&self->memory, rows, sizeof *stack);
    if (self->memory.is_short) return NS_ERROR_MEMORY;
    gather_ops(self);
    gather_dependences(self);
    number_rows(self, stack);
    find_read_first(self);
    return NS_OK;
}

/* ---- entries of the lists of the file ---------------------------------------------------------------------------- */

static void write_region(FILE *file, layout *self, uint64_t at) {
    const ns_object *object = &self->pool->objects[at];
    fputs("{\"name\":", file);
    ns_json_write_text(file, object->name);
    fprintf(file, ",\"bytes\":%lld,\"initialised\":%s}", (long long)object->bytes,
            self->read_first[at] ? "true" : "false");
}

static void write_word(FILE *file, layout *self, uint64_t at) {
    const ns_word *word = &self->pool->words[at];
    fputs("{\"name\":", file);
    ns_json_write_text(file, word->name);
    fprintf(file, ",\"role\":\"%s\",\"owner\":%u,\"parties\":%u}", ROLE_NAME[word->role], word->owner, word->parties);
}

static void write_phase(FILE *file, layout *self, uint64_t at) {
    const ns_recorded_phase *phase = (const ns_recorded_phase *)self->recorder->phases.entries + at;
    fputs("{\"roots\":[", file);
    for (uint32_t root = 0; root < phase->roots; root++) {
        fprintf(file, "%s%u", root ? "," : "", self->number[phase->first_root + root]);
    }
    fprintf(file, "],\"deal\":\"%s\"}", phase->team ? "cyclic" : "master");
}

/* Write an op. An op that runs a segment gives the segment its number in the file. */
static void write_op(FILE *file, layout *self, const ns_recorded_op *op) {
    uint32_t argument = creates(op) ? self->number[op->argument] : op->argument;
    if (op->code == NS_OP_RUN) {
        argument = self->segments;
        self->segment[self->segments++] = op->argument;
    }
    fprintf(file, op->code == NS_OP_WAIT ? "[\"%s\"]" : "[\"%s\",%u]", NS_OP_WORD[op->code], argument);
}

static void write_task(FILE *file, layout *self, uint64_t at) {
    const uint32_t row = self->order[at];
    const uint64_t first = self->first_then[row], end = self->first_then[row + 1];
    fprintf(file, "{%s\"ops\":[", KIND_TEXT[self->kind[row]]);
    for (uint64_t place = self->first[row]; place < self->first[row + 1]; place++) {
        if (place > self->first[row]) fputc(',', file);
        write_op(file, self, op_at(self, place));
    }
    for (uint64_t then = first; then < end; then++) {
        fprintf(file, "%s%u", then > first ? "," : "],\"then\":[", self->number[self->then[then]]);
    }
    fputs("]}", file);
}

static void write_access(FILE *file, const layout *self, const ns_access *access) {
    fputs("{\"region\":", file);
    ns_json_write_text(file, self->pool->objects[access->object].name);
    fprintf(file, ",\"offset\":%lld,\"row_bytes\":%lld,\"rows\":%lld,\"stride\":%lld", (long long)access->offset,
            (long long)access->row_bytes, (long long)access->rows, (long long)access->stride);
    fprintf(file, ",\"mode\":\"%s\",\"pattern\":\"%s\",\"passes\":%u}", MODE_NAME[access->mode],
            PATTERN_NAME[access->pattern], access->passes);
}

static void write_segment(FILE *file, layout *self, uint64_t at) {
    const ns_recorded_segment *segment =
        (const ns_recorded_segment *)self->recorder->segments.entries + self->segment[at];
    const ns_access *accesses = self->recorder->accesses.entries;
    fprintf(file, "{\"compute_ps\":%lld", (long long)segment->compute_ps);
    for (uint32_t access = 0; access < segment->accesses; access++) {
        fputs(access ? "," : ",\"accesses\":[", file);
        write_access(file, self, &accesses[segment->first_access + access]);
    }
    fputs(segment->accesses ? "]}" : "}", file);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Write the name of the graph, which is the name of its file. */
static void write_name(FILE *file, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strchr(name, '.');
    char stem[256];
    snprintf(stem, sizeof stem, "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
    fputs("{\"format\":\"numasim task graph 1\",\n\"name\":", file);
    ns_json_write_text(file, stem);
    fputs(",\n", file);
}

static void write_list(FILE *file, layout *self, const char *name, uint64_t count,
                       void (*write)(FILE *file, layout *self, uint64_t at)) {
    fprintf(file, "\"%s\":[", name);
    for (uint64_t at = 0; at < count; at++) {
        fputs(at ? ",\n" : "\n", file);
        write(file, self, at);
    }
    fputs("],\n", file);
}

static void write_graph(FILE *file, layout *self, const char *path) {
    const ns_recorder *recorder = self->recorder;
    uint32_t tasks = 0;
    write_name(file, path);
    write_list(file, self, "regions", self->pool->object_count, write_region);
    write_list(file, self, "words", self->pool->word_count, write_word);
    write_list(file, self, "phases", recorder->phases.count, write_phase);
    write_list(file, self, "tasks", recorder->rows, write_task);
    write_list(file, self, "segments", self->segments, write_segment);
    for (uint32_t row = 0; row < recorder->rows; row++) tasks += self->kind[row] == KIND_TASK;
    fprintf(file, "\"facts\":{\"tasks\":%u}}\n", tasks);
}

/* Check that objects have different names, as the file needs. Return 0 or an error. */
static int check_names(ns_pool *pool) {
    for (uint32_t at = 1; at < pool->object_count; at++) {
        for (uint32_t other = 0; other < at; other++) {
            if (strcmp(pool->objects[at].name, pool->objects[other].name) != 0) continue;
            return ns_pool_fail(pool, NS_ERROR_PROGRAM,
                                "objects %u and %u are both named '%s'; to be recorded, names are distinct", other, at,
                                pool->objects[at].name);
        }
    }
    return NS_OK;
}

int ns_recorder_write(const ns_recorder *self, ns_pool *pool, const char *path) {
    int error = self->error ? self->error : check_names(pool);
    if (error) return error;
    layout laid_out;
    ns_output_file output;
    error = lay_out(&laid_out, self, pool);
    if (!error) {
        int reason = ns_output_file_open(&output, path);
        if (!reason) {
            write_graph(output.file, &laid_out, path);
            reason = ns_output_file_close(&output);
        }
        if (reason) {
            error = ns_pool_fail(pool, NS_ERROR_FILE, "the task graph cannot be written to %s (%s)", path,
                                 strerror(reason));
        }
    }
    ns_pieces_release(&laid_out.memory);
    return error;
}
