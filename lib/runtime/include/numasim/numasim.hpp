/* The task runtime for C++17: bodies are lambdas, results are values, and a join throws the exceptions of tasks.
 *
 *     long fib(long n) {
 *         if (n < 2) return n;
 *         long a, b;
 *         ns::spawn([&] { a = fib(n - 1); });
 *         b = ns::call([&] { return fib(n - 2); });
 *         ns::sync();
 *         return a + b;
 *     }
 *
 *     ns::pool pool;
 *     const long result = pool.run([] { return fib(30); });
 *
 * A body is a callable that a pool runs as a task. Bodies call the functions below. The children of a body end before
 * the body ends, with or without a call of sync(). A lambda whose captures can be copied byte by byte, such as
 * references and numbers, is copied into the task. Any other lambda is moved to memory of its own.
 *
 * Exceptions: if a child throws, the next sync() of its parent body throws the exception; without a sync(), the parent
 * body itself throws it at its end. If several children throw, the first exception is thrown. run() throws the
 * exception of the body that it runs. An exception does not stop siblings. If children use locals of a body, and the
 * body may throw between a spawn and the sync(), the body declares an ns::scope behind these locals: the scope joins
 * the children before the locals end. Some strategies resume tasks on other threads (work-first spawns, joins by
 * continuation). With such a strategy a handler (`catch`) must not call functions of namespace ns.
 *
 * Errors: the constructor of a pool, run() and team() throw an ns::error. Its code is a code of numasim/runtime.h. If a
 * run ends with an error, a task that did not run has no result, and asking for this result throws an ns::error, too.
 * The destructor of a pool that is in use does nothing, for example if a task calls exit().
 *
 * All functions are built on numasim/runtime.h. ns::enter() gives a body access to the functions of numasim/runtime.h
 * for the running task. */
#ifndef NUMASIM_HPP
#define NUMASIM_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "numasim/runtime.h"

namespace ns {

/* An error of the library. `code` is a value of enum ns_error. */
class error : public std::runtime_error {
public:
    error(int code_, const std::string &sentence) : std::runtime_error(sentence), code(code_) {}
    const int code;
};

namespace detail {

/* The first exception that any of several tasks throws. It is read after all these tasks have ended. */
class failure {
public:
    void note(std::exception_ptr thrown) noexcept {
        if (!is_noted_.exchange(true, std::memory_order_relaxed)) thrown_ = std::move(thrown);
    }
    std::exception_ptr take() noexcept {
        if (!is_noted_.load(std::memory_order_relaxed)) return nullptr; /* relaxed: a join comes before this load */
        is_noted_.store(false, std::memory_order_relaxed);
        return std::exchange(thrown_, nullptr);
    }
    void rethrow() {
        if (std::exception_ptr thrown = take()) std::rethrow_exception(std::move(thrown));
    }

private:
    std::atomic<bool> is_noted_{false};
    std::exception_ptr thrown_;
};

class frame;
inline thread_local frame *running = nullptr;

/* Never inlined: a task may resume on another thread, and compilers may keep the address of a thread_local variable. */
[[gnu::noinline]] inline frame *running_frame() noexcept { return running; }
[[gnu::noinline]] inline void set_running_frame(frame *to) noexcept { running = to; }

/* A running body: its task, and the first exception of its children. */
class frame {
public:
    explicit frame(ns_task *task) noexcept : task_(task), below_(running_frame()) { set_running_frame(this); }
    ~frame() { set_running_frame(below_); } /* right for nested tasks; a resumed task sets its own frame */
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;

    static frame &here() {
        frame *found = running_frame();
        if (!found) throw error(NS_ERROR_PROGRAM, "no task runs here: call this in a body that ns::pool::run runs");
        return *found;
    }

    ns_task *task() const noexcept { return task_; }
    failure &children() noexcept { return children_; }

    /* Call the library. The call may run other tasks before it returns. */
    template <class Call>
    void enter(Call &&call) {
        call(task_);
        set_running_frame(this);
    }

    void note_spawn() noexcept { has_children_ = true; }

    void join() noexcept {
        if (!has_children_) return;
        has_children_ = false;
        enter([](ns_task *task) { ns_join(task); });
    }

