/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#include "plan_checks.h"

static bool read_ns_stage(ns_plan_reader *reader, ns_full_plan *plan, ns_stage *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "phase", 0, NS_MOST_ITEMS, &value)) return false;
        self->phase = (int64_t)value;
    }
    if (!ns_read_flag(reader, "reads_place", &self->reads_place)) return false;
    if (!ns_read_flag(reader, "marks", &self->marks)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "scan_delay_ps", 0, NS_MOST_COST_PS, &value)) return false;
        self->scan.delay_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "scan_period_ps", 0, NS_MOST_COST_PS, &value)) return false;
        self->scan.period_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "scan_bytes", 1, NS_MOST_BYTES, &value)) return false;
        self->scan.bytes = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "hint_fault_ps", -1, NS_MOST_COST_PS, &value)) return false;
        self->scan.hint_fault_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "migrate_after", 1, 255, &value)) return false;
        self->scan.migrate_after = (int64_t)value;
    }
    if (!ns_read_i32s(reader, "wish", NS_ANY_SIZE, &self->wish.node)) return false;
    if (!ns_require_i32s(reader, "wish", self->wish.node, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_read_i64s(reader, "wish_ptr", (int64_t)plan->memory.region_pages.count + 1, &self->wish.ptr)) return false;
    if (!ns_require_i64_pointer(reader, "wish_ptr", self->wish.ptr, (int64_t)self->wish.node.count)) return false;
    return true;
}

static bool read_ns_item_access(ns_plan_reader *reader, ns_full_plan *plan, ns_item_access *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "divisor", 1, INT64_MAX, &value)) return false;
        self->divisor = (int64_t)value;
    }
    if (!ns_read_flag(reader, "by_quotient", &self->by_quotient)) return false;
    if (!ns_read_flag(reader, "by_remainder", &self->by_remainder)) return false;
    if (!ns_read_i64s(reader, "traffic", NS_ANY_SIZE, &self->traffic)) return false;
    if (!ns_require_i64s(reader, "traffic", self->traffic, 0, NS_MOST_BYTES)) return false;
    if (!ns_read_i64_lists(reader, "wait_ps", (int64_t)plan->nodes, (int64_t)self->traffic.count / (int64_t)plan->nodes, 0, NS_LONGEST_PS, &self->wait)) return false;
    if (!ns_plan_require(reader, (int64_t)self->traffic.count % (int64_t)plan->nodes == 0, "traffic does not have whole rows")) return false;
    return true;
}

static bool read_ns_node_access(ns_plan_reader *reader, ns_full_plan *plan, ns_node_access *self) {
    (void)plan;
    if (!ns_read_i64s(reader, "amounts", NS_ANY_SIZE, &self->amounts.items)) return false;
    if (!ns_require_i64s(reader, "amounts", self->amounts.items, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_u64s(reader, "part_start", NS_ANY_SIZE, &self->amounts.start)) return false;
    if (!ns_read_i64s(reader, "part_low", (int64_t)self->amounts.start.count, &self->amounts.low)) return false;
    if (!ns_require_i64s(reader, "part_low", self->amounts.low, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_i64s(reader, "part_high", (int64_t)self->amounts.start.count, &self->amounts.high)) return false;
    if (!ns_require_i64s(reader, "part_high", self->amounts.high, 0, NS_LONGEST_PS)) return false;
    if (!ns_amounts_check(reader, plan, &self->amounts)) return false;
    if (!ns_read_i32s(reader, "home", NS_ANY_SIZE, &self->home)) return false;
    if (!ns_require_i32s(reader, "home", self->home, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_read_i64s(reader, "share_end", (int64_t)self->home.count, &self->share_end)) return false;
    if (!ns_require_i64s(reader, "share_end", self->share_end, 1, NS_MOST_SHARES)) return false;
    if (!ns_read_flag(reader, "owned", &self->owned)) return false;
    if (!ns_read_flag(reader, "written", &self->written)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "misses", 1, NS_MOST_MISSES, &value)) return false;
        self->misses = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "returned_ppm", 0, NS_MILLION, &value)) return false;
        self->returned_ppm = (int64_t)value;
    }
    if (!ns_read_i64s(reader, "latency_ps", (int64_t)plan->nodes * (int64_t)self->home.count, &self->latency)) return false;
    if (!ns_require_i64s(reader, "latency_ps", self->latency, 0, NS_MOST_COST_PS)) return false;
    if (!ns_read_i64s(reader, "local_latency_ps", (int64_t)plan->nodes, &self->local_latency)) return false;
    if (!ns_require_i64s(reader, "local_latency_ps", self->local_latency, 0, NS_LONGEST_PS)) return false;
    return true;
}

