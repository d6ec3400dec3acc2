#include "read_words.hpp"

#include <algorithm>

#include "bounds.hpp"

namespace numasim {

namespace {

ns_lock_rules read_lock_rules(Reader& reader, const Costs& costs) {
    return {
        .fair = reader.flag("lock_fair"),
        .batch = reader.integer("lock_batch", 1, LONGEST_PS),
        .spin_ps = reader.integer("spin_ps", 0, LONGEST_PS),
        .pause_ps = reader.integer("pause_ps", 0, MOST_COST_PS),
        .futex_ps = reader.integer("futex_ps", 0, MOST_COST_PS),
        .wake_ps = costs.wake_ps,
        .wake_remote_ps = costs.wake_remote_ps,
    };
}

void check_words(const Words& words, const Plan& plan) {
    require_within(words.role, LOCK_WORD, BARRIER_WORD, "word_role");
    require_within(words.home, 0, plan.nodes - 1, "word_home");
    require_within(words.worker_home, 0, plan.nodes - 1, "worker_home");
    require_within(words.parties, 1, MOST_WORKERS, "word_parties");
    for (const auto& locks : {words.level_lock, words.queue_lock}) {
        for (const std::int32_t lock : locks) {
            const bool fits = lock == -1 || (lock >= static_cast<std::int64_t>(words.declared) &&
                                             lock < size_of(words.role) && words.role[lock] == LOCK_WORD);
            require(fits, "level_lock or queue_lock has a word that is no lock of the search");
        }
    }
}

}  // namespace

void check_uses(const Graph& graph, U8s role) {
    constexpr Role ROLES[] = {LOCK_WORD,      LOCK_WORD,      ATOMIC_WORD,   BARRIER_WORD,
                              CONDITION_WORD, CONDITION_WORD, CONDITION_WORD};
    std::vector<std::uint32_t> held;
    for (std::size_t row = 0; row < static_cast<std::size_t>(graph.rows); ++row) {
        for (auto op = static_cast<std::size_t>(graph.op_ptr[row]);
             op < static_cast<std::size_t>(graph.op_ptr[row + 1]); ++op) {
            if (graph.op_code[op] < LOCK) continue;
            const std::uint32_t word = graph.op_arg[op];
            require(role[word] == ROLES[graph.op_code[op] - LOCK], "op_arg has a word of another role");
            const auto found = std::find(held.begin(), held.end(), word);
            if (graph.op_code[op] == LOCK) {
                require(found == held.end(), "op_code takes a lock twice");
                held.push_back(word);
            } else if (graph.op_code[op] == UNLOCK) {
                require(found != held.end(), "op_code releases a lock that the task does not hold");
                held.erase(found);
            }
        }
        require(held.empty(), "op_code leaves a lock held");
    }
}

Words read_words(Reader& reader, U8s role, const Plan& plan) {
    Words words{};
    words.role = role;
    if (role.empty()) return words;
    words.home = reader.array<std::int32_t>("word_home", size_of(role));
    words.worker_home = reader.array<std::int32_t>("worker_home", plan.workers);
    words.parties = reader.array<std::int64_t>("word_parties", size_of(role));
    words.declared = static_cast<std::uint32_t>(reader.integer("words_declared", 0, size_of(role)));
    const std::int64_t queues = plan.steal.queue_count;
    words.level_lock = reader.array<std::int32_t>("level_lock", ANY);
    words.queue_lock = reader.array<std::int32_t>("queue_lock", ANY);
    require(words.level_lock.empty() || size_of(words.level_lock) == queues * plan.steal.steal_levels,
            "level_lock does not have a row for each level");
    require(words.queue_lock.empty() || size_of(words.queue_lock) == queues,
            "queue_lock does not have an entry for each queue");
    words.kind = reader.choice<ns_lock_kind>("lock_kind", {"tas", "ttas", "ticket", "mcs", "mutex", "cohort"});
    words.barrier = reader.choice<ns_barrier_kind>("barrier_kind", {"central", "flag", "tree", "per-domain"});
    words.rules = read_lock_rules(reader, plan.costs);
    const I64s memory = reader.array<std::int64_t>("word_memory_ps", std::int64_t{plan.nodes} * plan.nodes);
    require_within(memory, 0, MOST_COST_PS, "word_memory_ps");
    words.transfers = {plan.line_ps.data(), memory.data(), plan.node.data(),
                       plan.workers,        plan.nodes,    reader.flag("words_cached")};
    check_words(words, plan);
    return words;
}

}  // namespace numasim
