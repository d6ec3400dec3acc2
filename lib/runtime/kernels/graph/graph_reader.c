/* The reader of recorded task graphs: numasim's JSON, "numasim task graph 1"
 * (numasim/workload/json_form/graph_models.py). The reader takes the ops of the tasks, the times of segments, the words
 * (synchronisation objects) and the phases. The reader refuses a graph with dependences, ranges, phases of several
 * tasks, repeats or loops. The reader skips accesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/graph/program.h"
#include "record/growing.h"

enum { LARGEST_INDEX = 0x7fffffff };
static const int64_t LONGEST_PS = INT64_C(1) << 60;

/* ---- JSON, read once from beginning to end ----------------------------------------------------------------------- */

enum { NAME_BYTES = 64, MOST_DEPTH = 32 };

/* A reader of JSON text. The caller says which value is expected next. The first difference is stored as a sentence
 * with its line number. After a failure the reader returns empty values. */
typedef struct {
    char *text; /* the text of the whole file, with a zero byte at its end */
    const char *at;
    uint32_t depth;         /* how many objects and arrays are open */
    bool begun[MOST_DEPTH]; /* for each open object or array: whether an entry has been read */
    bool failed;
    char problem[160];
} json_reader;

/* Read the file. Return false, with a sentence in `problem`, if the file cannot be read. */
static bool json_open(json_reader *self, const char *path) {
    FILE *file = fopen(path, "rb");
    long bytes = -1;
    *self = (json_reader){0};
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

static void json_close(json_reader *self) { free(self->text); }

/* Store the reason why the text is wrong. */
static void json_fail(json_reader *self, const char *reason) {
    size_t line = 1;
    if (self->failed) return;
    for (const char *at = self->text; at < self->at; at++) line += *at == '\n';
    snprintf(self->problem, sizeof self->problem, "line %zu: %s", line, reason);
    self->failed = true;
}

/* Return the next character that is not a blank; 0 at the end of the text. */
static char peek(json_reader *self) {
    self->at += strspn(self->at, " \t\r\n");
    return self->failed ? 0 : *self->at;
}

static void expect(json_reader *self, char letter) {
    char reason[] = "a ' ' is missing";
    reason[3] = letter;
    if (peek(self) == letter) {
        self->at++;
    } else {
        json_fail(self, reason);
    }
}

/* Enter the object or array that comes next in the text. */
static void json_enter(json_reader *self, char bracket) {
    expect(self, bracket);
    if (self->depth == MOST_DEPTH) {
        json_fail(self, "the JSON is nested too deeply");
    } else {
        self->begun[self->depth++] = false;
    }
}

/* Return whether the innermost open object or array has another entry. `bracket` ends the object or array. A comma in
 * front of the entry is read, too. */
static bool goes_on(json_reader *self, char bracket) {
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

/* Return whether the array has another entry. At its end, leave the array. */
static bool json_next_entry(json_reader *self) { return goes_on(self, ']'); }

/* Read a string. Bytes beyond 63 are dropped. Escapes are not decoded, since none of the expected names has an escape.
 */
static void json_read_text(json_reader *self, char text[NAME_BYTES]) {
    size_t length = 0;
    expect(self, '"');
    while (!self->failed && *self->at && *self->at != '"') {
        const size_t letters = self->at[0] == '\\' && self->at[1] ? 2 : 1;
        for (size_t at = 0; at < letters && length + 1 < NAME_BYTES; at++) text[length++] = self->at[at];
        self->at += letters;
    }
    text[length] = 0;
    if (!self->failed) expect(self, '"');
}

/* Return whether the object has another member, and store the key of this member. At its end, leave the object. */
static bool json_next_key(json_reader *self, char key[NAME_BYTES]) {
    if (!goes_on(self, '}')) return false;
    json_read_text(self, key);
    expect(self, ':');
    return !self->failed;
}

/* Read a whole number from 0 to `most`. */
static int64_t json_read_integer(json_reader *self, int64_t most) {
    int64_t number = 0;
    const char first = peek(self);
    if (first < '0' || first > '9') json_fail(self, "a whole number is needed here");
    for (; !self->failed && *self->at >= '0' && *self->at <= '9'; self->at++) {
        const bool fits = !__builtin_mul_overflow(number, 10, &number) &&
                          !__builtin_add_overflow(number, *self->at - '0', &number) && number <= most;
        if (!fits) json_fail(self, "this number is too large here");
    }
    return self->failed ? 0 : number;
}

/* Read a value of any type, and forget it. */
static void json_skip(json_reader *self) {
    char name[NAME_BYTES];
    switch (peek(self)) {
        case '{':
            json_enter(self, '{');
            while (json_next_key(self, name)) json_skip(self);
            return;
        case '[':
            json_enter(self, '[');
            while (json_next_entry(self)) json_skip(self);
            return;
        case '"': json_read_text(self, name); return;
        default: break;
    }
    const size_t length = strspn(self->at, "+-.0123456789aeflnrstuE");
    if (!length) json_fail(self, "a value is missing");
    self->at += length;
}

/* ---- task graphs ------------------------------------------------------------------------------------------------- */

typedef struct {
    json_reader json;
    ns_growing first, code, argument, implicit; /* entries: uint64_t, uint8_t, uint32_t, bool */
    ns_growing segment_ps;                      /* int64_t */
    ns_growing root, phase;                     /* uint32_t, ns_program_phase */
    ns_growing word;                            /* ns_program_word */
} reader;

/* Add an entry to an array. If memory is short, return NULL and set the reader's failure. */
static void *add(reader *self, ns_growing *array, size_t size) {
    void *entry = ns_growing_add(array, size);
    if (!entry) json_fail(&self->json, "there is not enough memory for this graph");
    return entry;
}

static bool is_key(const char *key, const char *name) { return strcmp(key, name) == 0; }

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* Read a string that is one of `count` names. Return the index of the name. */
static uint8_t read_name(json_reader *json, const char *const *names, uint8_t count, const char *otherwise) {
    char name[NAME_BYTES];
    json_read_text(json, name);
    for (uint8_t at = 0; at < count; at++) {
        if (is_key(name, names[at])) return at;
    }
    json_fail(json, otherwise);
    return 0;
}

static void read_op(reader *self) {
    json_enter(&self->json, '[');
    if (!json_next_entry(&self->json)) json_fail(&self->json, "an op is empty");
    const uint8_t op = read_name(&self->json, NS_OP_WORD, NS_OP_END, "there is no such op");
    uint8_t *code = add(self, &self->code, sizeof *code);
    uint32_t *argument = add(self, &self->argument, sizeof *argument);
    if (!code || !argument) return;
    *code = op;
    *argument = 0;
    if (op != NS_OP_WAIT && op != NS_OP_GROUP && op != NS_OP_END_GROUP) {
        if (!json_next_entry(&self->json)) json_fail(&self->json, "an op lacks its number");
        *argument = (uint32_t)json_read_integer(&self->json, LARGEST_INDEX);
    }
    if (json_next_entry(&self->json)) json_fail(&self->json, "an op has too many parts");
}

static void refuse_entries(reader *self, const char *reason) {
    json_enter(&self->json, '[');
    if (json_next_entry(&self->json)) json_fail(&self->json, reason);
}

static void read_task(reader *self) {
    char key[NAME_BYTES], kind[NAME_BYTES] = "";
    uint64_t *first = add(self, &self->first, sizeof *first);
    bool *implicit = add(self, &self->implicit, sizeof *implicit);
    if (!first || !implicit) return;
    *first = self->code.count;
    json_enter(&self->json, '{');
    while (json_next_key(&self->json, key)) {
        if (is_key(key, "ops")) {
            json_enter(&self->json, '[');
            while (json_next_entry(&self->json)) read_op(self);
        } else if (is_key(key, "kind")) {
            json_read_text(&self->json, kind);
        } else if (is_key(key, "then")) {
            refuse_entries(self, "tasks that wait for others beside their parents cannot be executed");
        } else {
            json_skip(&self->json);
        }
    }
    *implicit = is_key(kind, "implicit");
}

/* ---- the other parts of the file --------------------------------------------------------------------------------- */

static void read_segment(reader *self) {
    char key[NAME_BYTES];
    int64_t *compute_ps = add(self, &self->segment_ps, sizeof *compute_ps);
    if (!compute_ps) return;
    *compute_ps = 0;
    json_enter(&self->json, '{');
    while (json_next_key(&self->json, key)) {
        if (is_key(key, "compute_ps")) {
            *compute_ps = json_read_integer(&self->json, LONGEST_PS);
        } else {
            json_skip(&self->json);
        }
    }
}

static const char *const ROLE_NAME[] = {[NS_WORD_LOCK] = "lock",
                                        [NS_WORD_ATOMIC] = "atomic",
                                        [NS_WORD_CONDITION] = "condition",
                                        [NS_WORD_BARRIER] = "barrier"};

static void read_word(reader *self) {
    char key[NAME_BYTES], name[NAME_BYTES] = "";
    ns_program_word *word = add(self, &self->word, sizeof *word);
    if (!word) return;
    *word = (ns_program_word){.parties = 1};
    json_enter(&self->json, '{');
    while (json_next_key(&self->json, key)) {
        if (is_key(key, "role")) {
            word->role = read_name(&self->json, ROLE_NAME, sizeof ROLE_NAME / sizeof *ROLE_NAME,
                                   "a word is a lock, an atomic, a condition or a barrier");
        } else if (is_key(key, "owner")) {
            word->owner = (uint32_t)json_read_integer(&self->json, LARGEST_INDEX);
        } else if (is_key(key, "parties")) {
            word->parties = (uint32_t)json_read_integer(&self->json, LARGEST_INDEX);
        } else if (is_key(key, "name")) {
            json_read_text(&self->json, name);
        } else {
            json_skip(&self->json);
        }
    }
    snprintf(word->name, sizeof word->name, "%.*s", (int)sizeof word->name - 1, name);
}

static void read_roots(reader *self, ns_program_phase *phase) {
    json_enter(&self->json, '[');
    while (json_next_entry(&self->json)) {
        uint32_t *root = add(self, &self->root, sizeof *root);
        if (!root) return;
        *root = (uint32_t)json_read_integer(&self->json, LARGEST_INDEX);
        phase->roots++;
    }
}

static void read_phase(reader *self) {
    char key[NAME_BYTES], deal[NAME_BYTES] = "";
    ns_program_phase phase = {.first_root = (uint32_t)self->root.count};
    json_enter(&self->json, '{');
    while (json_next_key(&self->json, key)) {
        if (is_key(key, "roots")) {
            read_roots(self, &phase);
        } else if (is_key(key, "deal")) {
            json_read_text(&self->json, deal);
        } else if (is_key(key, "repeat")) {
            if (json_read_integer(&self->json, LARGEST_INDEX) != 1) {
                json_fail(&self->json, "a phase that is repeated cannot be executed");
            }
        } else if (is_key(key, "loop")) {
            json_fail(&self->json, "a loop over phases cannot be executed");
        } else {
            json_skip(&self->json);
        }
    }
    phase.team = is_key(deal, "cyclic");
    ns_program_phase *made = add(self, &self->phase, sizeof *made);
    if (made) *made = phase;
}

static const char *const FORMAT = "numasim task graph 1";

/* The arrays of the file that the reader reads. It skips all others. */
static const struct {
    const char *name;
    void (*read)(reader *self);
} ARRAYS[] = {{"tasks", read_task}, {"segments", read_segment}, {"words", read_word}, {"phases", read_phase}};

static void read_member(reader *self, const char *key) {
    for (size_t at = 0; at < sizeof ARRAYS / sizeof *ARRAYS; at++) {
        if (!is_key(key, ARRAYS[at].name)) continue;
        json_enter(&self->json, '[');
        while (json_next_entry(&self->json)) ARRAYS[at].read(self);
        return;
    }
    if (is_key(key, "format")) {
        read_name(&self->json, &FORMAT, 1, "this is no 'numasim task graph 1'");
    } else if (is_key(key, "ranges")) {
        refuse_entries(self, "implicit ranges cannot be executed");
    } else {
        json_skip(&self->json);
    }
}

/* ---- the whole file ---------------------------------------------------------------------------------------------- */

/* Make the program from the arrays. The program owns the arrays from now on. */
static void hand_over(reader *self, ns_program *program) {
    *program = (ns_program){
        .rows = (uint32_t)self->implicit.count,
        .segments = (uint32_t)self->segment_ps.count,
        .phases = (uint32_t)self->phase.count,
        .words = (uint32_t)self->word.count,
        .first = self->first.entries,
        .code = self->code.entries,
        .argument = self->argument.entries,
        .segment_ps = self->segment_ps.entries,
        .root = self->root.entries,
        .phase = self->phase.entries,
        .word = self->word.entries,
    };
}

/* For each op: the role of its word plus one; 0 for an op without a word. */
static const uint8_t ROLE_OF[NS_OP_END] = {
    [NS_OP_LOCK] = 1 + NS_WORD_LOCK,          [NS_OP_UNLOCK] = 1 + NS_WORD_LOCK,
    [NS_OP_ATOMIC] = 1 + NS_WORD_ATOMIC,      [NS_OP_BARRIER] = 1 + NS_WORD_BARRIER,
    [NS_OP_AWAIT] = 1 + NS_WORD_CONDITION,    [NS_OP_SIGNAL] = 1 + NS_WORD_CONDITION,
    [NS_OP_BROADCAST] = 1 + NS_WORD_CONDITION};

static const char *problem_of_op(const ns_program *self, uint32_t row, uint64_t at, uint8_t *started) {
    const enum ns_op op = self->code[at];
    const uint32_t argument = self->argument[at];
    if (op >= NS_OP_GROUP) return "waits for a group of tasks, which this kernel cannot do";
    if (op >= NS_OP_BEGIN) return "has a transaction, which cannot be executed";
    if (op == NS_OP_RUN && argument >= self->segments) return "runs a segment that there is not";
    if (op == NS_OP_SPAWN || op == NS_OP_CALL) {
        if (argument >= self->rows || argument <= row) return "starts a task that is not numbered behind it";
        if (started[argument]++) return "starts a task that is started elsewhere, too";
    }
    if (ROLE_OF[op] && (argument >= self->words || self->word[argument].role + 1 != ROLE_OF[op])) {
        return "uses a word that is not there, or of another role";
    }
    return NULL;
}

static const char *problem_of_phase(const ns_program *self, const ns_program_phase *phase, const bool *implicit,
                                    uint8_t *started) {
    if (!phase->roots || (phase->roots > 1 && !phase->team)) return "is neither a single task nor a team";
    for (uint32_t at = 0; at < phase->roots; at++) {
        const uint32_t root = self->root[phase->first_root + at];
        if (root >= self->rows || started[root]++) return "starts a task that is not there, or is started elsewhere";
        if (implicit[root] != phase->team) return "is neither a single task nor a team";
    }
    return NULL;
}

/* Check the program. A sentence about the first fault goes to the problem of `setting`. */
static int check(const ns_program *self, const bool *implicit, uint8_t *started, ns_setting *setting) {
    for (uint32_t row = 0; row < self->rows; row++) {
        for (uint64_t at = self->first[row]; at < self->first[row + 1]; at++) {
            const char *problem = problem_of_op(self, row, at, started);
            if (problem) return ns_setting_refuse(setting, "task %u %s", row, problem);
        }
    }
    for (uint32_t phase = 0; phase < self->phases; phase++) {
        const char *problem = problem_of_phase(self, &self->phase[phase], implicit, started);
        if (problem) return ns_setting_refuse(setting, "phase %u %s", phase, problem);
    }
    for (uint32_t row = 0; row < self->rows; row++) {
        if (!started[row]) return ns_setting_refuse(setting, "task %u is never started", row);
    }
    return NS_OK;
}

static void read_file(reader *self) {
    char key[NAME_BYTES];
    json_enter(&self->json, '{');
    while (json_next_key(&self->json, key)) read_member(self, key);
    uint64_t *end = add(self, &self->first, sizeof *end);
    if (end) *end = self->code.count;
}

int ns_program_read(ns_program *self, const char *path, ns_setting *setting) {
    reader reading = {0};
    uint8_t *started = NULL;
    int error = NS_OK;
    if (json_open(&reading.json, path)) read_file(&reading);
    hand_over(&reading, self);
    if (!*reading.json.problem) {
        started = calloc((size_t)self->rows + 1, 1);
        error = started ? check(self, reading.implicit.entries, started, setting) : NS_ERROR_MEMORY;
    } else {
        error = ns_setting_refuse(setting, "%s: %s", path, reading.json.problem);
    }
    json_close(&reading.json);
    free(reading.implicit.entries);
    free(started);
    return error;
}

void ns_program_destroy(ns_program *self) {
    free(self->first);
    free(self->code);
    free(self->argument);
    free(self->segment_ps);
    free(self->root);
    free(self->phase);
    free(self->word);
}
