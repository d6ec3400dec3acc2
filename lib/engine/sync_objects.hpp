// Synchronisation objects: locks, atomic words, conditions and barriers as servers of the clock, and the workers that
// wait for them (model 5; engine/reference/sync/sync_objects.py).
//
// An actor is a worker or the producer. It waits for one object at a time and has no event of its own meanwhile. Each
// object has a slot of the clock: for GRANT of a lock or an atomic word, for RELEASE of a barrier.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

// What an actor goes on with when it has a lock.
enum class Then : std::uint32_t { PROCEED, ATOMIC, SEARCH, ENQUEUE, PRODUCE };

// What one object has counted: a row of the table of words.
struct SyncCounts {
    std::int64_t acquisitions = 0, local = 0, remote = 0, wait_ps = 0, hold_ps = 0;
};

class SyncObjects {
public:
    SyncObjects(Run& run, MemorySystem& memory);
    ~SyncObjects();
    SyncObjects(const SyncObjects&) = delete;
    SyncObjects& operator=(const SyncObjects&) = delete;

    // Execute an op on a synchronisation object, after the worker has paid what it owes. False: the worker waits.
    [[gnu::noinline]] bool use(Worker& w, std::uint8_t code, std::uint32_t word);

    // Ask for a lock or an atomic word. `grant` returns `then` with the actor that has it now.
    void request(std::uint32_t word, std::uint32_t actor, Then then);
    ns_waiter grant(std::uint32_t word);
    void release(std::uint32_t word, std::uint32_t actor);
    // Whether no actor has the lock or waits for it.
    bool is_free(std::uint32_t word) const { return !objects_[word].server.busy; }
    // The worker has got what it was waiting for while it kept its core busy.
    void stop_spinning(Worker& w);

    // The server of a lock, and the cache line of the lock. Between `detach` and `attach` its grants are not on the
    // clock: the caller makes them, and no other component uses the lock.
    ns_server* server(std::uint32_t word) { return &objects_[word].server; }
    ns_line* line(std::uint32_t word) { return &objects_[word].line; }
    void detach(std::uint32_t word) { run_.clock.clear(run_.clock.word(word)); }
    void attach(std::uint32_t word) {
        if (objects_[word].server.promised) schedule_grant(word);
    }

    // A barrier opens.
    void open(std::uint32_t word);

    // A phase ends: take the locks of the search from the workers that have them or wait for them.
    void free_search_locks();

    std::vector<SyncCounts> counts() const;

private:
    // Parties that meet at a barrier.
    struct Meeting {
        std::int64_t opens_ps = 0;
        std::vector<ns_arrival> arrivals;
    };
    struct Barrier {
        std::deque<Meeting> complete;  // in the order in which they open
        Meeting gathering;
        std::int64_t episode = 0;
        std::vector<ns_line> of_worker, of_node;  // [workers], [nodes]
    };
    // Sleepers are linked by `after_`.
    struct Condition {
        std::int64_t permits = 0;  // how many more actors need not wait
        std::uint32_t first = NS_NOBODY, last = NS_NOBODY;
    };
    struct Object {
        ns_line line;
        ns_server server{};       // of a lock or an atomic word
        std::uint32_t state = 0;  // number of a barrier, or of a condition
    };

    void schedule(std::uint32_t word, Rank rank, std::int64_t due_ps);
    void schedule_grant(std::uint32_t word);
    bool request_and_wait(Worker& w, std::uint32_t word, Then then);
    void spin(Worker& w);
    void expect(std::uint32_t actor, Rank rank, std::int64_t due_ps);
    void end_holding(std::uint32_t word);
    void end_lock_wait(std::uint32_t actor, std::int64_t since_ps);
    void add_barrier(Object& object);
    bool arrive(Worker& w, std::uint32_t word);
    void complete(std::uint32_t word);
    bool await(Worker& w, std::uint32_t word);
    bool signal(Worker& w, std::uint32_t word, std::int64_t permits);
    ns_lock_kind kind_of(std::uint32_t word) const {  // actors get an atomic word in the order of their arrival
        return words_.role[word] == ATOMIC_WORD ? NS_LOCK_MCS : words_.kind;
    }

    Run& run_;
    MemorySystem& memory_;
    const ns_plan_words& words_;
    std::vector<Object> objects_;  // [words]
    std::vector<Barrier> barriers_;
    std::vector<Condition> conditions_;
    std::vector<std::uint32_t> after_;  // [actors] the actor that went to sleep next
    std::vector<ns_arrival> leaders_;   // [workers] scratch
};

}  // namespace numasim