    void sync() {
        join();
        children_.rethrow();
    }

    /* Run a body, and wait for its children. Return the exception of the body or of a child, or null. */
    template <class Body>
    std::exception_ptr run(Body &&body) noexcept {
        std::exception_ptr thrown;
        try {
            body();
        } catch (...) {
            thrown = std::current_exception();
        }
        join();
        std::exception_ptr below = children_.take();
        return thrown ? thrown : below;
    }

private:
    ns_task *task_;
    frame *below_;
    bool has_children_ = false;
    failure children_;
};

/* The body of a task, and the place where the exception of the body is stored. */
template <class Body>
struct closure {
    failure *to;
    Body body;

    void run(ns_task *self) noexcept {
        frame mine(self);
        if (std::exception_ptr thrown = mine.run(body)) to->note(std::move(thrown));
    }
    static void run_copy(ns_task *self, void *arguments) { static_cast<closure *>(arguments)->run(self); }
    static void run_owned(ns_task *self, void *arguments) {
        const std::unique_ptr<closure> owned(*static_cast<closure **>(arguments));
        owned->run(self);
    }
};

/* Call start(body, arguments, bytes), which spawns a task that runs `body`, and stores its exception at `to`. */
template <class Body, class Start>
void hand_over(failure *to, Body &&body, Start &&start) {
    using given = closure<std::decay_t<Body>>;
    constexpr bool is_copied = std::is_trivially_copyable_v<given> && alignof(given) <= alignof(std::max_align_t);
    if constexpr (is_copied) {
        given copied{to, std::forward<Body>(body)};
        start(&given::run_copy, &copied, sizeof copied);
    } else {
        given *owned = new given{to, std::forward<Body>(body)};
        start(&given::run_owned, &owned, sizeof owned);
    }
}

/* Spawn a child with this body: start(task, body, arguments, bytes) spawns the child of the running task. */
template <class Body, class Start>
void spawn_by(Body &&body, Start &&start) {
    frame &mine = frame::here();
    mine.note_spawn();
    hand_over(&mine.children(), std::forward<Body>(body), [&](ns_body *run, const void *given, std::size_t bytes) {
        mine.enter([&](ns_task *task) { start(task, run, given, bytes); });
    });
}

/* The storage for the result of a body: no value for void, else an optional value. */
template <class Result>
struct outcome {
    std::optional<Result> value;
    template <class Body>
    void put(Body &body) {
        value.emplace(body());
    }
    Result take() {
        if (!value) throw error(NS_ERROR_PROGRAM, "the task has not run: the run ends with an error");
        return std::move(*value);
    }
};
template <>
struct outcome<void> {
    template <class Body>
    void put(Body &body) {
        body();
    }
    void take() {}
};

template <class Body>
using result_of = std::invoke_result_t<Body &>;

}  // namespace detail

/* ---- children ---------------------------------------------------------------------------------------------------- */

/* Call functions of numasim/runtime.h and typed tasks for the running task: ns::enter([&](ns_task *self) { ... }). The
 * lambda must not call functions of the namespace ns. */
template <class Call>
void enter(Call &&call) {
    detail::frame::here().enter(std::forward<Call>(call));
}

/* Return the worker that runs the task, the number of workers, and the NUMA node of that worker. */
inline std::uint32_t worker() { return ns_task_worker(detail::frame::here().task()); }
inline std::uint32_t workers() { return ns_task_workers(detail::frame::here().task()); }
inline std::uint32_t node() { return ns_task_node(detail::frame::here().task()); }

/* Spawn a child that runs body(), on this or another worker. */
template <class Body>
void spawn(Body &&body) {
    detail::spawn_by(std::forward<Body>(body), ns_spawn);
}

/* Return a dependence: the declaration that a child uses an address (see ns_spawn_after). */
inline ns_dependence in(const void *address) { return {address, NS_DIRECTION_IN, nullptr}; }
inline ns_dependence out(const void *address) { return {address, NS_DIRECTION_OUT, nullptr}; }
inline ns_dependence inout(const void *address) { return {address, NS_DIRECTION_INOUT, nullptr}; }

/* Spawn a child that begins when the siblings have ended on which the child depends:
 * ns::spawn_after({ns::in(&a), ns::out(&b)}, [&] { b = f(a); }); */
template <class Body>
void spawn_after(std::initializer_list<ns_dependence> dependences, Body &&body) {
    const auto count = static_cast<std::uint32_t>(dependences.size());
    detail::spawn_by(std::forward<Body>(body), [&](ns_task *task, ns_body *run, const void *given, std::size_t bytes) {
        ns_spawn_after(task, run, given, bytes, dependences.begin(), count);
    });
}

/* Wait until all children have ended. Throws the first exception of a child. */
inline void sync() { detail::frame::here().sync(); }

/* Join the children of the running body at the end of the enclosing C++ scope, also after an exception. */
class scope {
public:
    scope() : mine_(detail::frame::here()) {}
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { mine_.join(); }

private:
    detail::frame &mine_;
};

/* Run body() at once, with children and joins of its own. Return the result of body(), or throw its exception. */
template <class Body>
detail::result_of<Body> call(Body &&body) {
    detail::outcome<detail::result_of<Body>> result;
    detail::failure thrown;
    auto put = [&] { result.put(body); };
    detail::closure<decltype(put) &> given{&thrown, put};
    detail::frame::here().enter([&](ns_task *task) { ns_call(task, &decltype(given)::run_copy, &given); });
    thrown.rethrow();
    return result.take();
}

/* ---- futures ----------------------------------------------------------------------------------------------------- */

/* The result of a single child. A future cannot be moved. Its destructor waits for the child. */
template <class Result>
class future {
public:
    template <class Body>
    explicit future(Body &&body) {
        detail::frame &mine = detail::frame::here();
        auto put = [this, kept = std::forward<Body>(body)]() mutable { result_.put(kept); };
        detail::hand_over(&thrown_, std::move(put), [&](ns_body *run, const void *given, std::size_t bytes) {
            mine.enter([&](ns_task *task) { ns_future_spawn(task, &state_, run, given, bytes); });
        });
    }
    future(const future &) = delete;
    future &operator=(const future &) = delete;
    ~future() { wait(); }

