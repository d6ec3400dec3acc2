// Waiting for synchronisation objects: locks, atomic operations, conditions, barriers (model 5;
// engine/reference/sync/sync_objects.py): what workers do where core/sync says who goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/memory_system.hpp"
#include "state/run.hpp"
#include "sync/objects.h"

namespace numasim {

static_assert(+LOCK_WORD == +NS_SYNC_LOCK && +ATOMIC_WORD == +NS_SYNC_ATOMIC && +CONDITION_WORD == +NS_SYNC_CONDITION &&
              +BARRIER_WORD == +NS_SYNC_BARRIER);

// What an actor goes on with when it has a lock.
enum class Then : std::uint32_t { PROCEED, ATOMIC, SEARCH, ENQUEUE, PRODUCE };

class SyncObjects {
public:
    SyncObjects(Run& run, MemorySystem& memory) : run_(run), memory_(memory), sync_(make()) {}
    SyncObjects(const SyncObjects&) = delete;
    SyncObjects& operator=(const SyncObjects&) = delete;

    // Execute an op on a synchronisation object, after the worker has paid what it owes; false: it waits.
    [[gnu::noinline]] bool use(Worker& w, std::uint8_t code, std::uint32_t word);

    // Ask for a lock. What the actor does when it has it is `then`, which `grant` returns.
    bool is_free(std::uint32_t word) const { return ns_sync_is_free(sync_.get(), word); }
    void request(std::uint32_t word, std::uint32_t actor, Then then);
    ns_waiter grant(std::uint32_t word);
    void release(std::uint32_t word, std::uint32_t actor);
    // Between `detach` and `attach`, whoever has asked for the server of a lock grants it, and nobody else uses it.
    ns_server* server(std::uint32_t word, ns_line** line) { return ns_sync_server(sync_.get(), word, line); }
    void detach(std::uint32_t word) { ns_sync_detach(sync_.get(), word); }
    void attach(std::uint32_t word) { ns_sync_attach(sync_.get(), word); }
    // The worker has got what it was waiting for without rest.
    void stop_spinning(Worker& w);

    // A barrier opens.
    void open(std::uint32_t word);

    // Nobody searches any more: take the locks of the search from whoever has them or waits for them.
    void free_search_locks();

    std::vector<ns_sync_counts> counts() const;

private:
    ns_sync* make();
    bool request_and_wait(Worker& w, std::uint32_t word, Then then);
    void spin(Worker& w);
    void expect(std::uint32_t actor, Rank rank, std::int64_t due_ps);
    void end_lock_wait(std::uint32_t actor, std::int64_t since_ps);
    bool arrive(Worker& w, std::uint32_t word);
    bool await(Worker& w, std::uint32_t word);
    bool signal(Worker& w, std::uint32_t word, std::int64_t permits);

    struct Destroy {
        void operator()(ns_sync* sync) const { ns_sync_destroy(sync); }
    };

    Run& run_;
    MemorySystem& memory_;
    const std::unique_ptr<ns_sync, Destroy> sync_;
};

}  // namespace numasim
