/* explorer MEMORY [PREFIX]: explore the cases whose names begin with PREFIX; exit status 1 if a case is violated.
 * explorer MEMORY programs: print all outcomes of the programs on standard input (explore_programs). */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "platform/near_memory.h"

/* ---- small programs, for the comparison with another enumeration ------------------------------------------------- */

enum { WORDS = 3, MOST_STEPS = 6, LINE_LENGTH = 256 };

typedef struct {
    char kind;
    uint32_t word;
    memory_order order;
    bool forgets;
} step;

static struct program {
    uint32_t threads, length[NS_EXPLORE_THREADS];
    step steps[NS_EXPLORE_THREADS][MOST_STEPS];
    ns_atomic_u32 *words[WORDS];
    uint32_t *found[NS_EXPLORE_THREADS]; /* the result of each step */
} it;

static void make(void) {
    for (uint32_t at = 0; at < WORDS; at++) it.words[at] = ns_near_memory_allocate(sizeof *it.words[at], 0);
    for (uint32_t id = 0; id < it.threads; id++)
        it.found[id] = ns_near_memory_allocate(MOST_STEPS * sizeof *it.found[id], 0);
}

static void run(uint32_t id) {
    for (uint32_t at = 0; at < it.length[id]; at++) {
        const step *each = &it.steps[id][at];
        ns_atomic_u32 *word = it.words[each->word];
        const uint32_t value = 10 * id + at + 1;
        if (each->kind == 'l')
            it.found[id][at] = ns_atomic_u32_load(word, each->order);
        else if (each->kind == 's')
            ns_atomic_u32_store(word, value, each->order);
        else
            it.found[id][at] = ns_atomic_u32_fetch_add(word, value, each->order);
        if (!each->forgets) continue;
        memset(it.found[id], 0, MOST_STEPS * sizeof *it.found[id]);
        ns_explore_forget(at);
    }
}

static void tell(void) {
    printf("outcome");
    for (uint32_t id = 0; id < it.threads; id++)
        for (uint32_t at = 0; at < it.length[id]; at++) printf(" %u", it.found[id][at]);
    for (uint32_t at = 0; at < WORDS; at++) printf(" %u", ns_atomic_u32_load(it.words[at], memory_order_relaxed));
    printf("\n");
}

static memory_order order_of(char kind, char letter) {
    if (letter == 'r') return memory_order_relaxed;
    if (letter == 'c') return memory_order_seq_cst;
    return kind == 'l' ? memory_order_acquire : kind == 's' ? memory_order_release : memory_order_acq_rel;
}

static bool read_step(const char *text, step *made) {
    if (strlen(text) != 4 || !strchr("lsa", text[0]) || !strchr("roc", text[2]) || !strchr("kf", text[3])) return false;
    *made = (step){text[0], (uint32_t)(text[1] - '0'), order_of(text[0], text[2]), text[3] == 'f'};
    return made->word < WORDS;
}

static bool read_program(char *line) {
    it = (struct program){.threads = 1};
    for (char *text = strtok(line, " \n"); text; text = strtok(NULL, " \n")) {
        uint32_t *length = &it.length[it.threads - 1];
        if (!strcmp(text, "|")) {
            if (it.threads++ == NS_EXPLORE_THREADS) return false;
        } else if (*length == MOST_STEPS || !read_step(text, &it.steps[it.threads - 1][(*length)++])) {
            return false;
        }
    }
    return true;
}

/* Explore each line of `in`. A line has threads separated by |, and a thread has steps separated by spaces. A step is
 * `l` (load), `s` (store) or `a` (add), then the number of a word, then an order: `r` (relaxed), `o` (release; for a
 * load, acquire; for an addition, both) or `c` (seq_cst), then `k`, or `f` if the thread forgets its result. Step
 * number n of thread t stores or adds 10 t + n + 1. Print for each schedule a line "outcome" with the results of the
 * steps and the final words, and for each line of `in` a line "end". Return 0, or -1 if a line is not a program. */
static int explore_programs(FILE *in, enum ns_explore_memory memory) {
    char line[LINE_LENGTH];
    while (fgets(line, sizeof line, in)) {
        if (!read_program(line)) return -1;
        ns_explore_result result;
        const ns_explore_case whole = {"program", it.threads, make, run, tell};
        ns_explore_run(&whole, memory, &result);
        printf("end\n");
    }
    return 0;
}

/* ---- all cases --------------------------------------------------------------------------------------------------- */

static const char *const MEMORY[] = {"sequential", "buffered", "reordered"};
enum { MEMORIES = sizeof MEMORY / sizeof *MEMORY };

static const ns_explore_case *const TABLES[] = {NS_LITMUS_CASES,    NS_DEQUE_CASES,   NS_LANE_CASES,
                                                NS_LOCK_CASES,      NS_CONDITION_CASES, NS_BARRIER_CASES,
                                                NS_DEPENDENT_CASES, NS_SLEEP_CASES};
enum { TABLE_COUNT = sizeof TABLES / sizeof *TABLES };

static bool explore(const ns_explore_case *of, enum ns_explore_memory memory) {
    ns_explore_result result;
    ns_explore_run(of, memory, &result);
    printf("%s %s: %s; %llu schedules, %llu left early, %llu states, %llu steps, longest %u\n", of->name,
           MEMORY[memory], result.violated ? result.sentence : "sound", (unsigned long long)result.schedules,
           (unsigned long long)result.left, (unsigned long long)result.states, (unsigned long long)result.steps,
           result.longest);
    fflush(stdout);
    return !result.violated;
}

int main(int count, char **argument) {
    uint32_t memory = 0;
    while (count > 1 && memory < MEMORIES && strcmp(argument[1], MEMORY[memory]) != 0) memory++;
    if (count < 2 || count > 3 || memory == MEMORIES) {
        fputs("explorer: say sequential, buffered or reordered, and perhaps how names of cases begin\n", stderr);
        return 2;
    }
    const char *prefix = count > 2 ? argument[2] : "";
    if (!strcmp(prefix, "programs")) {
        const int error = explore_programs(stdin, (enum ns_explore_memory)memory);
        if (error) fputs("explorer: a line on standard input is no program\n", stderr);
        return error ? 2 : 0;
    }
    bool sound = true;
    uint32_t explored = 0;
    for (uint32_t table = 0; table < TABLE_COUNT; table++)
        for (const ns_explore_case *each = TABLES[table]; each->name; each++) {
            if (strncmp(each->name, prefix, strlen(prefix)) != 0) continue;
            sound &= explore(each, (enum ns_explore_memory)memory);
            explored++;
        }
    if (!explored) fprintf(stderr, "explorer: no case begins with %s\n", prefix);
    return explored ? !sound : 2;
}