static bool read_ns_page_amounts(ns_plan_reader *reader, ns_full_plan *plan, ns_page_amounts *self) {
    (void)plan;
    if (!ns_read_i64s(reader, "amounts", NS_ANY_SIZE, &self->amounts.items)) return false;
    if (!ns_require_i64s(reader, "amounts", self->amounts.items, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_u64s(reader, "part_start", NS_ANY_SIZE, &self->amounts.start)) return false;
    if (!ns_read_i64s(reader, "part_low", (int64_t)self->amounts.start.count, &self->amounts.low)) return false;
    if (!ns_require_i64s(reader, "part_low", self->amounts.low, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_i64s(reader, "part_high", (int64_t)self->amounts.start.count, &self->amounts.high)) return false;
    if (!ns_require_i64s(reader, "part_high", self->amounts.high, 0, NS_LONGEST_PS)) return false;
    if (!ns_amounts_check(reader, plan, &self->amounts)) return false;
    return true;
}

static bool read_ns_family(ns_plan_reader *reader, ns_full_plan *plan, ns_family *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "count", 0, NS_MOST_ITEMS, &value)) return false;
        self->count = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "kernel", 0, 255, &value)) return false;
        self->kernel = (uint32_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "low_ps", 0, NS_LONGEST_PS, &value)) return false;
        self->low_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "high_ps", (int64_t)self->low_ps, NS_LONGEST_PS, &value)) return false;
        self->high_ps = (int64_t)value;
    }
    if (!ns_read_i64s(reader, "amounts", NS_ANY_SIZE, &self->compute.items)) return false;
    if (!ns_require_i64s(reader, "amounts", self->compute.items, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_u64s(reader, "part_start", NS_ANY_SIZE, &self->compute.start)) return false;
    if (!ns_read_i64s(reader, "part_low", (int64_t)self->compute.start.count, &self->compute.low)) return false;
    if (!ns_require_i64s(reader, "part_low", self->compute.low, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_i64s(reader, "part_high", (int64_t)self->compute.start.count, &self->compute.high)) return false;
    if (!ns_require_i64s(reader, "part_high", self->compute.high, 0, NS_LONGEST_PS)) return false;
    if (!ns_amounts_check(reader, plan, &self->compute)) return false;
    if (!ns_read_i64s(reader, "local_wait_ps", (int64_t)plan->nodes, &self->local_wait)) return false;
    if (!ns_require_i64s(reader, "local_wait_ps", self->local_wait, 0, NS_LONGEST_PS)) return false;
    {
        uint64_t count;
        if (!ns_read_count(reader, "accesses", NS_ANY_SIZE, &count)) return false;
        ns_item_access *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->accesses = (ns_item_access_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "accesses", i);
            if (!read_ns_item_access(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "node_accesses", NS_ANY_SIZE, &count)) return false;
        ns_node_access *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->node_accesses = (ns_node_access_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "node_accesses", i);
            if (!read_ns_node_access(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "fresh", NS_ANY_SIZE, &count)) return false;
        ns_page_amounts *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->fresh = (ns_page_amounts_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "fresh", i);
            if (!read_ns_page_amounts(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "freed", NS_ANY_SIZE, &count)) return false;
        ns_page_amounts *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->freed = (ns_page_amounts_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "freed", i);
            if (!read_ns_page_amounts(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    if (!ns_family_check(reader, plan, self)) return false;
    return true;
}

static bool read_ns_item_access_price(ns_plan_reader *reader, ns_full_plan *plan, ns_item_access_price *self) {
    (void)plan;
    if (!ns_read_flag(reader, "owned", &self->owned)) return false;
    if (!ns_read_i64s(reader, "wait_ps", NS_ANY_SIZE, &self->wait)) return false;
    if (!ns_require_i64s(reader, "wait_ps", self->wait, 0, NS_LONGEST_PS)) return false;
    if (!ns_read_i64s(reader, "fetched", (int64_t)self->wait.count * (int64_t)plan->nodes, &self->fetched)) return false;
    if (!ns_require_i64s(reader, "fetched", self->fetched, 0, NS_MOST_BYTES)) return false;
    if (!ns_read_i64s(reader, "written", (int64_t)self->wait.count * (int64_t)plan->nodes, &self->written)) return false;
    if (!ns_require_i64s(reader, "written", self->written, 0, NS_MOST_BYTES)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "cached_bytes", 0, NS_MOST_BYTES, &value)) return false;
        self->cached_bytes = (int64_t)value;
    }
    return true;
}

static bool read_ns_family_price(ns_plan_reader *reader, ns_full_plan *plan, ns_family_price *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "local_wait_ps", 0, NS_LONGEST_PS, &value)) return false;
        self->local_wait_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "mean_compute_ps", 0, NS_LONGEST_PS, &value)) return false;
        self->mean_compute_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "mean_wait_ps", 0, NS_LONGEST_PS, &value)) return false;
        self->mean_wait_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "mean_pages_ps", 0, NS_LONGEST_PS, &value)) return false;
        self->mean_pages_ps = (int64_t)value;
    }
    if (!ns_read_u32s(reader, "resource", NS_ANY_SIZE, &self->resource)) return false;
    if (!ns_require_u32s(reader, "resource", self->resource, 0, (int64_t)plan->effects.resources.capacity.count - 1)) return false;
    if (!ns_read_i64s(reader, "units", (int64_t)self->resource.count, &self->units)) return false;
    if (!ns_require_i64s(reader, "units", self->units, 0, NS_LONGEST_PS)) return false;
    {
        uint64_t count;
        if (!ns_read_count(reader, "accesses", NS_ANY_SIZE, &count)) return false;
        ns_item_access_price *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->accesses = (ns_item_access_price_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "accesses", i);
            if (!read_ns_item_access_price(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    return true;
}

static bool read_ns_seat(ns_plan_reader *reader, ns_full_plan *plan, ns_seat *self) {
    (void)plan;
    {
        uint64_t count;
        if (!ns_read_count(reader, "families", (int64_t)plan->families.count, &count)) return false;
        ns_family_price *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->families = (ns_family_price_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "families", i);
            if (!read_ns_family_price(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    if (!ns_seat_check(reader, plan, self)) return false;
    return true;
}

static bool read_ns_phase(ns_plan_reader *reader, ns_full_plan *plan, ns_phase *self) {
    (void)plan;
    if (!ns_read_i64s(reader, "roots", NS_ANY_SIZE, &self->roots)) return false;
    if (!ns_require_i64s(reader, "roots", self->roots, 0, (int64_t)plan->graph.rows - 1)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "family", -1, (int64_t)plan->families.count - 1, &value)) return false;
        self->family = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "deal", 0, 2, &value)) return false;
        self->deal = (enum ns_deal)value;
    }
    if (!ns_read_flag(reader, "serial", &self->serial)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "repeat", 1, NS_MOST_ITEMS, &value)) return false;
        self->repeat = (int64_t)value;
    }
    return true;
}

static bool read_ns_loop(ns_plan_reader *reader, ns_full_plan *plan, ns_loop *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "first", 0, (int64_t)plan->phases.count - 1, &value)) return false;
        self->first = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "end", (int64_t)self->first + 1, (int64_t)plan->phases.count, &value)) return false;
        self->end = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "repeat", 1, NS_MOST_ITEMS, &value)) return false;
        self->repeat = (int64_t)value;
    }
    return true;
}

static bool read_ns_idle_phase(ns_plan_reader *reader, ns_full_plan *plan, ns_idle_phase *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "rounds", 0, NS_LONGEST_PS, &value)) return false;
        self->rounds = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "for_ps", 0, NS_MOST_COST_PS, &value)) return false;
        self->for_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "wait_ps", 0, NS_MOST_COST_PS, &value)) return false;
        self->wait_ps = (int64_t)value;
    }
    if (!ns_read_flag(reader, "naps", &self->naps)) return false;
    if (!ns_read_flag(reader, "yields", &self->yields)) return false;
    if (!ns_read_flag(reader, "crowded", &self->crowded)) return false;
    return true;
}

static bool read_ns_item_object(ns_plan_reader *reader, ns_full_plan *plan, ns_item_object *self) {
    (void)plan;
    {
        int64_t value;
        if (!ns_read_integer(reader, "divisor", 1, INT64_MAX, &value)) return false;
        self->divisor = (int64_t)value;
    }
    if (!ns_read_flag(reader, "by_quotient", &self->by_quotient)) return false;
    if (!ns_read_flag(reader, "by_remainder", &self->by_remainder)) return false;
    if (!ns_read_i32s(reader, "home", NS_ANY_SIZE, &self->home)) return false;
    if (!ns_require_i32s(reader, "home", self->home, NS_NOWHERE, (int64_t)plan->nodes - 1)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "bytes", 0, NS_MOST_BYTES, &value)) return false;
        self->bytes = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "mode", 1, 3, &value)) return false;
        self->mode = (uint32_t)value;
    }
    return true;
}

