/* Checks what numasim.hpp promises: the results, exceptions and captures of lambdas arrive, whether a lambda is
 * spawned, called, a future, a piece of a loop or the body of a run; dependences and typed tasks work; wrong calls are
 * errors. */
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numasim/numasim.hpp>
#include <string>
#include <vector>

namespace {

std::atomic<int> wrong{0};

void require(bool holds, const char *sentence) {
    if (!holds && !wrong++) std::puts(sentence);
}

struct planned : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class Body>
std::string thrown_by(Body &&body) {
    try {
        body();
    } catch (const planned &problem) {
        return problem.what();
    }
    return "nothing";
}

long fib(long n) {
    if (n < 2) return n;
    long a = 0;
    ns::spawn([&a, n] { a = fib(n - 1); });
    const long b = ns::call([n] { return fib(n - 2); });
    ns::sync();
    return a + b;
}

void check_captures() {
    std::array<long, 20> many{};
    for (long at = 0; at < 20; at++) many[std::size_t(at)] = at;
    auto shared = std::make_shared<long>(1);
    std::string text(100, 'a'), told;
    long sum = 0;
    {
        auto single = std::make_unique<long>(41);
        ns::spawn([many, &sum] { /* captured by copy, and too long for a lane */
                                 for (long each : many) sum += each;
        });
        ns::spawn([shared, text, &told] { told = text + std::to_string(*shared); });
        ns::spawn([single = std::move(single)]() mutable { require(++*single == 42, "what is moved arrives"); });
    }
    ns::sync();
    require(sum == 190, "what is copied byte by byte arrives");
    require(told == std::string(100, 'a') + "1", "what has a copy constructor arrives");
    require(shared.use_count() == 1, "captures are destroyed when the task has ended");
}

void check_exceptions() {
    std::atomic<int> ran{0};
    const auto three = [&] {
        for (int child = 0; child < 3; child++) {
            ns::spawn([&ran, child] {
                ran++;
                if (child == 1) throw planned("a child");
            });
        }
    };
    require(thrown_by([&] { three(), ns::sync(); }) == "a child" && ran == 3, "sync throws what a child has thrown");
    require(thrown_by([] { ns::sync(); }) == "nothing", "and throws it once");
    require(thrown_by([&] { ns::call(three); }) == "a child" && ran == 6, "so does a part that has not joined it");
    ns::spawn([&] { three(); });
    require(thrown_by([] { ns::sync(); }) == "a child" && ran == 9, "what a grandchild throws arrives");
    require(thrown_by([&] { ns::call([&] { three(), throw planned("a body"); }); }) == "a body" && ran == 12,
            "what a body throws comes before what its children do, and they have ended");
    std::string kept = "kept";
    const auto guarded = [&] {
        std::vector<int> local(100, 7);
        const ns::scope joined;
        ns::spawn([&] {
            for (int each : local) ran += each;
        });
        throw planned(kept);
    };
    require(thrown_by([&] { ns::call(guarded); }) == "kept" && ran == 712, "a scope joins before locals are gone");
}

void check_futures() {
    auto text = ns::async([word = std::string("answer")] { return word + " 42"; });
    auto number = ns::async([] { return fib(10); });
    auto nothing = ns::async([] {});
    auto failing = ns::async([]() -> int { throw planned("a future"); });
    std::atomic<bool> ran{false};
    {
        auto forgotten = ns::async([&ran] { ran = true; });
    }
    require(ran, "a future that goes away has waited for its child");
    require(number.get() == 55 && text.get() == "answer 42", "a future has what its child returns");
    nothing.get();
    require(thrown_by([&] { failing.get(); }) == "a future", "a future throws what its child throws");
}

double number(std::int64_t at) { return (at % 3 ? 1e-9 : 1e9) / double(at * at % 97 + 1); }

double halves(std::int64_t first, std::int64_t last, std::int64_t grain) {
    if (last - first > grain) {
        const std::int64_t middle = first + (last - first) / 2;
        return halves(first, middle, grain) + halves(middle, last, grain);
    }
    double sum = number(first);
    for (std::int64_t at = first + 1; at < last; at++) sum += number(at);
    return sum;
}

void check_loops() {
    std::vector<int> marks(1000);
    ns::parallel_for(0, 1000, 7, [&](std::int64_t at) { marks[std::size_t(at)]++; });
    ns::parallel_for(0, 1000, 64, [&](std::int64_t first, std::int64_t last) {
        require(last - first <= 64, "pieces are no longer than the grain");
        for (std::int64_t at = first; at < last; at++) ns::spawn([&, at] { marks[std::size_t(at)]++; });
    });
    require(marks == std::vector<int>(1000, 2), "a loop runs every index once, and its pieces join what they spawn");
    const auto throws = [] { ns::parallel_for(0, 100, 1, [](std::int64_t) { throw planned("a piece"); }); };
    require(thrown_by(throws) == "a piece", "a loop throws what a piece throws");

    const auto plus = [](double left, double right) { return left + right; };
    require(ns::parallel_reduce(-500, 1500, 33, 0.25, number, plus) == 0.25 + halves(-500, 1500, 33),
            "a reduction is that of the tree of halves, to the last bit");
    const auto text = [](std::int64_t first, std::int64_t last) { return std::string(std::size_t(last - first), 'x'); };
    const auto joined =
        ns::parallel_reduce(0, 10, 3, std::string("<"), text,
                            [](std::string left, const std::string &right) { return left + right + '|'; });
    require(joined == "<xxxxx|xxxxx|||", "values of any type are combined in order");
    const auto fails = [&] {
        return ns::parallel_reduce(0, 100, 1, 0.0, [](std::int64_t) -> double { throw planned("a value"); }, plus);
    };
    require(thrown_by(fails) == "a value", "a reduction throws what a piece throws");
}

void check_dependences() {
    std::string told;
    int a = 0, b = 0;
    ns::spawn_after({ns::out(&a)}, [&] { a = 6; });
    ns::spawn_after({ns::out(&b)}, [&] { b = 7; });
    ns::spawn_after({ns::in(&a), ns::in(&b), ns::out(&told)}, [&] { told = std::to_string(a * b); });
    ns::spawn_after({ns::inout(&a)}, [&] { a = 0; });
    ns::sync();
    require(told == "42" && a == 0, "children wait for those that they depend on");
}

/* Typed tasks work in C++ as in C. */
NS_TASK(long, scaled, long, factor, const double *, number) {
    (void)self;
    return factor * static_cast<long>(*number);
}

void check_typed_tasks() {
    const double seven = 7.5;
    long spawned = 0, called = 0, beside = 0;
    ns::spawn([&beside] { beside = 1; });
    ns::enter([&](ns_task *self) {
        scaled_spawn(self, &spawned, 6, &seven);
        called = scaled_call(self, 3, &seven);
        scaled_join(self);
    });
    ns::sync();
    require(spawned == 42 && called == 21 && beside == 1, "typed tasks run beside lambdas");
}

void check_all() {
    for (int round = 0; round < 5; round++) {
        check_captures();
        check_exceptions();
        check_futures();
        check_loops();
        check_dependences();
        check_typed_tasks();
    }
    require(fib(15) == 610, "children and calls have their results");
    require(ns::worker() < ns::workers(), "a worker has a number");
}

void check_pool(ns::pool &pool) {
    pool.run(check_all);
    require(pool.run([] { return std::make_unique<long>(fib(12)); }) != nullptr, "a run returns what its body does");
    require(thrown_by([&] { pool.run([] { throw planned("a run"); }); }) == "a run",
            "a run throws what its body throws");
    std::atomic<unsigned> parts{0}, all{0};
    pool.team([&] { parts++, all = ns::workers(); });
    require(parts == all, "a team has a part for each worker");
    ns::pool other(1);
    std::swap(pool, other);
    require(pool.run([] { return ns::workers(); }) == 1, "pools can be moved");
    std::swap(pool, other);
}

template <class Body>
int code_of(Body &&body) {
    try {
        body();
    } catch (const ns::error &problem) {
        return problem.code;
    }
    return NS_OK;
}

}  // namespace

