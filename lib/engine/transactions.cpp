#include "transactions.hpp"

#include <algorithm>
#include <new>

#include "policy/draws.h"
#include "sync/lines.h"

namespace numasim {

Transactions::Transactions(Run& run, MemorySystem& memory)
    : run_(run),
      memory_(memory),
      turn_seed_(run.seed),
      objects_{},
      attempts_(run.plan.workers),
      node_conflicts_(std::size_t{run.plan.nodes} * run.plan.nodes, 0) {
    if (ns_transactions_create(&objects_, &run.plan)) return;
    ns_transactions_destroy(&objects_);
    throw std::bad_alloc();
}

void Transactions::start_turn(std::int64_t turn) {
    turn_seed_ = ns_turn_seed(run_.seed, static_cast<std::uint64_t>(turn));
}

std::vector<std::int64_t> Transactions::object_conflicts() const {
    std::vector<std::int64_t> conflicts(objects_.count);
    for (std::size_t at = 0; at < conflicts.size(); ++at) conflicts[at] = objects_.objects[at].conflicts;
    return conflicts;
}

bool Transactions::use(Worker& w, Frame& frame, const Instruction& use) {
    switch (use.op) {
        case BEGIN: begin(w, frame); return true;
        case COMMIT: return commit(w, frame, use.arg);
        default: return open(w, frame, use);
    }
}

void Transactions::begin(const Worker& w, const Frame& frame) {
    attempts_[w.id] = {frame.at, 0, frame.path_ps, run_.clock.now_ps(), w.counters};
}

// Open an object that is drawn.
bool Transactions::open(Worker& w, Frame& frame, const Instruction& use) {
    const std::uint64_t base = ns_base(turn_seed_, NS_DRAW_CONFLICT, static_cast<std::uint64_t>(frame.id));
    const std::uint64_t op = run_.frames.op_number(frame, frame.at - 1);
    const std::uint64_t attempt = run_.plan.words.same[use.arg] != 0 ? 0 : attempts_[w.id].number;
    const std::uint64_t number = ns_draw(base, attempt << 32 | op);
    const std::uint32_t object = ns_transactions_drawn(&objects_, use.arg, number);
    const ns_conflict conflict = ns_transactions_conflict(&objects_, object, w.id);
    if (conflict.other != NS_NOBODY) return abort(w, frame, use.arg, conflict);
    if (!ns_transactions_open(&objects_, object, w.id, use.op == STORE, run_.clock.now_ps())) throw std::bad_alloc();
    return true;
}

bool Transactions::commit(Worker& w, Frame& frame, std::uint32_t memory) {
    const ns_conflict conflict = ns_transactions_validate(&objects_, w.id);
    if (conflict.other != NS_NOBODY) return abort(w, frame, memory, conflict);
    if (run_.recorder.keeps_log()) log(w);
    ns_transactions_close(&objects_, w.id, true);
    ++w.counters.commits;
    return true;
}

void Transactions::log(const Worker& w) {
    const ns_opened_list& opened = objects_.opened[w.id];
    const auto words = static_cast<std::int64_t>(run_.plan.words.role.size());
    for (std::uint32_t at = 0; at < opened.count; ++at) {
        const std::int64_t object = opened.at[at].object;
        const std::int64_t word = opened.at[at].writes ? words + object : -1 - object;
        run_.recorder.log(Held{word, w.id, opened.at[at].since_ps, run_.clock.now_ps()});
    }
}

// Waste the attempt, which has met another worker at an object, pay for that, and begin the next one.
bool Transactions::abort(Worker& w, Frame& frame, std::uint32_t memory, const ns_conflict& conflict) {
    Attempt& attempt = attempts_[w.id];
    run_.detail(ABORT, w.id, frame.id, conflict.object);
    ++objects_.objects[conflict.object].conflicts;
    const auto node = static_cast<std::size_t>(w.node),
               other = static_cast<std::size_t>(run_.team[conflict.other].node);
    ++node_conflicts_[node * run_.plan.nodes + other];
    ns_transactions_close(&objects_, w.id, false);
    w.counters = attempt.before;
    w.counters.wasted_ps += run_.clock.now_ps() - attempt.began_ps;
    ++w.counters.aborts;
    frame.at = attempt.at;
    frame.path_ps = attempt.path_ps;
    const std::int64_t restart_ps = memory_.helpers() != nullptr ? memory_.helpers()->restart_ps(w) : 0;
    const std::int64_t pay_ps = run_.plan.words.undo_ps[memory] + restart_ps;
    run_.clock.schedule_overhead(w, PUT, std::max(run_.plan.costs.least_probe_ps, pay_ps));
    ++attempt.number;
    attempt.began_ps = w.step.due_ps();
    attempt.before = w.counters;
    return false;
}

}  // namespace numasim
