#include "programs.h"

#include <string.h>

#include "platform/near_memory.h"

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
    uint32_t *found[NS_EXPLORE_THREADS]; /* by each step */
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

int ns_explore_programs(FILE *in, enum ns_explore_memory memory) {
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