/* Run as `lambdas WORKERS` (on threads), `lambdas WORKERS serial`, or `lambdas WORKERS PLAN` (on threads under a plan).
 * Prints the first broken promise. */
int main(int count, char **words) {
    ns_pool_options options{};
    const bool is_serial = count > 2 && !std::strcmp(words[2], "serial");
    options.mode = is_serial ? NS_MODE_SERIAL : NS_MODE_NATIVE;
    options.workers = static_cast<std::uint32_t>(std::atoi(words[1]));
    options.plan = count > 2 && !is_serial ? words[2] : nullptr;
    ns::pool pool(options);
    check_pool(pool);
    options.plan = "/no/such/plan";
    require(code_of([&] { ns::pool refused(options); }) == NS_ERROR_FILE, "a pool that cannot be had is an error");
    int nested = NS_OK; /* a task that runs its own pool would wait for itself: the run returns an error instead */
    pool.run([&] { nested = code_of([&] { pool.run([] {}); }); });
    require(nested == NS_ERROR_CALLER, "a task cannot run its own pool");
    ns::pool moved(std::move(pool));
    require(code_of([&] { pool.run([] {}); }) == NS_ERROR_OPTION, "what was moved away is no pool");
    require(code_of([] { ns::spawn([] {}); }) == NS_ERROR_PROGRAM, "outside of a run there is no task");
    return wrong;
}