static bool read_ns_item_objects(ns_plan_reader *reader, ns_full_plan *plan, ns_item_objects *self) {
    (void)plan;
    {
        uint64_t count;
        if (!ns_read_count(reader, "objects", NS_ANY_SIZE, &count)) return false;
        ns_item_object *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        self->objects = (ns_item_object_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "objects", i);
            if (!read_ns_item_object(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    return true;
}

bool ns_full_plan_read(ns_plan_reader *reader, ns_full_plan *plan) {
    *plan = (ns_full_plan){0};
    {
        int64_t value;
        if (!ns_read_integer(reader, "workers", 1, NS_MOST_WORKERS, &value)) return false;
        plan->workers = (uint32_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "nodes", 1, NS_MOST_NODES, &value)) return false;
        plan->nodes = (uint32_t)value;
    }
    if (!ns_read_i32s(reader, "node", (int64_t)plan->workers, &plan->node)) return false;
    if (!ns_require_i32s(reader, "node", plan->node, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_read_flag(reader, "skipping", &plan->skipping)) return false;
    if (!ns_read_flag(reader, "skip", &plan->skip)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "segments", 0, NS_MOST_ITEMS, &value)) return false;
        plan->times.segments = (int64_t)value;
    }
    if (!ns_read_i64_lists(reader, "total_ps", (int64_t)plan->nodes, (int64_t)plan->times.segments, 0, NS_LONGEST_PS, &plan->times.total)) return false;
    if (!ns_read_i64_lists(reader, "local_ps", (int64_t)plan->nodes, (int64_t)plan->times.segments, 0, NS_LONGEST_PS, &plan->times.local)) return false;
    if (!ns_read_i64s(reader, "traffic", NS_ANY_SIZE, &plan->times.traffic)) return false;
    if (!ns_require_full(reader, "traffic", plan->times.traffic.count, (int64_t)plan->times.segments * (int64_t)plan->nodes)) return false;
    if (!ns_require_i64s(reader, "traffic", plan->times.traffic, 0, NS_MOST_BYTES)) return false;
    if (!ns_segment_times_check(reader, plan, &plan->times)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "rows", 0, NS_MOST_ROWS, &value)) return false;
        plan->graph.rows = (int64_t)value;
    }
    if (!ns_read_flag(reader, "folded", &plan->graph.folded)) return false;
    if (!ns_read_u8s(reader, "op_code", NS_ANY_SIZE, &plan->graph.op_code)) return false;
    if (!ns_require_u8s(reader, "op_code", plan->graph.op_code, 0, 16)) return false;
    if (!ns_read_u32s(reader, "op_arg", (int64_t)plan->graph.op_code.count, &plan->graph.op_arg)) return false;
    if (!ns_read_i64s(reader, "op_ptr", (int64_t)plan->graph.rows + 1, &plan->graph.op_ptr)) return false;
    if (!ns_require_i64_pointer(reader, "op_ptr", plan->graph.op_ptr, (int64_t)plan->graph.op_code.count)) return false;
    if (!ns_read_u8s(reader, "kind", (int64_t)plan->graph.rows, &plan->graph.kind)) return false;
    if (!ns_require_u8s(reader, "kind", plan->graph.kind, 0, 2)) return false;
    if (!ns_read_u8s(reader, "segment_kernel", (int64_t)plan->times.segments, &plan->graph.kernel)) return false;
    if (! (int64_t)plan->graph.folded) {
        if (!ns_read_i64s(reader, "parent", (int64_t)plan->graph.rows, &plan->graph.parent)) return false;
        if (!ns_require_i64s(reader, "parent", plan->graph.parent, -1, (int64_t)plan->graph.rows - 1)) return false;
    }
    if (! (int64_t)plan->graph.folded) {
        if (!ns_read_u32s(reader, "successor", NS_ANY_SIZE, &plan->graph.successor)) return false;
        if (!ns_require_u32s(reader, "successor", plan->graph.successor, 0, (int64_t)plan->graph.rows - 1)) return false;
    }
    if (! (int64_t)plan->graph.folded) {
        if (!ns_read_i64s(reader, "successor_ptr", (int64_t)plan->graph.rows + 1, &plan->graph.successor_ptr)) return false;
        if (!ns_require_i64_pointer(reader, "successor_ptr", plan->graph.successor_ptr, (int64_t)plan->graph.successor.count)) return false;
    }
    if (!ns_graph_check(reader, plan, &plan->graph)) return false;
    if (!ns_read_flag(reader, "looks_at_accesses", &plan->looks_at_accesses)) return false;
    if ((int64_t)plan->looks_at_accesses) {
        {
            int64_t value;
            if (!ns_read_integer(reader, "page_bytes", 1, NS_MOST_PAGE_BYTES, &value)) return false;
            plan->memory.page_bytes = (int64_t)value;
        }
        if (!ns_read_i64s(reader, "region_pages", NS_ANY_SIZE, &plan->memory.region_pages)) return false;
        if (!ns_require_i64s(reader, "region_pages", plan->memory.region_pages, 0, NS_MOST_BYTES / (int64_t)plan->memory.page_bytes)) return false;
        if (!ns_read_i64s(reader, "unit_pages", (int64_t)plan->memory.region_pages.count, &plan->memory.unit_pages)) return false;
        if (!ns_require_i64s(reader, "unit_pages", plan->memory.unit_pages, 1, NS_MOST_UNIT_PAGES)) return false;
        if (!ns_read_u8s(reader, "region_dynamic", (int64_t)plan->memory.region_pages.count, &plan->memory.dynamic)) return false;
        if (!ns_require_u8s(reader, "region_dynamic", plan->memory.dynamic, 0, 1)) return false;
        if (!ns_read_i32s(reader, "home", NS_ANY_SIZE, &plan->memory.home.node)) return false;
        if (!ns_require_i32s(reader, "home", plan->memory.home.node, 0, (int64_t)plan->nodes - 1)) return false;
        if (!ns_read_i64s(reader, "home_ptr", (int64_t)plan->memory.region_pages.count + 1, &plan->memory.home.ptr)) return false;
        if (!ns_require_i64_pointer(reader, "home_ptr", plan->memory.home.ptr, (int64_t)plan->memory.home.node.count)) return false;
        {
            uint64_t count;
            if (!ns_read_count(reader, "stages", NS_ANY_SIZE, &count)) return false;
            ns_stage *made = ns_plan_reader_take(reader, count, sizeof *made);
            if (!made) return false;
            plan->memory.stages = (ns_stage_list){made, count};
            for (uint64_t i = 0; i < count; i++) {
                const size_t before = ns_plan_reader_enter(reader, "stages", i);
                if (!read_ns_stage(reader, plan, &made[i])) return false;
                ns_plan_reader_leave(reader, before);
            }
        }
        if (!ns_read_i32s(reader, "home_of_node", (int64_t)plan->nodes, &plan->memory.home_of_node)) return false;
        if (!ns_require_i32s(reader, "home_of_node", plan->memory.home_of_node, 0, (int64_t)plan->nodes - 1)) return false;
        if (!ns_read_i64s(reader, "free_pages", NS_ANY_SIZE, &plan->memory.free_pages)) return false;
        if (!ns_require_full(reader, "free_pages", plan->memory.free_pages.count, (int64_t)plan->nodes)) return false;
        if (!ns_require_i64s(reader, "free_pages", plan->memory.free_pages, -NS_LONGEST_PS, NS_LONGEST_PS)) return false;
        if (!ns_read_i64s(reader, "nodes_by_distance", (int64_t)plan->memory.free_pages.count * (int64_t)plan->nodes, &plan->memory.by_distance)) return false;
        if (!ns_require_i64s(reader, "nodes_by_distance", plan->memory.by_distance, 0, (int64_t)plan->nodes - 1)) return false;
        if (!ns_plan_require(reader, (int64_t)plan->memory.stages.count > 0, "stages has no entry")) return false;
        if (!ns_memory_check(reader, plan, &plan->memory)) return false;
    }
    if ((int64_t)plan->looks_at_accesses) {
        if (!ns_read_u32s(reader, "access_region", NS_ANY_SIZE, &plan->accesses.region)) return false;
        if (!ns_require_u32s(reader, "access_region", plan->accesses.region, 0, (int64_t)plan->memory.region_pages.count - 1)) return false;
        if (!ns_read_i64s(reader, "access_offset", (int64_t)plan->accesses.region.count, &plan->accesses.offset)) return false;
        if (!ns_require_i64s(reader, "access_offset", plan->accesses.offset, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_i64s(reader, "access_row_bytes", (int64_t)plan->accesses.region.count, &plan->accesses.row_bytes)) return false;
        if (!ns_require_i64s(reader, "access_row_bytes", plan->accesses.row_bytes, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_i64s(reader, "access_rows", (int64_t)plan->accesses.region.count, &plan->accesses.rows)) return false;
        if (!ns_require_i64s(reader, "access_rows", plan->accesses.rows, 0, NS_MOST_ACCESS_ROWS)) return false;
        if (!ns_read_i64s(reader, "access_stride", (int64_t)plan->accesses.region.count, &plan->accesses.stride)) return false;
        if (!ns_require_i64s(reader, "access_stride", plan->accesses.stride, 0, NS_MOST_STRIDE)) return false;
        if (!ns_read_i64s(reader, "access_factor", (int64_t)plan->accesses.region.count, &plan->accesses.factor)) return false;
        if (!ns_require_i64s(reader, "access_factor", plan->accesses.factor, 0, NS_MOST_FACTOR)) return false;
        if (!ns_read_i64s(reader, "access_mlp", (int64_t)plan->accesses.region.count, &plan->accesses.mlp)) return false;
        if (!ns_require_i64s(reader, "access_mlp", plan->accesses.mlp, 1, NS_MILLION)) return false;
        if (!ns_read_u8s(reader, "access_writes", (int64_t)plan->accesses.region.count, &plan->accesses.writes)) return false;
        if (!ns_require_u8s(reader, "access_writes", plan->accesses.writes, 0, 1)) return false;
        if (!ns_read_i64s(reader, "settled_bytes", NS_ANY_SIZE, &plan->accesses.settled)) return false;
        if (!ns_require_full(reader, "settled_bytes", plan->accesses.settled.count, (int64_t)plan->accesses.region.count * (int64_t)plan->nodes)) return false;
        if (!ns_require_i64s(reader, "settled_bytes", plan->accesses.settled, 0, NS_MOST_BYTES)) return false;
        if (!ns_accesses_check(reader, plan, &plan->accesses)) return false;
    }
    if (!ns_read_i64s(reader, "open_ptr", NS_ANY_SIZE, &plan->open.ptr)) return false;
    if (!ns_require_full(reader, "open_ptr", plan->open.ptr.count, (int64_t)plan->times.segments + 1)) return false;
    if ((int64_t)plan->open.ptr.count > 0) {
        if (!ns_read_i64s(reader, "open_access", NS_ANY_SIZE, &plan->open.access)) return false;
        if (!ns_require_i64s(reader, "open_access", plan->open.access, 0, (int64_t)plan->accesses.region.count - 1)) return false;
        if (!ns_read_i64s(reader, "compute_ps", (int64_t)plan->times.segments, &plan->open.compute)) return false;
        if (!ns_require_i64s(reader, "compute_ps", plan->open.compute, 0, NS_LONGEST_PS)) return false;
        if (!ns_read_i64s(reader, "settled_ps", (int64_t)plan->nodes * (int64_t)plan->times.segments, &plan->open.settled)) return false;
        if (!ns_require_i64s(reader, "settled_ps", plan->open.settled, 0, NS_LONGEST_PS)) return false;
        if (!ns_read_i64s(reader, "latency_ps", (int64_t)plan->nodes * (int64_t)plan->nodes, &plan->open.latency_ps)) return false;
        if (!ns_require_i64s(reader, "latency_ps", plan->open.latency_ps, 0, NS_MOST_COST_PS)) return false;
        if (!ns_open_accesses_check(reader, plan, &plan->open)) return false;
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "families", NS_ANY_SIZE, &count)) return false;
        ns_family *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        plan->families = (ns_family_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "families", i);
            if (!read_ns_family(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    if (!ns_read_flag(reader, "coupled", &plan->effects.coupled)) return false;
    if ((int64_t)plan->effects.coupled) {
        {
            uint32_t value;
            if (!ns_read_choice(reader, "contention", NS_CONTENTION_WORD, 3, &value)) return false;
            plan->effects.contention = (enum ns_contention)value;
        }
        if (!ns_read_flag(reader, "queueing", &plan->effects.queueing)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "overlap_ppm", 0, NS_MILLION, &value)) return false;
            plan->effects.overlap_ppm = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "task_noise_ppm", 0, NS_MILLION, &value)) return false;
            plan->effects.task_noise_ppm = (int64_t)value;
        }
        if (!ns_read_i64s(reader, "load_ps", (int64_t)plan->nodes * (int64_t)plan->nodes, &plan->effects.latency_ps)) return false;
        if (!ns_require_i64s(reader, "load_ps", plan->effects.latency_ps, 0, NS_MOST_COST_PS)) return false;
        if (!ns_read_i64s(reader, "segment_compute_ps", (int64_t)plan->times.segments, &plan->effects.segments.compute_ps)) return false;
        if (!ns_require_i64s(reader, "segment_compute_ps", plan->effects.segments.compute_ps, 0, NS_LONGEST_PS)) return false;
        if (!ns_read_i64s(reader, "segment_accesses", (int64_t)plan->times.segments + 1, &plan->effects.segments.first_access)) return false;
        if (!ns_require_i64_pointer(reader, "segment_accesses", plan->effects.segments.first_access, (int64_t)plan->accesses.region.count)) return false;
        if (!ns_read_u8s(reader, "access_mode", (int64_t)plan->accesses.region.count, &plan->effects.segments.mode)) return false;
        if (!ns_require_u8s(reader, "access_mode", plan->effects.segments.mode, 1, 3)) return false;
        if (!ns_read_i64s(reader, "access_passes", (int64_t)plan->accesses.region.count, &plan->effects.segments.passes)) return false;
        if (!ns_require_i64s(reader, "access_passes", plan->effects.segments.passes, 1, NS_MOST_PASSES)) return false;
        if (!ns_read_i64s(reader, "access_misses", (int64_t)plan->accesses.region.count, &plan->effects.segments.misses)) return false;
        if (!ns_require_i64s(reader, "access_misses", plan->effects.segments.misses, 1, NS_MOST_MISSES)) return false;
        if (!ns_plan_require(reader, (int64_t)plan->accesses.settled.count == (int64_t)plan->accesses.region.count * (int64_t)plan->nodes, "settled_bytes is missing")) return false;
        if (!ns_segment_needs_check(reader, plan, &plan->effects.segments)) return false;
        {
            uint32_t value;
            if (!ns_read_choice(reader, "cache", NS_CACHE_MODEL_WORD, 3, &value)) return false;
            plan->effects.caches.model = (enum ns_cache_model)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "l2_bytes", -1, NS_MOST_BYTES, &value)) return false;
            plan->effects.caches.l2_bytes = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "llc_hit_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.caches.hit_ps = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "llc_remote_hit_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.caches.remote_hit_ps = (int64_t)value;
        }
        if (!ns_read_flag(reader, "llc_forwards", &plan->effects.caches.forwards)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "llc_domains", 1, NS_MOST_WORKERS, &value)) return false;
            plan->effects.caches.domains = (uint64_t)value;
        }
        if (!ns_read_i64s(reader, "llc_bytes", (int64_t)plan->effects.caches.domains, &plan->effects.caches.llc_bytes)) return false;
        if (!ns_require_i64s(reader, "llc_bytes", plan->effects.caches.llc_bytes, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_u32s(reader, "llc_domain", (int64_t)plan->workers, &plan->effects.caches.domain)) return false;
        if (!ns_require_u32s(reader, "llc_domain", plan->effects.caches.domain, 0, (int64_t)plan->effects.caches.domains - 1)) return false;
        if (!ns_cache_sizes_check(reader, plan, &plan->effects.caches)) return false;
        if (!ns_read_i64s(reader, "resource_capacity", NS_ANY_SIZE, &plan->effects.resources.capacity)) return false;
        if (!ns_require_i64s(reader, "resource_capacity", plan->effects.resources.capacity, 1, NS_MOST_UNITS_PER_S)) return false;
        if (!ns_read_u32s(reader, "read_resource", NS_ANY_SIZE, &plan->effects.resources.reads.resource)) return false;
        if (!ns_require_u32s(reader, "read_resource", plan->effects.resources.reads.resource, 0, (int64_t)plan->effects.resources.capacity.count - 1)) return false;
        if (!ns_read_i64s(reader, "read_per_line", (int64_t)plan->effects.resources.reads.resource.count, &plan->effects.resources.reads.per_line)) return false;
        if (!ns_require_i64s(reader, "read_per_line", plan->effects.resources.reads.per_line, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_i64s(reader, "read_first", (int64_t)plan->nodes * (int64_t)plan->nodes + 1, &plan->effects.resources.reads.first)) return false;
        if (!ns_require_i64_pointer(reader, "read_first", plan->effects.resources.reads.first, (int64_t)plan->effects.resources.reads.resource.count)) return false;
        if (!ns_read_u32s(reader, "write_resource", NS_ANY_SIZE, &plan->effects.resources.writes.resource)) return false;
        if (!ns_require_u32s(reader, "write_resource", plan->effects.resources.writes.resource, 0, (int64_t)plan->effects.resources.capacity.count - 1)) return false;
        if (!ns_read_i64s(reader, "write_per_line", (int64_t)plan->effects.resources.writes.resource.count, &plan->effects.resources.writes.per_line)) return false;
        if (!ns_require_i64s(reader, "write_per_line", plan->effects.resources.writes.per_line, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_i64s(reader, "write_first", (int64_t)plan->nodes * (int64_t)plan->nodes + 1, &plan->effects.resources.writes.first)) return false;
        if (!ns_require_i64_pointer(reader, "write_first", plan->effects.resources.writes.first, (int64_t)plan->effects.resources.writes.resource.count)) return false;
        if (!ns_read_u32s(reader, "move_resource", NS_ANY_SIZE, &plan->effects.resources.moves.resource)) return false;
        if (!ns_require_u32s(reader, "move_resource", plan->effects.resources.moves.resource, 0, (int64_t)plan->effects.resources.capacity.count - 1)) return false;
        if (!ns_read_i64s(reader, "move_per_line", (int64_t)plan->effects.resources.moves.resource.count, &plan->effects.resources.moves.per_line)) return false;
        if (!ns_require_i64s(reader, "move_per_line", plan->effects.resources.moves.per_line, 0, NS_MOST_BYTES)) return false;
        if (!ns_read_i64s(reader, "move_first", (int64_t)plan->nodes * (int64_t)plan->nodes + 1, &plan->effects.resources.moves.first)) return false;
        if (!ns_require_i64_pointer(reader, "move_first", plan->effects.resources.moves.first, (int64_t)plan->effects.resources.moves.resource.count)) return false;
        if (!ns_read_i32s(reader, "llc_port", (int64_t)plan->effects.caches.domains, &plan->effects.resources.llc_port)) return false;
        if (!ns_require_i32s(reader, "llc_port", plan->effects.resources.llc_port, -1, (int64_t)plan->effects.resources.capacity.count - 1)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "faults", -1, (int64_t)plan->effects.resources.capacity.count - 1, &value)) return false;
            plan->effects.resources.faults = (int32_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "fault_units", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.resources.fault_units = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "fault_alpha_ppm", 0, 1000 * NS_MILLION, &value)) return false;
            plan->effects.resources.fault_alpha_ppm = (int64_t)value;
        }
        if (!ns_plan_require(reader, (int64_t)plan->effects.resources.capacity.count >= (int64_t)plan->nodes, "resource_capacity has no entry for each node")) return false;
        if (!ns_read_u32s(reader, "core", (int64_t)plan->workers, &plan->effects.speeds.core)) return false;
        if (!ns_require_u32s(reader, "core", plan->effects.speeds.core, 0, NS_MOST_WORKERS)) return false;
        if (!ns_read_u32s(reader, "socket", (int64_t)plan->workers, &plan->effects.speeds.socket)) return false;
        if (!ns_require_u32s(reader, "socket", plan->effects.speeds.socket, 0, NS_MOST_WORKERS)) return false;
        if (!ns_read_flag(reader, "slows_memory", &plan->effects.speeds.slows_memory)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "executing_ppm", 1, NS_MILLION, &value)) return false;
            plan->effects.speeds.executing_ppm = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "polling_ppm", 1, NS_MILLION, &value)) return false;
            plan->effects.speeds.polling_ppm = (int64_t)value;
        }
        if (!ns_read_i64s(reader, "clock_active", NS_ANY_SIZE, &plan->effects.speeds.clock_active)) return false;
        if (!ns_read_i64s(reader, "clock_hz", (int64_t)plan->effects.speeds.clock_active.count, &plan->effects.speeds.clock_hz)) return false;
        if (!ns_require_i64s(reader, "clock_hz", plan->effects.speeds.clock_hz, 1, NS_MOST_HZ)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "clock_base_hz", 1, NS_MOST_HZ, &value)) return false;
            plan->effects.speeds.clock_base_hz = (int64_t)value;
        }
        if (!ns_read_i64s(reader, "core_ppm", (int64_t)plan->workers, &plan->effects.speeds.core_ppm)) return false;
        if (!ns_require_i64s(reader, "core_ppm", plan->effects.speeds.core_ppm, 1, NS_MILLION)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "worker_spread_ppm", 0, NS_MILLION, &value)) return false;
            plan->effects.speeds.worker_spread_ppm = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "unmap_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.pages.unmap_ps = (int64_t)value;
        }
        if (!ns_read_i64s(reader, "unmap_far_ps", (int64_t)plan->nodes * (int64_t)plan->nodes, &plan->effects.pages.unmap_far_ps)) return false;
        if (!ns_require_i64s(reader, "unmap_far_ps", plan->effects.pages.unmap_far_ps, 0, NS_LONGEST_PS)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "flush_ps", 0, NS_LONGEST_PS, &value)) return false;
            plan->effects.pages.flush_ps = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "unmap_batch", 0, NS_MOST_BYTES, &value)) return false;
            plan->effects.pages.unmap_batch = (int64_t)value;
        }
        if (!ns_read_u8s(reader, "helper", (int64_t)plan->workers, &plan->effects.helpers.has)) return false;
        if (!ns_require_u8s(reader, "helper", plan->effects.helpers.has, 0, 1)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "helper_lifespan", 0, NS_MOST_BYTES, &value)) return false;
            plan->effects.helpers.lifespan_bytes = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "helper_work_ppm", 0, NS_MILLION, &value)) return false;
            plan->effects.helpers.work_ppm = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "helper_start_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.helpers.start_ps = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "helper_restart_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->effects.helpers.restart_ps = (int64_t)value;
        }
        {
            uint64_t count;
            if (!ns_read_count(reader, "seats", NS_ANY_SIZE, &count)) return false;
            ns_seat *made = ns_plan_reader_take(reader, count, sizeof *made);
            if (!made) return false;
            plan->effects.prices = (ns_seat_list){made, count};
            for (uint64_t i = 0; i < count; i++) {
                const size_t before = ns_plan_reader_enter(reader, "seats", i);
                if (!read_ns_seat(reader, plan, &made[i])) return false;
                ns_plan_reader_leave(reader, before);
            }
        }
        if (!ns_read_u32s(reader, "seat", (int64_t)plan->workers, &plan->effects.price_class)) return false;
        if (!ns_require_u32s(reader, "seat", plan->effects.price_class, 0, (int64_t)plan->effects.prices.count - 1)) return false;
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "phases", NS_ANY_SIZE, &count)) return false;
        ns_phase *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        plan->phases = (ns_phase_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "phases", i);
            if (!read_ns_phase(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    {
        uint64_t count;
        if (!ns_read_count(reader, "loops", NS_ANY_SIZE, &count)) return false;
        ns_loop *made = ns_plan_reader_take(reader, count, sizeof *made);
        if (!made) return false;
        plan->loops = (ns_loop_list){made, count};
        for (uint64_t i = 0; i < count; i++) {
            const size_t before = ns_plan_reader_enter(reader, "loops", i);
            if (!read_ns_loop(reader, plan, &made[i])) return false;
            ns_plan_reader_leave(reader, before);
        }
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "refill", -1, NS_LONGEST_PS, &value)) return false;
        plan->refill = (int64_t)value;
    }
    if (!ns_read_flag(reader, "work_first", &plan->work_first)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "adaptive_stack", 0, NS_LONGEST_PS, &value)) return false;
        plan->adaptive.stack = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "adaptive_every", 1, NS_LONGEST_PS, &value)) return false;
        plan->adaptive.every = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "adaptive_steals", 0, NS_LONGEST_PS, &value)) return false;
        plan->adaptive.steals = (int64_t)value;
    }
    if (!ns_read_flag(reader, "adaptive_first", &plan->adaptive.work_first)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "work_first_tiers", 0, NS_EVERY_TIER, &value)) return false;
        plan->work_first_tiers = (uint32_t)value;
    }
    {
        const void *records;
        if (!ns_read_records(reader, "level", sizeof *plan->steal.level, _Alignof(ns_level), &records, &plan->steal.levels)) return false;
        plan->steal.level = records;
    }
    ns_u32s queue_view;
    if (!ns_read_u32s(reader, "queue", NS_ANY_SIZE, &queue_view)) return false;
    if (!ns_require_countable(reader, "queue", queue_view.count)) return false;
    plan->steal.queue = queue_view.at;
    ns_u32s seg_view;
    if (!ns_read_u32s(reader, "seg", NS_ANY_SIZE, &seg_view)) return false;
    if (!ns_require_u32_pointer(reader, "seg", seg_view, (int64_t)queue_view.count)) return false;
    if (!ns_require_countable(reader, "seg", seg_view.count)) return false;
    plan->steal.seg = seg_view.at;
    ns_u32s row_view;
    if (!ns_read_u32s(reader, "row", NS_ANY_SIZE, &row_view)) return false;
    if (!ns_require_u32_pointer(reader, "row", row_view, (int64_t)seg_view.count - 1)) return false;
    if (!ns_require_countable(reader, "row", row_view.count)) return false;
    plan->steal.row = row_view.at;
    plan->steal.rows = (uint32_t)(row_view.count);
    ns_u64s weight_view;
    if (!ns_read_u64s(reader, "weight", (int64_t)seg_view.count - 1, &weight_view)) return false;
    if (!ns_require_countable(reader, "weight", weight_view.count)) return false;
    plan->steal.weight = weight_view.at;
    ns_i32s watch_view;
    if (!ns_read_i32s(reader, "watch", NS_ANY_SIZE, &watch_view)) return false;
    if (!ns_require_countable(reader, "watch", watch_view.count)) return false;
    plan->steal.watch = watch_view.at;
    if (!ns_plan_require(reader, watch_view.count % 2 == 0, "watch does not have rows of 2")) return false;
    plan->steal.watches = (uint32_t)(watch_view.count / 2);
    {
        const void *records;
        if (!ns_read_records(reader, "chance", sizeof *plan->steal.chance, _Alignof(ns_chance), &records, &plan->steal.chances)) return false;
        plan->steal.chance = records;
    }
    {
        const void *records;
        if (!ns_read_records(reader, "queues", sizeof *plan->steal.queues, _Alignof(ns_queue), &records, &plan->steal.queue_count)) return false;
        plan->steal.queues = records;
    }
    {
        const void *records;
        if (!ns_read_records(reader, "data", sizeof *plan->steal.data, _Alignof(ns_data), &records, &plan->steal.data_count)) return false;
        plan->steal.data = records;
    }
    ns_u32s own_view;
    if (!ns_read_u32s(reader, "own", (int64_t)plan->workers, &own_view)) return false;
    if (!ns_require_countable(reader, "own", own_view.count)) return false;
    plan->steal.own = own_view.at;
    ns_i32s position_node_view;
    if (!ns_read_i32s(reader, "position_node", (int64_t)plan->workers + 1, &position_node_view)) return false;
    if (!ns_require_i32s(reader, "position_node", position_node_view, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_require_countable(reader, "position_node", position_node_view.count)) return false;
    plan->steal.node = position_node_view.at;
    ns_i32s domains_view;
    if (!ns_read_i32s(reader, "domains", NS_ANY_SIZE, &domains_view)) return false;
    if (!ns_require_i32s(reader, "domains", domains_view, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_require_countable(reader, "domains", domains_view.count)) return false;
    plan->steal.domains = domains_view.at;
    plan->steal.domain_count = (uint32_t)(domains_view.count);
    ns_i32s gate_view;
    if (!ns_read_i32s(reader, "gate", (int64_t)plan->workers, &gate_view)) return false;
    if (!ns_require_i32s(reader, "gate", gate_view, 0, (int64_t)plan->workers - 1)) return false;
    if (!ns_require_countable(reader, "gate", gate_view.count)) return false;
    plan->steal.gate = gate_view.at;
    {
        int64_t value;
        if (!ns_read_integer(reader, "live_most", 0, 2147483647, &value)) return false;
        plan->steal.live_most = (int64_t)value;
    }
    ns_i64s latency_ps_view;
    if (!ns_read_i64s(reader, "latency_ps", (int64_t)plan->nodes * (int64_t)plan->nodes, &latency_ps_view)) return false;
    if (!ns_require_i64s(reader, "latency_ps", latency_ps_view, 0, NS_MOST_COST_PS)) return false;
    if (!ns_require_countable(reader, "latency_ps", latency_ps_view.count)) return false;
    plan->steal.latency_ps = latency_ps_view.at;
    {
        int64_t value;
        if (!ns_read_integer(reader, "steal_levels", 0, (int64_t)plan->steal.levels, &value)) return false;
        plan->steal.steal_levels = (uint32_t)value;
    }
    if (!ns_plan_require(reader, (int64_t)domains_view.count > 0, "domains has no entry")) return false;
    if (!ns_plan_check(reader, plan, &plan->steal)) return false;
    if (!ns_read_u8s(reader, "task_tier", NS_ANY_SIZE, &plan->control.tier)) return false;
    if (!ns_require_full(reader, "task_tier", plan->control.tier.count, (int64_t)plan->graph.rows)) return false;
    if (!ns_require_u8s(reader, "task_tier", plan->control.tier, 0, 4)) return false;
    if (!ns_read_i32s(reader, "task_label", NS_ANY_SIZE, &plan->control.label)) return false;
    if (!ns_require_full(reader, "task_label", plan->control.label.count, (int64_t)plan->graph.rows)) return false;
    if (!ns_require_i32s(reader, "task_label", plan->control.label, -1, NS_MOST_WORKERS)) return false;
    if (!ns_read_i32s(reader, "item_label", NS_ANY_SIZE, &plan->control.item_label)) return false;
    if (!ns_require_i32s(reader, "item_label", plan->control.item_label, 0, NS_MOST_WORKERS)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "item_units", 0, NS_MOST_WORKERS, &value)) return false;
        plan->control.item_units = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "switches", -INT64_MAX - 1, INT64_MAX, &value)) return false;
        plan->control.switches = (uint64_t)value;
    }
    if (!ns_plan_require(reader, ! (int64_t)plan->graph.folded || (int64_t)plan->control.tier.count + (int64_t)plan->control.label.count == 0, "tiers and labels are those of tasks, not of rows")) return false;
    if (!ns_control_check(reader, plan, &plan->control)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "max_tasks", -1, NS_LONGEST_PS, &value)) return false;
        plan->thresholds.max_tasks = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "min_tasks", -1, NS_LONGEST_PS, &value)) return false;
        plan->thresholds.min_tasks = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "fraction_ppm", 0, 1000 * NS_MILLION, &value)) return false;
        plan->thresholds.fraction_ppm = (int64_t)value;
    }
    {
        uint32_t value;
        if (!ns_read_choice(reader, "threshold_rule", NS_THRESHOLD_RULE_WORD, 3, &value)) return false;
        plan->thresholds.rule = (enum ns_threshold_rule)value;
    }
    {
        uint32_t value;
        if (!ns_read_choice(reader, "threshold_time", NS_THRESHOLD_TIME_WORD, 3, &value)) return false;
        plan->threshold_time = (enum ns_threshold_time)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "backoff_first_ps", 0, NS_LONGEST_PS, &value)) return false;
        plan->backoff.first_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "backoff_factor", 1, 2147483648, &value)) return false;
        plan->backoff.factor = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "backoff_max_ps", -1, NS_LONGEST_PS, &value)) return false;
        plan->backoff.max_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "poll_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->backoff.poll_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "scan_ps", 1, NS_MOST_COST_PS, &value)) return false;
        plan->backoff.scan_ps = (int64_t)value;
    }
    if (!ns_read_flag(reader, "backoff_after_probe", &plan->backoff_after_probe)) return false;
    if (!ns_read_flag(reader, "backoff_counts_empty", &plan->backoff_counts_empty)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "push_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.push_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "locate_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.locate_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "pop_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.pop_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "join_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.join_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "wait_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.wait_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "resume_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.resume_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "take_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.take_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "move_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.move_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "wake_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.wake_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "wake_remote_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.wake_remote_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "fault_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.fault_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "migrate_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.migrate_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "signal_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.signal_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "probe_near_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.probe_near_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "probe_far_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.probe_far_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "least_probe_ps", 1, NS_MOST_COST_PS, &value)) return false;
        plan->costs.least_probe_ps = (int64_t)value;
    }
    {
        uint32_t value;
        if (!ns_read_choice(reader, "line", NS_LINE_RULE_WORD, 3, &value)) return false;
        plan->costs.line = (enum ns_line_rule)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "unpark_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.unpark_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "look_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.look_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "deep_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.deep_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "deep_wake_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.deep_wake_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "yield_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->costs.yield_ps = (int64_t)value;
    }
    if (!ns_read_u8s(reader, "queue_lines", NS_ANY_SIZE, &plan->queue_lines)) return false;
    if (!ns_require_u8s(reader, "queue_lines", plan->queue_lines, 1, 2)) return false;
    if (!ns_read_flag(reader, "idle_given", &plan->idle.given)) return false;
    if ((int64_t)plan->idle.given) {
        {
            uint64_t count;
            if (!ns_read_count(reader, "idle_phases", NS_ANY_SIZE, &count)) return false;
            ns_idle_phase *made = ns_plan_reader_take(reader, count, sizeof *made);
            if (!made) return false;
            plan->idle.phases = (ns_idle_phase_list){made, count};
            for (uint64_t i = 0; i < count; i++) {
                const size_t before = ns_plan_reader_enter(reader, "idle_phases", i);
                if (!read_ns_idle_phase(reader, plan, &made[i])) return false;
                ns_plan_reader_leave(reader, before);
            }
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "cap", 0, NS_LONGEST_PS, &value)) return false;
            plan->idle.cap = (int64_t)value;
        }
        {
            uint32_t value;
            if (!ns_read_choice(reader, "cap_of", NS_CAP_RULE_WORD, 3, &value)) return false;
            plan->idle.cap_of = (enum ns_cap_rule)value;
        }
        if (!ns_read_flag(reader, "sleeps", &plan->idle.sleeps)) return false;
        {
            uint32_t value;
            if (!ns_read_choice(reader, "recheck", NS_RECHECK_RULE_WORD, 4, &value)) return false;
            plan->idle.recheck = (enum ns_recheck_rule)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "sleep_first_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->idle.first_ps = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "sleep_factor", 1, 1024, &value)) return false;
            plan->idle.factor = (int64_t)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "sleep_max_ps", 0, NS_MOST_COST_PS, &value)) return false;
            plan->idle.max_ps = (int64_t)value;
        }
        {
            uint32_t value;
            if (!ns_read_choice(reader, "wake_at", NS_WAKE_RULE_WORD, 4, &value)) return false;
            plan->idle.at = (enum ns_wake_rule)value;
        }
        {
            uint32_t value;
            if (!ns_read_choice(reader, "wake_whom", NS_WHOM_RULE_WORD, 3, &value)) return false;
            plan->idle.whom = (enum ns_whom_rule)value;
        }
        {
            int64_t value;
            if (!ns_read_integer(reader, "chain", 0, NS_LONGEST_PS, &value)) return false;
            plan->idle.chain = (int64_t)value;
        }
        {
            uint32_t value;
            if (!ns_read_choice(reader, "chain_by", NS_CHAIN_RULE_WORD, 3, &value)) return false;
            plan->idle.chain_by = (enum ns_chain_rule)value;
        }
        if (!ns_read_flag(reader, "counted", &plan->idle.counted)) return false;
        if (!ns_read_flag(reader, "cancels", &plan->idle.cancels)) return false;
        if (!ns_read_flag(reader, "missed", &plan->idle.missed)) return false;
        {
            int64_t value;
            if (!ns_read_integer(reader, "between_ps", -1, NS_MOST_COST_PS, &value)) return false;
            plan->idle.between_ps = (int64_t)value;
        }
        if (!ns_read_u8s(reader, "reach", NS_ANY_SIZE, &plan->idle.reach)) return false;
        if (!ns_require_u8s(reader, "reach", plan->idle.reach, 0, 2)) return false;
    }
    if (!ns_read_i64s(reader, "line_ps", NS_ANY_SIZE, &plan->line_ps)) return false;
    if (!ns_require_i64s(reader, "line_ps", plan->line_ps, 0, NS_MOST_COST_PS)) return false;
    if (!ns_read_u8s(reader, "word_role", NS_ANY_SIZE, &plan->words.role)) return false;
    if (!ns_require_u8s(reader, "word_role", plan->words.role, 0, 4)) return false;
    if (!ns_read_i32s(reader, "word_home", (int64_t)plan->words.role.count, &plan->words.home)) return false;
    if (!ns_require_i32s(reader, "word_home", plan->words.home, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_read_i32s(reader, "worker_home", (int64_t)plan->workers, &plan->words.worker_home)) return false;
    if (!ns_require_i32s(reader, "worker_home", plan->words.worker_home, 0, (int64_t)plan->nodes - 1)) return false;
    if (!ns_read_i64s(reader, "word_parties", (int64_t)plan->words.role.count, &plan->words.parties)) return false;
    if (!ns_require_i64s(reader, "word_parties", plan->words.parties, 1, NS_MOST_WORKERS)) return false;
    if (!ns_read_i64s(reader, "word_undo", (int64_t)plan->words.role.count, &plan->words.undo_ps)) return false;
    if (!ns_require_i64s(reader, "word_undo", plan->words.undo_ps, 0, NS_MOST_COST_PS)) return false;
    if (!ns_read_u8s(reader, "word_same", (int64_t)plan->words.role.count, &plan->words.same)) return false;
    if (!ns_require_u8s(reader, "word_same", plan->words.same, 0, 1)) return false;
    if (!ns_read_i64s(reader, "word_weight", NS_ANY_SIZE, &plan->words.weight)) return false;
    if (!ns_require_i64s(reader, "word_weight", plan->words.weight, 1, NS_MOST_BYTES)) return false;
    if (!ns_read_i64s(reader, "word_weight_ptr", (int64_t)plan->words.role.count + 1, &plan->words.weight_ptr)) return false;
    if (!ns_require_i64_pointer(reader, "word_weight_ptr", plan->words.weight_ptr, (int64_t)plan->words.weight.count)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "words_declared", 0, (int64_t)plan->words.role.count, &value)) return false;
        plan->words.declared = (uint32_t)value;
    }
    if (!ns_read_i32s(reader, "level_lock", NS_ANY_SIZE, &plan->words.level_lock)) return false;
    if (!ns_require_full(reader, "level_lock", plan->words.level_lock.count, (int64_t)plan->steal.steal_levels * (int64_t)plan->steal.queue_count)) return false;
    if (!ns_read_i32s(reader, "queue_lock", NS_ANY_SIZE, &plan->words.queue_lock)) return false;
    if (!ns_require_full(reader, "queue_lock", plan->words.queue_lock.count, (int64_t)plan->steal.queue_count)) return false;
    if (!ns_read_flag(reader, "looks_first", &plan->words.looks_first)) return false;
    {
        uint32_t value;
        if (!ns_read_choice(reader, "lock_kind", NS_LOCK_KIND_WORD, 8, &value)) return false;
        plan->words.kind = (enum ns_lock_kind)value;
    }
    {
        uint32_t value;
        if (!ns_read_choice(reader, "barrier_kind", NS_BARRIER_KIND_WORD, 4, &value)) return false;
        plan->words.barrier = (enum ns_barrier_kind)value;
    }
    if (!ns_read_flag(reader, "lock_fair", &plan->words.rules.fair)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "lock_batch", 1, NS_LONGEST_PS, &value)) return false;
        plan->words.rules.batch = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "spin_ps", 0, NS_LONGEST_PS, &value)) return false;
        plan->words.rules.spin_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "pause_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->words.rules.pause_ps = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "futex_ps", 0, NS_MOST_COST_PS, &value)) return false;
        plan->words.rules.futex_ps = (int64_t)value;
    }
    ns_i64s word_memory_ps_view;
    if (!ns_read_i64s(reader, "word_memory_ps", (int64_t)plan->nodes * (int64_t)plan->nodes, &word_memory_ps_view)) return false;
    if (!ns_require_i64s(reader, "word_memory_ps", word_memory_ps_view, 0, NS_MOST_COST_PS)) return false;
    if (!ns_require_countable(reader, "word_memory_ps", word_memory_ps_view.count)) return false;
    plan->words.transfers.memory_ps = word_memory_ps_view.at;
    if (!ns_read_flag(reader, "words_cached", &plan->words.transfers.cached)) return false;
    if (!ns_plan_require(reader, ! (int64_t)plan->words.role.count || ! (int64_t)plan->skipping, "word_role has words, with which nothing is skipped")) return false;
    if (!ns_plan_words_check(reader, plan, &plan->words)) return false;
    {
        uint32_t value;
        if (!ns_read_choice(reader, "join", NS_JOIN_KIND_WORD, 6, &value)) return false;
        plan->join = (enum ns_join_kind)value;
    }
    {
        uint32_t value;
        if (!ns_read_choice(reader, "producer", NS_PRODUCER_KIND_WORD, 3, &value)) return false;
        plan->maker = (enum ns_producer_kind)value;
    }
    if (!ns_read_flag(reader, "begins_released", &plan->begins_released)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "inline_resume_ppm", 0, NS_MILLION, &value)) return false;
        plan->inline_resume_ppm = (int64_t)value;
    }
    {
        int64_t value;
        if (!ns_read_integer(reader, "inline_above", -1, INT64_MAX, &value)) return false;
        plan->inline_above = (int64_t)value;
    }
    if (!ns_read_flag(reader, "own_dispatch", &plan->own_dispatch)) return false;
    if (!ns_read_flag(reader, "sees_marks_only", &plan->sees_marks_only)) return false;
    if (!ns_read_flag(reader, "one_queue_each", &plan->one_queue_each)) return false;
    {
        int64_t value;
        if (!ns_read_integer(reader, "room", 0, INT64_MAX, &value)) return false;
        plan->room = (int64_t)value;
    }
    if (!ns_read_flag(reader, "looks_at_data", &plan->looks_at_data)) return false;
    if ((int64_t)plan->looks_at_data) {
        if (!ns_read_i32s(reader, "object_home", NS_ANY_SIZE, &plan->objects.home)) return false;
        if (!ns_require_i32s(reader, "object_home", plan->objects.home, NS_OPEN_HOME, (int64_t)plan->nodes - 1)) return false;
        if (!ns_read_i64s(reader, "object_ptr", (int64_t)plan->graph.rows + 1, &plan->objects.ptr)) return false;
        if (!ns_require_i64_pointer(reader, "object_ptr", plan->objects.ptr, (int64_t)plan->objects.home.count)) return false;
        if (!ns_read_u8s(reader, "object_mode", (int64_t)plan->objects.home.count, &plan->objects.mode)) return false;
        if (!ns_require_u8s(reader, "object_mode", plan->objects.mode, 1, 3)) return false;
        if (!ns_read_i64s(reader, "object_count", (int64_t)plan->objects.home.count, &plan->objects.count)) return false;
        if (!ns_require_i64s(reader, "object_count", plan->objects.count, 0, NS_MOST_OBJECTS)) return false;
        if (!ns_read_i64s(reader, "object_bytes", (int64_t)plan->objects.home.count, &plan->objects.bytes)) return false;
        if (!ns_require_i64s(reader, "object_bytes", plan->objects.bytes, 0, NS_MOST_OBJECT_BYTES)) return false;
        if (!ns_read_i64s(reader, "object_access", (int64_t)plan->objects.home.count, &plan->objects.access)) return false;
        if (!ns_require_i64s(reader, "object_access", plan->objects.access, -1, INT64_MAX)) return false;
        {
            uint64_t count;
            if (!ns_read_count(reader, "item_objects", (int64_t)plan->families.count, &count)) return false;
            ns_item_objects *made = ns_plan_reader_take(reader, count, sizeof *made);
            if (!made) return false;
            plan->objects.families = (ns_item_objects_list){made, count};
            for (uint64_t i = 0; i < count; i++) {
                const size_t before = ns_plan_reader_enter(reader, "item_objects", i);
                if (!read_ns_item_objects(reader, plan, &made[i])) return false;
                ns_plan_reader_leave(reader, before);
            }
        }
        if (!ns_task_objects_check(reader, plan, &plan->objects)) return false;
    }
    if (!ns_plan_require(reader, ! (int64_t)plan->effects.coupled || (int64_t)plan->looks_at_accesses, "a coupled run looks at accesses")) return false;
    if (!ns_full_plan_check(reader, plan, plan)) return false;
    return true;
}
