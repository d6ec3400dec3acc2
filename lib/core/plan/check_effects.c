/* What couples running segments. */
#include "generated/plan_checks.h"

/* Of chunks in caches: 6 GiB, taken as they are used. */
#define MOST_COPIES (INT64_C(1) << 28)

bool ns_cache_sizes_check(ns_plan_reader *reader, ns_full_plan *plan, ns_cache_sizes *self) {
    const ns_i64s pages = plan->memory.region_pages;
    int64_t *bytes = ns_plan_reader_take(reader, pages.count, sizeof *bytes), chunks = 0;
    for (uint64_t region = 0; bytes && region < pages.count; region++) {
        bytes[region] = pages.at[region] * plan->memory.page_bytes;
        chunks += bytes[region] / NS_CHUNK_BYTES + 1;
        if (!ns_plan_require(reader, chunks <= MOST_COPIES / (int64_t)self->domains,
                             "llc_domains has more caches than can be followed for regions of these sizes")) {
            return false;
        }
    }
    self->region_bytes = (ns_i64s){bytes, pages.count};
    return bytes != NULL;
}

bool ns_resources_check(ns_plan_reader *reader, ns_full_plan *plan, ns_resources *self) {
    return ns_plan_require(reader, self->capacity.count >= plan->nodes, "resource_capacity has no entry for each node");
}

bool ns_speed_rules_check(ns_plan_reader *reader, ns_full_plan *plan, ns_speed_rules *self) {
    const ns_i64s hz = self->clock_hz;
    bool falls = true;
    (void)plan;
    for (uint64_t step = 1; step < hz.count; step++) falls = falls && hz.at[step] <= hz.at[step - 1];
    return ns_plan_require(reader, falls, "clock_hz does not fall") &&
           ns_plan_require(reader, !hz.count || self->clock_base_hz <= hz.at[0], "clock_base_hz is above clock_hz");
}

static bool check_price(ns_plan_reader *reader, const ns_family *family, const ns_family_price *price, uint32_t nodes) {
    bool ascends = true;
    for (uint64_t at = 1; at < price->resource.count; at++) {
        ascends = ascends && price->resource.at[at - 1] < price->resource.at[at];
    }
    if (!ns_plan_require(reader, ascends, "resource does not ascend") ||
        !ns_plan_require(reader, price->accesses.count == family->accesses.count,
                         "accesses has a wrong number of entries")) {
        return false;
    }
    for (uint64_t at = 0; at < price->accesses.count; at++) {
        const bool same = price->accesses.at[at].wait.count == family->accesses.at[at].traffic.count / nodes;
        if (!ns_plan_require(reader, same, "wait_ps of accesses.%u does not have an entry for each row",
                             (unsigned)at)) {
            return false;
        }
    }
    return true;
}

bool ns_seat_check(ns_plan_reader *reader, ns_full_plan *plan, ns_seat *self) {
    for (uint64_t at = 0; at < self->families.count; at++) {
        if (!check_price(reader, &plan->families.at[at], &self->families.at[at], plan->nodes)) return false;
    }
    return true;
}
