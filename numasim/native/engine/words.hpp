// The shared words of a run: locks, atomic words, conditions, barriers (numasim/engine/locks.py, words.py,
// barriers.py).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "sync/barriers.h"
#include "sync/locks.h"
#include "engine/queues.hpp"

namespace numasim {

constexpr std::int32_t NO_LOCK = -1;

// What an actor goes on with when it has a lock.
enum class Then : std::uint32_t { PROCEED, ATOMIC, SEARCH, PUT, PRODUCE };

// The server of one lock or word of atomic operations.
struct Server {
    std::vector<ns_waiter> waiters;  // in the order of their arrival
    ns_waiter next{};                // gets it, where it is promised
    std::int64_t run = 0;            // grants in a row within one node
    std::int64_t granted_ps = 0;
    std::int64_t acquisitions = 0, wait_ps = 0, hold_ps = 0;
    std::uint32_t holder = NS_NOBODY;
    bool busy = false;      // promised or held
    bool promised = false;  // its grant is on the clock

    // Let a waiter in behind all that came before it.
    void enqueue(const ns_waiter& waiter) {
        std::size_t at = waiters.size();
        while (at > 0 && waiters[at - 1].since_ps == waiter.since_ps && waiters[at - 1].actor > waiter.actor) --at;
        waiters.insert(waiters.begin() + static_cast<std::ptrdiff_t>(at), waiter);
    }
};

struct Condition {
    std::int64_t permits = 0;  // how many more need not wait
    Ring<std::uint32_t> sleepers;
};

// All parties have come to a barrier, which opens at `opens_ps`.
struct Meeting {
    std::int64_t opens_ps = 0;
    std::vector<ns_arrival> parties;
};

struct Barrier {
    std::vector<ns_arrival> arrivals;  // fewer than its parties
    std::vector<Meeting> meetings;     // in the order in which they open
    std::vector<ns_line> of_worker, of_node;
    std::int64_t episode = 0;
};

// One shared word, of any role.
struct SharedWord {
    ns_line line{};
    Server server;
    Condition condition;
    Barrier barrier;
};

// What one word has counted: a row of the table of shared words.
struct WordCounts {
    std::int64_t acquisitions, local, remote, wait_ps, hold_ps;
};

inline std::vector<SharedWord> shared_words(const Plan& plan) {
    std::vector<SharedWord> words(plan.words.role.size());
    for (std::size_t i = 0; i < words.size(); ++i) words[i].line = {plan.words.home[i], NS_NOBODY, 0, 0};
    return words;
}

}  // namespace numasim
