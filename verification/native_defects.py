"""Defects in C and C++ that `verification/seed_defects.py --native` seeds, each with tests that have to catch it."""

from __future__ import annotations

from defect_table import Defect

LOCKS = "numasim/core/sync/locks.c"
BARRIERS = "numasim/core/sync/barriers.c"
OBJECTS = "numasim/core/sync/objects.c"
CACHES = "numasim/native/memory/caches.cpp"
PROGRESS = "numasim/native/sharing/progress.cpp"
RATE_GROUPS = "numasim/native/sharing/rate_groups.cpp"
FORESEEN = "numasim/native/idle/foreseen_probes.cpp"
LOCKED_ROUNDS = "numasim/native/idle/locked_rounds.cpp"
PAGES = "numasim/core/memory/page_map.c"
THIEF = "numasim/core/search/thief.h"
PROBES = "numasim/core/search/probes.h"
PLACING = "numasim/core/execution/placing.h"
EXECUTOR = "numasim/native/engine/executor.cpp"
THRESHOLDS = "numasim/core/policy/thresholds.h"
SEARCHES = "numasim/native/engine/thief.hpp"
STEPS = "numasim/core/execution/steps.c"
FLOWS = "numasim/native/memory/flows.hpp"
ROUNDS = "numasim/core/policy/round.h"
LIVE = "numasim/core/execution/live_subtrees.h"
QUEUES = "numasim/core/queues/queues.c"
CONTROLS = "numasim/native/control/task_controls.hpp"
MEASURES = "numasim/native/record/task_measures.hpp"

