// Where a new task goes: the queue that the dispatch rules name (model 4.5).
#pragma once

#include <cstdint>
#include <vector>

#include "execution/placing.h"
#include "memory/memory_system.hpp"
#include "state/run.hpp"

namespace numasim {

class Dispatcher {
public:
    Dispatcher(Run& run, MemorySystem& memory) : run_(run), pages_(memory.pages()) {}

    // The queue for a task that a worker spawns; negative where every queue that the rules name is full. What deciding
    // takes the worker is owed.
    std::int32_t choose(Worker& w, Task task) {
        if (w.boundless_own != NS_UNKNOWN) return w.boundless_own;
        const std::int32_t q = place(w.id, task);
        if (q != w.own || looked_) w.owed_ps += ns_dispatch_ps(&run_.plan, &w, q, looked_);
        return q;
    }

    // The same for the worker, or the producer, at `position`, which owes nothing for it.
    [[gnu::noinline]] std::int32_t place(std::uint32_t position, Task task);

    bool looked() const { return looked_; }  // the last decision asked where the task's objects are

private:
    [[gnu::noinline]] void describe(Task task, ns_new_task& described);

    Run& run_;
    ns_pages& pages_;
    bool looked_ = false;
};

}  // namespace numasim
