/* Quicksort with lambdas as tasks. A reduction checks that the numbers are sorted.
 *
 *     c++ -std=c++17 -O2 quicksort.cpp $(numasim-runtime --cflags --libs) -o quicksort
 *     ./quicksort 1000000
 */
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numasim/numasim.hpp>
#include <string>
#include <vector>

namespace {

using numbers = std::vector<std::uint32_t>;

void sort(numbers::iterator first, numbers::iterator last) {
    if (last - first < 1000) {
        std::sort(first, last);
        return;
    }
    const std::uint32_t pivot = first[(last - first) / 2];
    const auto middle = std::partition(first, last, [=](std::uint32_t each) { return each < pivot; });
    const auto above = std::partition(middle, last, [=](std::uint32_t each) { return each == pivot; });
    ns::spawn([=] { sort(first, middle); });
    sort(above, last); /* no sync() needed: a task ends only after its children */
}

numbers drawn(std::size_t count) {
    numbers all(count);
    std::uint32_t state = 1;
    for (std::uint32_t &each : all) each = state = state * 1664525 + 1013904223;
    return all;
}

}  // namespace

int main(int count, char **words) {
    try {
        numbers all = drawn(count > 1 ? std::stoul(words[1]) : 1000000);
        const auto size = static_cast<std::int64_t>(all.size());
        ns::pool pool;
        pool.run([&] { sort(all.begin(), all.end()); });
        const bool is_sorted = pool.run([&] {
            return ns::parallel_reduce(
                1, size, 1000, true, [&](std::int64_t i) { return all[std::size_t(i) - 1] <= all[std::size_t(i)]; },
                [](bool left, bool right) { return left && right; });
        });
        std::cout << size << " numbers are " << (is_sorted ? "sorted" : "not sorted") << '\n';
        return !is_sorted;
    } catch (const std::exception &problem) {
        std::cerr << "quicksort: " << problem.what() << '\n';
        return 2;
    }
}