NATIVE_DEFECTS = (
    Defect(
        "tasks are counted over the program, not over the turn of their phase",
        "numasim/native/engine/dispatcher.cpp",
        "index = ns_task_number(&numbers_, run_.frames.id_of(task));",
        "index = static_cast<std::uint64_t>(run_.frames.id_of(task));\n"
        "        count = static_cast<std::uint64_t>(run_.plan.graph.tasks);",
        ("test_spellings.py",),
    ),
    Defect(
        "the roots of a serial phase are dealt as those of others",
        PLACING,
        "return phase->serial ? NS_DEAL_MASTER : phase->deal;",
        "return phase->deal;",
        ("test_spellings.py",),
    ),
    Defect(
        "a parked waiter of a mutex does not pay for its wake-up",
        LOCKS,
        "delay += rules->futex_ps + (wakes_remotely ? rules->wake_remote_ps : rules->wake_ps);",
        "delay += rules->futex_ps + (wakes_remotely ? 0 : 0);",
        ("test_locks.py",),
    ),
    Defect(
        "a ticket lock's waiters read nothing",
        LOCKS,
        "ns_saturate(transfer_ps(self, 0) + others / 2)",
        "ns_saturate(transfer_ps(self, 0) + others * 0)",
        ("test_locks.py",),
    ),
    Defect(
        "a cohort stays on its node one time too often",
        LOCKS,
        "(*run < batch || first_waiter(self, true) == self->count)",
        "(*run <= batch || first_waiter(self, true) == self->count)",
        ("test_locks.py",),
    ),
    Defect(
        "a lock is granted while another holds it",
        OBJECTS,
        "    if (lock->busy) return true;\n",
        "    if (lock->promised) return true;\n",
        ("test_locks.py",),
    ),
    Defect(
        "the master of a flag barrier does not read the flags",
        BARRIERS,
        "now = ns_sum(later(now, written), ns_line_move(transfers, line, master));",
        "now = later(now, written);",
        ("test_barriers.py",),
    ),
    Defect(
        "readers of a barrier's line take it from each other",
        BARRIERS,
        "        line->owner = writer;\n",
        "",
        ("test_barriers.py",),
    ),
    Defect(
        "a chunk is in a cache that has no room for its size",
        CACHES,
        "time_[domain] - copy.stamp + copy.bytes <= sizes_.llc_bytes[domain]",
        "time_[domain] - copy.stamp <= sizes_.llc_bytes[domain]",
        ("test_caches.py",),
    ),
    Defect(
        "a write leaves the copies of other domains where they are",
        CACHES,
        "            for (std::size_t domain = 0; domain < sizes_.domains; ++domain) chunk.copies[domain].bytes = 0;\n",
        "",
        ("test_caches.py",),
    ),
    Defect(
        "a dirty chunk that was read elsewhere stays dirty with its writer",
        CACHES,
        "other.bytes));\n        chunk.dirty = owner(place);\n",
        "other.bytes));\n",
        ("test_caches.py",),
    ),
    Defect(
        "a page is placed on node 0 instead of its first toucher's",
        PAGES,
        "room(self, wanted, pages) + 1",
        "room(self, wanted * 0, pages) + 1",
        ("test_memory.py",),
    ),
    Defect(
        "the last pages of a region count as a whole granule",
        PAGES,
        "return left < pages ? left : pages;",
        "return left < pages ? pages : pages;",
        ("test_pages.py", "test_memory.py"),
    ),
    Defect(
        "remote and local probes cost alike",
        PROBES,
        "ns_is_remote(plan, w, q) ? costs->probe_far_ps : costs->probe_near_ps",
        "ns_is_remote(plan, w, q) ? costs->probe_near_ps : costs->probe_near_ps",
        ("test_search.py",),
    ),
    Defect(
        "time that a probe still had to go counts although the phase is over",
        PROBES,
        "const int64_t cut_ps = left_ps < idle_ps ? left_ps : idle_ps;",
        "const int64_t cut_ps = left_ps < idle_ps ? 0 : 0;",
        ("test_phases.py",),
    ),
    Defect(
        "the back-off does not grow",
        THIEF,
        "ns_backoff_wait_ps(&s->plan->backoff, w->fails, probed)",
        "ns_backoff_wait_ps(&s->plan->backoff, 1, probed)",
        ("test_search.py",),
    ),
    Defect(
        "a lap begins a draw too late",
        PROBES,
        "        victims->drawn = *begin;",
        "        victims->drawn = *begin + 1;",
        ("test_laps.py",),
    ),
    Defect(
        "whole laps are counted once too often",
        "numasim/native/idle/polling.cpp",
        "const std::int64_t laps = (until_ps - poll_ps - 1) / lap_ps;",
        "const std::int64_t laps = (until_ps - poll_ps - 1) / lap_ps + 1;",
        ("test_laps.py",),
    ),
    Defect(
        "what is released beside a task without room is executed by the same worker",
        EXECUTOR,
        "        if (!w.outbox.empty()) hold_back(w);",
        "        if (false) hold_back(w);",
        ("test_full_queues.py",),
    ),
    Defect(
        "a probe that has its lock finds nothing any more",
        THIEF,
        "    const int64_t count = ns_found(s, w);\n    if (!count) ns_host_release",
        "    const int64_t count = 0 * ns_found(s, w);\n    if (!count) ns_host_release",
        ("test_search_locks.py",),
    ),
    Defect(
        "a join costs its line only",
        PLACING,
        "return plan->costs.join_ps + ns_line_ps(plan, w, spawner);",
        "return ns_line_ps(plan, w, spawner);",
        ("test_joins.py",),
    ),
    Defect(
        "a blocked join is woken as if it were near",
        PLACING,
        "return sleeper->node != w->node ? plan->costs.wake_remote_ps : plan->costs.wake_ps;",
        "return sleeper->node != w->node ? plan->costs.wake_ps : plan->costs.wake_ps;",
        ("test_joins.py",),
    ),
    Defect(
        "nobody can steal roots",
        PLACING,
        "return serial || kind == NS_ROW_IMPLICIT;",
        "return serial || kind == NS_ROW_IMPLICIT || true;",
        ("test_plain_dags.py",),
    ),
    Defect(
        "a released task is put into a queue by whoever should begin it",
        PLACING,
        "return plan->begins_released && is_free;",
        "return plan->begins_released && is_free && false;",
        ("test_plain_dags.py",),
    ),
    Defect(
        "a join opens with one child to go",
        EXECUTOR,
        "    if (--parent.pending != 0) return;\n",
        "    if (--parent.pending > 1) return;\n",
        ("test_joins.py",),
    ),
    Defect(
        "the longest chain ends where a child is spawned",
        "numasim/native/longest_chains.cpp",
        "if (code == WAIT) task.now_ps = std::max(task.now_ps, task.joined_ps);",
        "if (code == WAIT) task.now_ps = std::max(task.now_ps, task.now_ps);",
        ("test_run_bounds.py",),
    ),
    Defect(
        "what a flow that begins later does until then counts at the level of before",
        PROGRESS,
        "        flow.left += Wide{level - changed.level} * (flow.since_ps - now_ps);\n",
        "",
        ("test_flow_classes.py",),
    ),
    Defect(
        "a class that comes into another group is as far as that group",
        PROGRESS,
        "    moved.ahead += before.time - after.time;\n",
        "",
        ("test_flow_classes.py",),
    ),
    Defect(
        "a flow that begins later does not follow its class into another group",
        PROGRESS,
        "        flow.left += Wide{after.level - before.level} * (flow.since_ps - now_ps);\n",
        "",
        ("test_flow_classes.py",),
    ),
    Defect(
        "a group keeps what classes ask for that leave it",
        RATE_GROUPS,
        "    const std::int64_t sign = in ? 1 : -1;\n",
        "    const std::int64_t sign = in ? 1 : 0;\n",
        ("test_flow_classes.py",),
    ),
    Defect(
        "of flows that end in the same instant, that which began first comes first",
        PROGRESS,
        "[&](std::uint32_t worker) { first = std::min(first, worker); }",
        "[](std::uint32_t) {}",
        ("test_flow_classes.py",),
    ),
    Defect(
        "a class without scarce resources keeps its level",
        RATE_GROUPS,
        "        if (!groups_[group].made && groups_[group].size != 0) set_level(group, ONE);\n",
        "",
        ("test_flow_classes.py",),
    ),
    Defect(
        "the owner of a queue sleeps on when a task comes into it",
        FORESEEN,
        "    if (queues_[q].owner != NOBODY) wake(queues_[q].owner);\n",
        "",
        ("test_engines_agree.py", "test_foreseen_probes.py"),
    ),
    Defect(
        "a queue that a worker had an event for is left to nobody when the worker wakes",
        FORESEEN,
        "    left_.insert(left_.end(), sleeper.attends.begin(), sleeper.attends.end());\n",
        "",
        ("test_engines_agree.py", "test_foreseen_probes.py"),
    ),
    Defect(
        "draws of rounds that are not slept through are not taken back",
        FORESEEN,
        "    run_.queues.actor(w.id).victims.drawn -= sleeper.picks.size() - done * probes;\n",
        "",
        ("test_engines_agree.py", "test_foreseen_probes.py"),
    ),
    Defect(
        "an owner that has fewer than s tasks left withdraws no announcement",
        THRESHOLDS,
        "return bit && length != thresholds.low && (exact || length > thresholds.low);",
        "return bit && length != thresholds.low;",
        ("test_thresholds.py",),
    ),
    Defect(
        "a queue that its owner announces wakes no sleeper",
        SEARCHES,
        "{ thief_of(s).sleepers.marked(); }",
        "{ (void)s; }",
        ("test_foreseen_probes.py",),
    ),
    Defect(
        "what owners announce in steady production is forgotten",
        "numasim/native/shortcuts/steady_production.cpp",
        "steady.announces.push_back(ns_queues_room_to_announce(&run_.queues.contents(), q));",
        "steady.announces.push_back(-1);",
        ("test_steady_production.py",),
    ),
    Defect(
        "who goes through rounds apart from the clock notices no task",
        LOCKED_ROUNDS,
        "    for (const std::uint32_t index : notices_[q]) part(circles_[index]);\n",
        "    (void)q;\n",
        ("test_locked_rounds.py",),
    ),
    Defect(
        "who searches elsewhere is taken for one that waits for its poll",
        LOCKED_ROUNDS,
        "return uses_of_lock(circle) == elsewhere;",
        "return uses_of_lock(circle) >= 0;",
        ("test_locked_rounds.py",),
    ),
    Defect(
        "a round that was begun apart from the clock draws once more",
        LOCKED_ROUNDS,
        "    --actor.victims.drawn;\n",
        "",
        ("test_locked_rounds.py",),
    ),
    Defect(
        "the last phase of an inner loop ends an iteration",
        STEPS,
        "        if (!is_last_pass(self, loop)) return false;\n",
        "        if (self->loops->at[loop].end != self->phase + 1) return false;\n",
        ("test_iteration_control.py",),
    ),
    Defect(
        "loops are entered once for all",
        STEPS,
        "        self->next_loop = self->inner + 1;\n",
        "",
        ("test_looped_programs.py",),
    ),
    Defect(
        "noise is that of the first turn",
        FLOWS,
        "noise_seed_ = ns_turn_seed(seed_, turn);",
        "noise_seed_ = seed_ + 0 * turn;",
        ("test_looped_programs.py",),
    ),
    Defect(
        "a gate lets in one subtree too many",
        ROUNDS,
        "return view->live[unit] < plan->live_most &&",
        "return view->live[unit] <= plan->live_most &&",
        ("test_live_subtrees.py",),
    ),
    Defect(
        "unless means when",
        ROUNDS,
        "return off == ((level->flags & NS_FLAG_UNLESS) != 0);",
        "return !off;",
        ("test_task_tiers.py",),
    ),
    Defect(
        "a level is left out in the last of its iterations",
        ROUNDS,
        "view->iteration > level->last_iteration",
        "view->iteration >= level->last_iteration",
        ("test_task_tiers.py",),
    ),
    Defect(
        "a subtree is over when its root is",
        LIVE,
        "if (root == NS_UNKNOWN || --self->left[root]) return;",
        "if (root == NS_UNKNOWN || root != row) return;",
        ("test_live_subtrees.py",),
    ),
    Defect(
        "all subtrees are live in the unit of the first worker",
        LIVE,
        "self->unit[row] = self->gate[worker];",
        "self->unit[row] = self->gate[0 * worker];",
        ("test_live_subtrees.py",),
    ),
    Defect(
        "what goes on behind the spawn of a child is placed by its own tier",
        CONTROLS,
        "frames_.has_started(frame) ? frames_.last(frame).arg : frame.row",
        "frame.row",
        ("test_task_tiers.py",),
    ),
    Defect(
        "a task runs once for each of its copies",
        QUEUES,
        "    shared->claimed = true;\n",
        "",
        ("test_joins.py",),
    ),
    Defect(
        "a spawn order adapts to one theft too many",
        PLACING,
        "actor->robbed - w->robbed_before < rule->steals",
        "actor->robbed - w->robbed_before <= rule->steals",
        ("test_joins.py",),
    ),
    Defect(
        "who leapfrogs steals from everybody",
        "numasim/core/policy/round.c",
        "return actor->leaps && level->anchor != NS_ANCHOR_THIEF;",
        "return actor->leaps && level->anchor == NS_NONE8;",
        ("test_joins.py",),
    ),
    Defect(
        "what tasks were measured to take is never set back",
        MEASURES,
        "        std::fill(ps_.begin(), ps_.end(), 0);\n",
        "",
        ("test_iteration_control.py",),
    ),
)
