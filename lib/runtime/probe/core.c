/* How fast a core computes: steps of a fixed loop, whose rate is `core_steps_per_s` of a machine file.
 *
 * A step draws a 64-bit number (a multiplication and an addition), looks a number up in a table of 16 KiB that the draw
 * chooses, multiplies and adds a double to a sum, and for one draw in eight goes another way. Each step needs the
 * result of the one before, so that no compiler computes several at once, and all data stay in the first-level cache.
 * Rates are comparable between machines as long as this loop stays as it is.
 */
#include "probe/probe.h"

enum { STEPS = 50000, ENTRIES = 2048, ENTRY_SHIFT = 53, KILO = 1000 };
_Static_assert(ENTRIES == 1 << (64 - ENTRY_SHIFT), "the upper bits of a draw choose an entry");

typedef struct {
    uint64_t table[ENTRIES];
    volatile uint64_t drawn; /* kept, so that no step is left out */
    volatile double sum;
} work;

/* Knuth, The Art of Computer Programming, volume 2, section 3.3.4: the multiplier of MMIX. */
static uint64_t next(uint64_t drawn) { return drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); }

static void step_often(void *context, uint32_t member) {
    work *self = context;
    uint64_t drawn = self->drawn;
    double sum = 0;
    (void)member;
    for (int step = 0; step < STEPS; step++) {
        const uint64_t entry = self->table[drawn >> ENTRY_SHIFT];
        sum = sum * 0.5 + (double)(entry & 1023u);
        drawn = next(drawn ^ entry);
        if (!(drawn >> 61)) drawn += (uint64_t)sum;
    }
    self->drawn = drawn;
    self->sum = sum;
}

/* One core after the other, each alone. */
void ns_probe_cores(ns_probe *self) {
    static work all;
    for (uint32_t entry = 0; entry < ENTRIES; entry++) all.table[entry] = next(entry);
    for (uint32_t at = 0; at < self->topology->cpu_count; at++) {
        const ns_cpu *cpu = &self->topology->cpu[at];
        const ns_subject subject = {"kilostep", NULL, "ns", cpu->id, NS_PROBE_NOWHERE};
        if (cpu->sibling != 0) continue;
        ns_probe_sample(self, &subject,
                        &(ns_sampling){.cpu = &cpu->id,
                                       .members = 1,
                                       .body = step_often,
                                       .context = &all,
                                       .operations = (double)STEPS / KILO});
    }
}
