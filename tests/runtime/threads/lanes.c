/* Checks special cases of lanes, the workers' stacks of spawned tasks: more children than a lane has room for,
 * arguments of all sizes, tasks that wait for tasks below them in the lane, and tasks of several types in one lane. */
#include <stddef.h>

#include "program.h"

enum { MANY = (1 << 20) + 1000, MOST_BYTES = 64 };

BODY(increment) { ++**(uint8_t **)arguments; }

/* Add 2 to a byte, by two children that increment a byte each. */
BODY(increment_twice) {
    uint8_t *place = *(uint8_t **)arguments, marks[2] = {0};
    for (int child = 0; child < 2; child++) {
        uint8_t *mark = &marks[child];
        ns_spawn(self, increment, &mark, sizeof mark);
    }
    ns_join(self);
    *place = (uint8_t)(*place + marks[0] + marks[1]);
}

BODY(spawn_many) {
    uint8_t *marks = *(uint8_t **)arguments;
    for (size_t child = 0; child < MANY; child++) {
        uint8_t *place = &marks[child];
        ns_spawn(self, child % 2 ? increment : increment_twice, &place, sizeof place);
    }
    ns_join(self);
    size_t right = 0;
    for (size_t child = 0; child < MANY; child++) right += marks[child] == (child % 2 ? 1 : 2);
    require(right == MANY, "each of many children runs once");
}

static uint8_t sizes_seen[MOST_BYTES + 1];

BODY(see_bytes) {
    const uint8_t *bytes = arguments;
    require((uintptr_t)arguments % _Alignof(max_align_t) == 0, "arguments are aligned for whatever they are");
    for (uint32_t at = 0; at < bytes[0]; at++) require(bytes[at] == bytes[0], "arguments arrive as they were");
    sizes_seen[bytes[0]]++;
}

BODY(spawn_all_sizes) {
    for (uint32_t size = 1; size <= MOST_BYTES; size++) {
        uint8_t bytes[MOST_BYTES];
        memset(bytes, (int)size, sizeof bytes);
        ns_spawn(self, see_bytes, bytes, size);
    }
    ns_join(self);
    for (uint32_t size = 1; size <= MOST_BYTES; size++) require(sizes_seen[size] == 1, "each size once");
}

typedef struct {
    ns_future *future;
    uint8_t *awaited;
} wait_call;

BODY(get_future) {
    const wait_call *call = arguments;
    ns_future_get(self, call->future);
    require(*call->awaited == 2, "a future of an ancestor is there");
}

/* Wait for tasks below in the lane, in the task itself or in a part of it, with a child; then spawn another child. */
BODY(wait_for_ancestors) {
    uint8_t own[2] = {0}, *first = &own[0], *second = &own[1];
    ns_spawn(self, increment_twice, &first, sizeof first);
    ns_call(self, get_future, arguments);
    get_future(self, arguments);
    ns_spawn(self, increment_twice, &second, sizeof second);
    ns_join(self);
    require(own[0] == 2 && own[1] == 2, "what is spawned before and behind a wait is joined");
}

BODY(hand_down_futures) {
    for (int round = 0; round < 200; round++) {
        uint8_t marks[4] = {0};
        ns_future futures[4];
        for (int child = 0; child < 4; child++) {
            uint8_t *mark = &marks[child];
            ns_future_spawn(self, &futures[child], increment_twice, &mark, sizeof mark);
        }
        for (int child = 0; child < 4; child++) {
            ns_spawn(self, wait_for_ancestors, &(wait_call){&futures[child], &marks[child]}, sizeof(wait_call));
        }
        ns_join(self);
        for (int child = 0; child < 4; child++) require(marks[child] == 2, "what was awaited has run once");
    }
}

/* `doubled` has no children, `summed` arguments too long for a lane, and `forgetful` does not join its child. */
NS_TASK(int64_t, doubled, int64_t, n) {
    (void)self;
    return 2 * n;
}

typedef struct {
    int64_t part[8];
} many_numbers;

NS_TASK(int64_t, summed, many_numbers, numbers) {
    int64_t sum = 0, twice[8];
    for (int at = 0; at < 8; at++) doubled_spawn(self, &twice[at], numbers.part[at]);
    summed_join(self); /* the join of any type joins all children */
    for (int at = 0; at < 8; at++) sum += twice[at];
    return sum;
}

NS_TASK(int64_t, forgetful, uint8_t *, mark) {
    ns_spawn(self, increment_twice, &mark, sizeof mark);
    return 1;
}

/* Return the number of nodes of a binary tree. Half of the nodes are called and half are spawned, with children of
 * other types in between. */
NS_TASK(int64_t, counted, int64_t, depth) {
    if (!depth) return 1;
    uint8_t marks[2] = {0};
    uint8_t *first = &marks[0], *second = &marks[1];
    int64_t left, twice, forgot, all;
    counted_spawn(self, &left, depth - 1);
    ns_spawn(self, increment, &first, sizeof first);
    doubled_spawn(self, &twice, depth);
    summed_spawn(self, &all, (many_numbers){{depth, 1, 2, 3, 4, 5, 6, 7}});
    const int64_t right = counted_call(self, depth - 1);
    forgetful_spawn(self, &forgot, second);
    counted_join(self);
    require(marks[0] == 1 && marks[1] == 2 && forgot == 1, "children of all types are joined");
    require(twice == 2 * depth && all == 2 * depth + 56, "each type has its own result");
    return 1 + left + right;
}

/* `is_odd` has a flag as its result, and `ascending` a value that is too long for a slot. */
NS_TASK(_Bool, is_odd, int64_t, n) {
    int64_t half;
    doubled_spawn(self, &half, n / 2);
    doubled_join(self);
    return half != n;
}