    /* Wait until the child has ended, and execute other tasks meanwhile. */
    void wait() {
        if (!std::exchange(is_awaited_, true))
            detail::frame::here().enter([&](ns_task *task) { ns_future_get(task, &state_); });
    }

    /* Return the result of the child, or throw the exception of the child. To be called once. */
    Result get() {
        wait();
        thrown_.rethrow();
        return result_.take();
    }

private:
    ns_future state_{};
    bool is_awaited_ = false;
    detail::failure thrown_;
    detail::outcome<Result> result_;
};

/* Spawn body() as a child with a future: auto answer = ns::async([&] { return f(x); }); */
template <class Body>
future<detail::result_of<std::decay_t<Body>>> async(Body &&body) {
    return future<detail::result_of<std::decay_t<Body>>>(std::forward<Body>(body));
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* Run body(i), or body(first, last), over [begin, end) in pieces of at most `grain` indices, in parallel. */
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, Body &&body) {
    struct loop {
        std::remove_reference_t<Body> *body;
        detail::failure thrown;

        void run(std::int64_t first, std::int64_t last) {
            if constexpr (std::is_invocable_v<Body &, std::int64_t, std::int64_t>) {
                (*body)(first, last);
            } else {
                for (std::int64_t at = first; at < last; at++) (*body)(at);
            }
        }
        static void piece(ns_task *task, void *arguments, std::int64_t first, std::int64_t last) {
            loop *whole = static_cast<loop *>(arguments);
            detail::frame mine(task);
            if (std::exception_ptr thrown = mine.run([&] { whole->run(first, last); })) whole->thrown.note(thrown);
        }
    } whole{std::addressof(body), {}};
    detail::frame::here().enter([&](ns_task *task) { ns_parallel_for(task, begin, end, grain, &loop::piece, &whole); });
    whole.thrown.rethrow();
}

namespace detail {

template <class Value, class Map, class Combine>
Value reduce_piece(std::int64_t first, std::int64_t last, Map &map, Combine &combine) {
    if constexpr (std::is_invocable_v<Map &, std::int64_t, std::int64_t>) {
        return map(first, last);
    } else {
        Value value = map(first);
        for (std::int64_t at = first + 1; at < last; at++) value = combine(std::move(value), map(at));
        return value;
    }
}

template <class Value, class Map, class Combine>
Value reduce_halves(std::int64_t first, std::int64_t last, std::int64_t grain, Map &map, Combine &combine) {
    if (last - first <= grain) return reduce_piece<Value>(first, last, map, combine);
    const std::int64_t middle = first + (last - first) / 2;
    outcome<Value> right;
    const scope joined;
    spawn([&, middle] { right.value.emplace(reduce_halves<Value>(middle, last, grain, map, combine)); });
    Value left = call([&] { return reduce_halves<Value>(first, middle, grain, map, combine); });
    sync();
    return combine(std::move(left), right.take());
}

}  // namespace detail

/* Return `initial` combined with the values map(i) of all indices, or with the values map(first, last) of all pieces.
 * The range is halved until a piece has at most `grain` indices. The values of the two halves of a range are combined,
 * the left value first. So the result is the same on every run with any number of workers, even if combine() rounds. */
template <class Value, class Map, class Combine>
Value parallel_reduce(std::int64_t begin, std::int64_t end, std::int64_t grain, Value initial, Map &&map,
                      Combine &&combine) {
    if (begin >= end) return initial;
    const std::int64_t most = grain > 0 ? grain : 1;
    Value value = call([&] { return detail::reduce_halves<Value>(begin, end, most, map, combine); });
    return combine(std::move(initial), std::move(value));
}

/* ---- pools ------------------------------------------------------------------------------------------------------- */

/* A pool of workers, with the options of numasim/runtime.h. The constructors throw ns::error if they fail. */
class pool {
public:
    /* Make a pool of `workers` pinned threads, or of as many threads as there are hardware threads if `workers` is 0.
     * Workers choose victims at random. */
    explicit pool(std::uint32_t workers = 0) : pool(native(workers)) {}
    explicit pool(const ns_pool_options &options) {
        const int found = ns_pool_create(&made_, &options);
        if (!found) return;
        const error problem(found, made_ ? ns_pool_problem(made_) : ns_error_sentence(found));
        ns_pool_destroy(made_);
        throw problem;
    }
    pool(pool &&other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
    pool &operator=(pool &&other) noexcept {
        std::swap(made_, other.made_);
        return *this;
    }
    ~pool() { ns_pool_destroy(made_); }

    /* Run body() as a task, with all its descendants. Return the result of body(), or throw its exception. */
    template <class Body>
    detail::result_of<Body> run(Body &&body) {
        detail::outcome<detail::result_of<Body>> result;
        start(&ns_pool_run, [&] { result.put(body); });
        return result.take();
    }

    /* Run body() once on every worker. */
    template <class Body>
    void team(Body &&body) {
        start(&ns_pool_team, [&] { body(); });
    }

    /* Return the pool for calls of numasim/runtime.h. */
    ns_pool *get() const noexcept { return made_; }

private:
    static ns_pool_options native(std::uint32_t workers) {
        ns_pool_options options{};
        options.mode = NS_MODE_NATIVE;
        options.workers = workers;
        return options;
    }

    template <class Body>
    void start(int (*how)(ns_pool *, ns_body *, const void *, std::size_t), Body body) {
        detail::failure thrown;
        detail::closure<Body &> given{&thrown, body};
        auto *place = &given;
        detail::frame *const outside = detail::running_frame();
        const int found = how(made_, &run_at<Body>, &place, sizeof place);
        detail::set_running_frame(outside); /* some modes run tasks on the calling thread */
        if (found) throw error(found, found == NS_ERROR_CALLER ? ns_error_sentence(found) : ns_pool_problem(made_));
        thrown.rethrow();
    }
    template <class Body>
    static void run_at(ns_task *self, void *arguments) {
        (*static_cast<detail::closure<Body &> **>(arguments))->run(self);
    }

    ns_pool *made_ = nullptr;
};

}  // namespace ns

#endif
