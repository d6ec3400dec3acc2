/* The callbacks of the OpenMP tools interface (OMPT). Each callback puts an event into the log of the thread. The time
 * of the event is read first: the work of the running task ends where the callback begins. With turns (turns.h), one
 * thread of a team, the threads of a parallel region, works at a time; callbacks hold threads until they get their
 * turns. */
#include "event_log.h"
#include "ompt.h"
#include "turns.h"

static uint32_t flags_of(uint32_t flags) {
    return (flags & OMPT_TASK_UNTIED ? NS_TASK_UNTIED : 0u) | (flags & OMPT_TASK_FINAL ? NS_TASK_FINAL : 0u) |
           (flags & OMPT_TASK_TASKWAIT ? NS_TASK_TASKWAIT : 0u) | (flags & OMPT_TASK_TARGET ? NS_TASK_TARGET : 0u);
}

/* Put an event if turns have just been given up, because the threads of the team wait for each other. */
static void note_together(ns_event_log *log, bool together) {
    if (together) ns_put(log, ns_ticks(), NS_EVENT_TOGETHER, 0);
}

static void take_turn(ns_event_log *log) {
    if (log && log->team) note_together(log, ns_turn_take(log->team, log->index));
}

static void on_create(ompt_data_t *parent, const ompt_frame_t *frame, ompt_data_t *task, int flags, int dependent,
                      const void *place) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log || (uint32_t)flags & (OMPT_TASK_INITIAL | OMPT_TASK_IMPLICIT)) return;
    ns_log_open();
    task->value = ns_new_number(log);
    log->in_place = ns_in_place;
    ns_in_place = false;
    ns_put(log, now, NS_EVENT_CREATE, flags_of((uint32_t)flags));
    ns_put_operand(log, (uintptr_t)(ns_place ? ns_place : place));
    ns_place = NULL;
    if (log->team && !((uint32_t)flags & OMPT_TASK_TASKWAIT)) ns_turn_task_made(log->team, log->index);
}

/* Note that `task` begins and interrupts the task `before`, which goes to the log's stack. */
static void begin_during(ns_event_log *log, uint64_t now, const ompt_data_t *before, uint32_t status,
                         const ompt_data_t *task) {
    if (log->depth == NS_STACK) log->depth = 0;
    log->stack[log->depth++] = before->value;
    if (task->value == log->first + log->numbers) {
        ns_put(log, now, NS_EVENT_BEGIN_NEW, log->in_place);
    } else {
        ns_put(log, now, NS_EVENT_BEGIN, status);
        ns_put_operand(log, task->value);
    }
}

static void on_schedule(ompt_data_t *before, int status, ompt_data_t *task) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log) return;
    const uint64_t next = task ? task->value : 0;
    if (status == ompt_task_switch && before && next) {
        begin_during(log, now, before, (uint32_t)status, task);
    } else if (status == ompt_task_complete && log->depth && log->stack[log->depth - 1] == next) {
        log->depth--;
        ns_put(log, now, NS_EVENT_RETURN, 0);
    } else {
        log->depth = 0;
        ns_put(log, now, NS_EVENT_SWITCH, (uint32_t)status);
        ns_put_operand(log, next);
    }
    const bool done = status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_early_fulfill ||
                      status == ompt_task_late_fulfill;
    if (done && log->team) note_together(log, ns_turn_task_done(log->team, log->index));
}

static bool is_barrier(int kind) {
    return kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup &&
           kind != ompt_sync_region_reduction;
}

static void on_sync(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *place) {
    if (is_barrier(kind) && endpoint != ompt_scope_begin) {
        if (ns_log && ns_log->leaves) return;
        take_turn(ns_log);
    }
    ns_event_log *log = ns_note(ns_ticks(), NS_EVENT_SYNC, (uint32_t)(kind << 2 | endpoint));
    if (!log || !is_barrier(kind) || endpoint != ompt_scope_begin) return;
    log->knows_team = false;
    log->leaves = kind == ompt_sync_region_barrier_implicit_parallel && log->index;
    if (log->team) note_together(log, ns_turn_end(log->team, log->index));
}

static void on_sync_wait(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *place) {
    if (kind == ompt_sync_region_taskgroup) ns_note(ns_ticks(), NS_EVENT_SYNC_WAIT, (uint32_t)(kind << 2 | endpoint));
}

static void on_parallel(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned asked, int flags,
                        const void *place) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log) return;
    ns_log_open();
    region->ptr = ns_team_begin(ns_new_number(log), asked, log->team, log->index);
    if (!region->ptr) return;
    ns_put(log, now, NS_EVENT_PARALLEL, 0);
    ns_put_operands(log, asked, (uintptr_t)place);
    ns_note_touched(log);
}

static void on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *place) {
    const uint64_t now = ns_ticks();
    ns_event_log *log = ns_log_of_thread();
    if (!log || !region->ptr) return;
    ns_put(log, now, NS_EVENT_PARALLEL_END, 0);
    log->team = ns_team_end(region->ptr, &log->index);
}