NS_TASK(many_numbers, ascending, int64_t, n) {
    many_numbers all;
    (void)self;
    for (int at = 0; at < 8; at++) all.part[at] = n + at;
    return all;
}

/* Spawn more typed children than a lane has room for, and join them only after the last spawn. */
BODY(spawn_many_typed) {
    _Bool *odd = *(_Bool **)arguments;
    for (int64_t child = 0; child < MANY; child++) is_odd_spawn(self, &odd[child], child);
    is_odd_join(self);
    size_t right = 0;
    for (size_t child = 0; child < MANY; child++) right += odd[child] == child % 2;
    require(right == MANY, "each of many typed children has its result");
}

/* The newest typed child stays in the lane while its parent waits for another child, makes a call, and ends. */
BODY(leave_newest) {
    int64_t *result = *(int64_t **)arguments;
    doubled_spawn(self, result, 21);
}

BODY(wait_with_typed_children) {
    for (int round = 0; round < 200; round++) {
        int64_t twice = 0, left = 0;
        many_numbers all;
        uint8_t mark = 0, *place = &mark;
        int64_t *where = &left;
        ns_future future;
        ns_future_spawn(self, &future, increment_twice, &place, sizeof place);
        doubled_spawn(self, &twice, round);
        ns_future_get(self, &future);
        ns_call(self, leave_newest, &where);
        require(left == 42, "a typed child that was not joined has its result when its parent has ended");
        ascending_spawn(self, &all, round);
        doubled_join(self);
        require(mark == 2 && twice == 2 * round, "a typed child is joined behind another wait");
        require(all.part[0] == round && all.part[7] == round + 7, "a long result arrives");
    }
}

BODY(count_tree) {
    require(counted_call(self, 12) == (1 << 13) - 1, "a call from a plain body returns what it counted");
    int64_t spawned = 0;
    counted_spawn(self, &spawned, 10);
    ns_join(self);
    require(spawned == (1 << 11) - 1, "a plain join waits for a typed child");
}

/* These tasks have no argument, several, or as many as NS_TASK allows. Some tasks and some arguments have the name of a
 * variable in the functions that NS_TASK makes. */
NS_TASK(int64_t, seven) {
    (void)self;
    return 7;
}

NS_TASK(int64_t, order, int64_t, n) {
    (void)self;
    return n;
}
NS_TASK(int64_t, result, int64_t, n) { return order_call(self, n) + 1; }
NS_TASK(int64_t, count, int64_t, n) {
    int64_t more;
    result_spawn_after(self, NS_DEPEND(NS_OUT(&more)), &more, n);
    count_join(self);
    return more + 1;
}

NS_TASK(int64_t, weighed, int64_t, result, const int64_t *, order, uint8_t, first) {
    int64_t here, more;
    if (!first) return result * order[0];
    weighed_spawn(self, &here, result, order, 0);
    weighed_spawn(self, &more, result + 1, order + 1, (uint8_t)(first - 1));
    weighed_join(self);
    return here + more;
}

NS_TASK(int64_t, mixed, int8_t, a, double, b, int16_t, c, const char *, d, int32_t, e, float, f, int64_t, g, uint8_t, h,
        uint16_t, i, uint32_t, j, uint64_t, k, many_numbers, l) {
    (void)self;
    return a + (int64_t)b + c + d[0] + e + (int64_t)f + g + h + i + j + (int64_t)k + l.part[7];
}

BODY(pass_arguments) {
    const int64_t weights[] = {100, 10, 1, 1000};
    int64_t nothing, sum, all;
    for (int64_t round = 0; round < 200; round++) {
        const many_numbers eight = {{0, 0, 0, 0, 0, 0, 0, round}};
        mixed_spawn(self, &all, 1, 20.5, 300, "\4", 50000, 600000.0f, -round, 7, 8, 9, 10, eight);
        seven_spawn(self, &nothing);
        weighed_spawn(self, &sum, 3, weights, 3);
        weighed_join(self);
        require(nothing == 7 && seven_call(self) == 7, "a task needs no argument");
        int64_t named;
        count_spawn_after(self, NS_DEPEND(NS_OUT(&named)), &named, round);
        count_join(self);
        require(named == round + 2 && count_call(self, 5) == 7, "a task may have any name");
        require(sum == 300 + 40 + 5 + 6000, "three arguments arrive, in a call, too");
        require(all == 1 + 20 + 300 + 4 + 50000 + 600000 + 34, "twelve arguments of any types arrive");
    }
}

static void run_pass_arguments(ns_pool *pool) {
    const int64_t weights[] = {2, 3, 5};
    int64_t sum = 0;
    run(pool, weighed, &(weighed_order){&sum, 7, weights, 2}, sizeof(weighed_order));
    require(sum == 14 + 24 + 45, "an order has the arguments in their order");
    run(pool, pass_arguments, NULL, 0);
}

/* In serial mode and with a plan, the cases about the room in a lane are left out. */
int main(int word_count, char **words) {
    uint8_t *marks = calloc(MANY, 1);
    ns_pool *pool = pool_of(word_count, words);
    if (word_count == 2) run(pool, spawn_many, &marks, sizeof marks);
    if (word_count == 2) run(pool, spawn_many_typed, &marks, sizeof marks);
    run(pool, spawn_all_sizes, NULL, 0);
    run(pool, wait_with_typed_children, NULL, 0);
    run(pool, hand_down_futures, NULL, 0);
    run(pool, count_tree, NULL, 0);
    run_pass_arguments(pool);
    free(marks);
    return finish(pool);
}
