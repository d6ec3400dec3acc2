// The simulator's native engine, compiled so that it calls bodies, behind a C interface. No exception leaves this file.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "engine.hpp"

extern "C" {
#include "numasim/runtime.h"
#include "virtual/virtual_engine.h"
}

using namespace numasim;

namespace {

// Thrown when a function of the pool has returned an error, which ends the run.
struct Ended {
    int error;
};

class PoolBodies : public Bodies {
public:
    PoolBodies(const ns_plan_file &file, const ns_virtual_host &host) : file_(file), host_(host) {}

    void come_to(std::uint32_t worker, std::uint32_t row, std::uint32_t at, Instruction) override {
        const auto op = static_cast<std::uint32_t>(Programs::op_of(at, row));
        if (const int error = host_.come_to(host_.pool, worker, row, op)) throw Ended{error};
        at_op_ = op;
    }

    std::int64_t compute_ps() const override {
        return host_.compute_ps != nullptr ? host_.compute_ps[at_op_] : AS_PLANNED;
    }

    BodyTime start(ns_pages &pages, std::uint32_t segment, ns_toucher toucher, std::int64_t compute_ps) override {
        const ns_segment_time time = ns_plan_file_start(&file_, &pages, segment, toucher, compute_ps);
        return {time.total_ps, time.local_ps, time.owed_ps};
    }

private:
    const ns_plan_file &file_;
    const ns_virtual_host &host_;
    std::uint32_t at_op_ = 0;
};

class PoolBoundary : public Boundary {
public:
    explicit PoolBoundary(const ns_virtual_host &host) : host_(host) {}

    void begin(Engine &engine) override { follow(engine, nullptr); }

    // The controller makes no decision after the last iteration.
    void end_iteration(Engine &engine) override {
        if (engine.parts().source.has_step()) follow(engine, engine.told().data());
    }

private:
    void follow(Engine &engine, const std::int64_t *told) {
        ns_virtual_decision decision{};
        if (const int error = host_.decide(host_.pool, told, &decision)) throw Ended{error};
        const ns_control &control = *decision.in_force;
        if (decision.policy >= 0) engine.parts().memory.choose_policy(static_cast<std::uint64_t>(decision.policy));
        engine.parts().run.profile_ps = decision.profile_ps;
        TaskControls &controls = engine.parts().run.controls;
        controls.set_tiers({control.tier.at, control.tier.count});
        controls.set_labels({control.label.at, control.label.count});
        controls.set_switches(control.switches);
    }

    const ns_virtual_host &host_;
};

// Return the plan without `skipping`: the engine then simulates every task, and calls every body.
Plan without_leaps(Plan plan) {
    plan.skipping = false;
    return plan;
}

}  // namespace

struct ns_virtual_engine {
    ns_virtual_engine(const ns_plan_file &file, std::uint64_t seed, const ns_virtual_host &given)
        : host(given),
          plan(without_leaps(file.plan)),
          prepared(plan),
          bodies(file, host),
          boundary(host),
          engine(prepared, seed, nullptr, nullptr, [] {}, false, given.decide != nullptr ? &boundary : nullptr) {
        engine.parts().run.bodies = &bodies;
    }

    const ns_virtual_host host;
    const Plan plan;
    const Prepared prepared;
    PoolBodies bodies;
    PoolBoundary boundary;
    Engine engine;
    bool begun = false;
};

namespace {

int refused(const ns_virtual_host &host, int error, const char *sentence) {
    std::snprintf(host.problem, host.problem_bytes, "%s", sentence);
    return error;
}

// Call `work`. Return the error with which it ends, or 0.
template <typename Work>
int guarded(const ns_virtual_host &host, Work &&work) {
    try {
        work();
        return NS_OK;
    } catch (const Ended &ended) {
        return ended.error;
    } catch (const Deadlock &found) {
        std::snprintf(host.problem, host.problem_bytes, "%lld tasks are left at %lld ps and %s",
                      static_cast<long long>(found.tasks), static_cast<long long>(found.time_ps),
                      found.passed ? "thieves pass them to and fro without beginning one" : "no worker can run them");
        return NS_ERROR_DEADLOCK;
    } catch (const std::bad_alloc &) {
        return refused(host, NS_ERROR_MEMORY, "there is no memory for the state of the engine");
    } catch (const std::exception &error) {
        return refused(host, NS_ERROR_FIELD, error.what());
    }
}

}  // namespace

extern "C" {

int ns_virtual_engine_create(ns_virtual_engine **self, const ns_plan_file *file, std::uint64_t seed,
                             ns_virtual_host host) {
    return guarded(host, [&] { *self = new ns_virtual_engine(*file, seed, host); });
}

void ns_virtual_engine_destroy(ns_virtual_engine *self) { delete self; }

std::int64_t ns_virtual_engine_phase(const ns_virtual_engine *self) {
    const WorkSource &source = self->engine.parts().source;
    return source.has_step() ? static_cast<std::int64_t>(source.phase_number()) : -1;
}

int ns_virtual_engine_run(ns_virtual_engine *self) {
    return guarded(self->host, [self] {
        if (!self->begun) self->engine.begin();
        self->begun = true;
        self->engine.run_phase();
    });
}

bool ns_virtual_engine_report(ns_virtual_engine *self, ns_report *report) {
    Components &parts = self->engine.parts();
    Run &run = parts.run;
    parts.memory.sum_traffic();
    const MemorySystem &memory = parts.memory;
    const Traffic *const traffic = memory.traffic();
    const std::size_t pairs = std::size_t{report->nodes} * report->nodes;
    report->makespan_ps = run.clock.now_ps();
    report->trace_hash = run.recorder.steps_hash();
    report->page_faults = memory.pages().placed + (traffic != nullptr ? traffic->placed : 0);
    std::copy_n(run.steals.attempts, pairs, report->node_attempts);
    std::copy_n(run.steals.successes, pairs, report->node_success);
    std::copy_n(memory.pages().node_bytes, pairs, report->node_bytes);
    for (const Worker &w : run.team) {
        static_assert(sizeof w.counters == NS_COUNTERS * sizeof(std::int64_t), "a row of ns_report.counters");
        std::memcpy(report->counters + std::size_t{w.id} * NS_COUNTERS, &w.counters, sizeof w.counters);
        report->node[w.id] = w.node;
    }
    std::size_t word = 0;
    for (const SyncCounts &row : parts.sync.counts()) {
        static_assert(sizeof row == NS_SYNC_COUNTS * sizeof(std::int64_t), "a row of ns_report.words");
        std::memcpy(report->words + word++ * NS_SYNC_COUNTS, &row, sizeof row);
    }
    return report->makespan_ps <= INT64_MAX / std::int64_t{report->workers};
}

}  // extern "C"