static void on_implicit(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned team, unsigned number,
                        int flags) {
    ns_event_log *log = ns_log_of_thread();
    if (!log) return;
    const uint32_t initial = ((uint32_t)flags & OMPT_TASK_INITIAL) != 0;
    if (endpoint != ompt_scope_begin && log->leaves && !initial) return;
    if (endpoint != ompt_scope_begin) {
        ns_put(log, ns_ticks(), NS_EVENT_IMPLICIT_END, initial);
        return;
    }
    ns_team *mine = region && !initial ? region->ptr : NULL;
    if (mine) {
        ns_team_set_size(mine, team);
        log->team = mine;
        log->index = number;
        log->knows_team = log->leaves = false;
        take_turn(log);
    }
    task->value = ns_new_number(log);
    ns_put(log, ns_ticks(), NS_EVENT_IMPLICIT, initial);
    ns_put_operands(log, mine ? ns_team_number(mine) : 0, number, team);
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *each, int count) {
    const uint64_t now = ns_ticks();
    enum { MOST = 255 };
    for (int done = 0; done < count; done += MOST) {
        ns_event_log *log = ns_log_of_thread();
        if (!log) return;
        const int now_put = count - done < MOST ? count - done : MOST;
        ns_put(log, now, NS_EVENT_DEPENDENCES, (uint32_t)now_put);
        for (int i = 0; i < now_put; i++) {
            const ompt_dependence_t *one = &each[done + i];
            ns_put_operand(log, one->variable.value << 6 | ((uint64_t)one->dependence_type & 63u));
        }
    }
}

static void on_work(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, uint64_t count, const void *place) {
    ns_event_log *log = ns_note(ns_ticks(), NS_EVENT_WORK, (uint32_t)(kind << 2 | endpoint));
    if (log) ns_put_operand(log, (uintptr_t)place);
}

static void on_dispatch(ompt_data_t *region, ompt_data_t *task, int kind, ompt_data_t instance) {
    ns_event_log *log = kind == ompt_dispatch_ws_loop_chunk ? ns_note(ns_ticks(), NS_EVENT_CHUNK, 0) : NULL;
    if (log) ns_put_operand(log, ((const ompt_dispatch_chunk_t *)instance.ptr)->iterations);
}

static void on_masked(int endpoint, ompt_data_t *region, ompt_data_t *task, const void *place) {
    ns_note(ns_ticks(), NS_EVENT_MASKED, (uint32_t)endpoint);
}

/* Note that a thread begins to wait for a lock, or for an ordered region; `on_mutex` is called after the wait. Before
 * an ordered region a thread waits for iterations of other threads, which have their turns meanwhile. */
static void on_acquire(int kind, unsigned hint, unsigned how, uint64_t which, const void *place) {
    if (kind != ompt_mutex_lock && kind != ompt_mutex_critical && kind != ompt_mutex_ordered) return;
    ns_event_log *log = ns_note(ns_ticks(), NS_EVENT_ACQUIRE, (uint32_t)kind);
    if (kind == ompt_mutex_ordered && log && log->team) ns_turn_pause(log->team, log->index);
}

static void on_mutex(int kind, uint64_t which, const void *place) {
    if (kind == ompt_mutex_ordered) take_turn(ns_log);
    ns_note(ns_ticks(), NS_EVENT_MUTEX, (uint32_t)kind);
}

static void on_cancel(void) { ns_note(ns_ticks(), NS_EVENT_CANCEL, 0); }

static void on_target(void) { ns_note(ns_ticks(), NS_EVENT_TARGET, 0); }

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool) {
    const ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    const struct {
        int event;
        ompt_callback_t callback;
    } all[] = {
        {ompt_callback_task_create, (ompt_callback_t)on_create},
        {ompt_callback_task_schedule, (ompt_callback_t)on_schedule},
        {ompt_callback_sync_region, (ompt_callback_t)on_sync},
        {ompt_callback_sync_region_wait, (ompt_callback_t)on_sync_wait},
        {ompt_callback_parallel_begin, (ompt_callback_t)on_parallel},
        {ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end},
        {ompt_callback_implicit_task, (ompt_callback_t)on_implicit},
        {ompt_callback_dependences, (ompt_callback_t)on_dependences},
        {ompt_callback_work, (ompt_callback_t)on_work},
        {ompt_callback_masked, (ompt_callback_t)on_masked},
        {ompt_callback_mutex_acquire, (ompt_callback_t)on_acquire},
        {ompt_callback_mutex_acquired, (ompt_callback_t)on_mutex},
        {ompt_callback_cancel, (ompt_callback_t)on_cancel},
        {ompt_callback_target, (ompt_callback_t)on_target},
        {ompt_callback_target_emi, (ompt_callback_t)on_target},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) set(all[i].event, all[i].callback);
    /* Runtimes that do not report the chunks of loops report the ends of regions in another way, too. */
    if (set(ompt_callback_dispatch, (ompt_callback_t)on_dispatch) >= ompt_set_sometimes) ns_turns_begin();
    return 1;
}

static void finalize(ompt_data_t *tool) { ns_log_finish(); }

/* The entry point of OMPT, which the runtime looks up by this name. Return NULL if the process does not record. */
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start_tool_result_t tool = {initialize, finalize, {0}};
    return ns_log_is_on() ? &tool : NULL;
}
