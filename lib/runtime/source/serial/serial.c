/* Pools of the serial mode: opening, closing, running and reporting. */
#include "serial/serial.h"

#include <stdlib.h>

#include "platform/ticks.h"

/* Bytes of stack. Tasks nest as deeply as the program recurses. Only touched pages take memory. */
static const size_t RUN_STACK_BYTES = (size_t)256 << 20, TEAM_STACK_BYTES = (size_t)8 << 20;

static void run_part(void *argument) {
    serial_part *self = argument;
    serial_pool *pool = (serial_pool *)(void *)self->worker.pool;
    serial_task outside = {.task = {.worker = &self->worker}, .part = self};
    outside.task.whole = &outside.task;
    if (!pool->team) self->tasks++;
    ns_serial_run_copy(&outside, self->root, pool->pool.options.order == NS_ORDER_STOLEN, self->order);
    self->need = NEED_NO_MORE;
    ns_serial_pass_on(pool, self);
}

static int know_objects(serial_pool *self) {
    const uint32_t count = self->pool.word_count;
    int64_t *acquisitions = realloc(self->acquisitions, ((size_t)count + 1) * sizeof *acquisitions);
    if (acquisitions) self->acquisitions = acquisitions;
    free(self->words);
    self->words = calloc((size_t)count + 1, sizeof *self->words);
    if (!acquisitions || !self->words) return NS_ERROR_MEMORY;
    for (uint32_t at = self->words_known; at < count; at++) acquisitions[at] = 0;
    self->words_known = count;
    return NS_OK;
}

static int start_parts(serial_pool *self, const ns_work_order *order, uint32_t parts) {
    const uint32_t root = self->recording ? ns_recorder_phase(&self->recorder, parts, self->team) : 0;
    const size_t stack_bytes = self->team ? TEAM_STACK_BYTES : RUN_STACK_BYTES;
    for (uint32_t id = 0; id < parts; id++) {
        serial_part *made = &self->parts[id];
        made->order = order;
        made->root = root + id;
        made->need = NEED_NOTHING;
        const int error = ns_fiber_create(&made->fiber, stack_bytes, run_part, made);
        if (error) return ns_pool_fail(&self->pool, error, "there is no memory for the stack of part %u of a team", id);
    }
    return NS_OK;
}

static void stop_parts(serial_pool *self) {
    for (uint32_t id = 0; id < self->pool.workers; id++) {
        ns_fiber_destroy(self->parts[id].fiber);
        self->parts[id].fiber = NULL;
        self->parts[id].deferred.count = 0; /* an aborted run may have left some tasks */
    }
    for (uint32_t word = 0; word < self->words_known; word++) {
        self->acquisitions[word] += self->words[word].acquisitions;
    }
}

/* Write the recorded graph, unless a run was aborted. */
static int write_graph(serial_pool *self) {
    if (!self->recording) return self->error;
    if (self->error) self->recorder.error = self->error;
    return ns_recorder_write(&self->recorder, &self->pool, self->pool.options.record);
}

static int serial_run(ns_pool *pool, const ns_work_order *order, bool team) {
    serial_pool *self = (serial_pool *)(void *)pool;
    self->team = team;
    self->error = know_objects(self);
    if (!self->error) self->error = start_parts(self, order, team ? pool->workers : 1);
    if (!self->error) {
        const int64_t begin_ps = ns_monotonic_ps();
        ns_fiber_adopt_again(self->caller);
        ns_fiber_switch(self->caller, self->parts[0].fiber);
        self->took_ps += ns_monotonic_ps() - begin_ps;
    }
    stop_parts(self);
    return write_graph(self);
}

/* Fill the report. The makespan is the work of all tasks if this work is known, else the time of all runs. */
static int serial_report(ns_pool *pool, ns_report *report) {
    const serial_pool *self = (const serial_pool *)(void *)pool;
    const int error = ns_report_create(report, pool->workers, 1, self->words_known);
    if (error) return error;
    int64_t work_ps = 0;
    for (uint32_t id = 0; id < pool->workers; id++) {
        report->counters[(size_t)id * NS_COUNTERS + NS_TASKS] = self->parts[id].tasks;
        report->counters[(size_t)id * NS_COUNTERS + NS_WORK_LOCAL_PS] = self->parts[id].work_ps;
        work_ps += self->parts[id].work_ps;
    }
    for (uint32_t word = 0; word < self->words_known; word++) {
        report->words[(size_t)word * NS_SYNC_COUNTS] = self->acquisitions[word];
    }
    report->makespan_ps = pool->options.costs == NS_COSTS_MODEL || self->recording ? work_ps : self->took_ps;
    return NS_OK;
}

static void serial_close(ns_pool *pool) {
    serial_pool *self = (serial_pool *)(void *)pool;
    ns_recorder_destroy(&self->recorder);
    ns_fiber_destroy(self->caller);
    free(self->words);
    free(self->acquisitions);
    for (uint32_t id = 0; self->parts && id < self->pool.workers; id++) {
        free(self->parts[id].deferred.task);
        free(self->parts[id].deferred.bytes);
    }
    free(self->parts);
    free(self);
}

/* Open a pool. A plan is not needed, since a serial run makes no decisions. */
static int serial_open(ns_pool **pool, const ns_pool_options *options, ns_fields *plan) {
    const uint32_t workers = options->workers ? options->workers : 1;
    if (options->record && options->order != NS_ORDER_SPAWNED) return NS_ERROR_OPTION;
    serial_pool *self = calloc(1, sizeof *self);
    if (!self) return NS_ERROR_MEMORY;
    self->pool = (ns_pool){.mode = &ns_serial_mode, .tasks = &ns_serial_calls, .options = *options, .workers = workers};
    self->recording = options->record != NULL;
    ns_recorder_create(&self->recorder);
    self->parts = calloc(workers, sizeof *self->parts);
    const int error = self->parts ? ns_fiber_adopt(&self->caller) : NS_ERROR_MEMORY;
    if (error) {
        serial_close(&self->pool);
        return error;
    }
    for (uint32_t id = 0; id < workers; id++) self->parts[id].worker = (ns_worker){.pool = &self->pool, .id = id};
    if (self->recording && options->costs == NS_COSTS_MEASURED) self->clock_cost_ps = ns_cpu_clock_cost_ps();
    ns_fields_destroy(plan);
    *pool = &self->pool;
    return NS_OK;
}

const ns_pool_operations ns_serial_mode = {
    .open = serial_open,
    .close = serial_close,
    .run = serial_run,
    .report = serial_report,
};
