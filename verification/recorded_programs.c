/* Programs with tasks of known lengths, which verification/recorded_programs.py records and times.
 *
 *   recorded_programs NAME UNITS ROUNDS    prints, of so many rounds of its parallel region, the least time
 *                                            by the clock and the lower quartile of the processor time of its first
 *                                            thread, in microseconds
 *
 * UNITS is how long a task works: a chain of additions and multiplications, which no memory and no other thread slows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long units;
static volatile uint64_t sink;

static void work(long n) {
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < n * 8; i++) x = x * 6364136223846793005u + 1442695040888963407u;
    if (x == 0) sink = x;
}

/* A tree of calls, each of which makes two tasks and waits for them. */
static void tree(int depth) {
    if (depth == 0) {
        work(units);
        return;
    }
#pragma omp task
    tree(depth - 1);
#pragma omp task
    tree(depth - 1);
#pragma omp taskwait
}

static void flat(void) {
    for (int i = 0; i < 210; i++) {
#pragma omp task
        work(units + units * (i % 7) / 4);
    }
#pragma omp taskwait
}

static void wavefront(void) {
    enum { N = 12 };
    static char cell[N + 1][N + 1];
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j])
            work(units);
        }
#pragma omp taskwait
}

static void loop(void) {
#pragma omp taskloop num_tasks(100)
    for (int i = 0; i < 400; i++) work(units / 4);
}

static long queens(int n, int row, unsigned columns, unsigned left, unsigned right) {
    if (row == n) {
        work(units / 4);
        return 1;
    }
    work(units);
    for (int column = 0; column < n; column++) {
        const unsigned bit = 1u << column;
        if ((columns | left | right) & bit) continue;
#pragma omp task
        queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
#pragma omp taskwait
    return 0;
}

static void run(const char* name) {
    if (strcmp(name, "tree") == 0)
        tree(7);
    else if (strcmp(name, "flat") == 0)
        flat();
    else if (strcmp(name, "wavefront") == 0)
        wavefront();
    else if (strcmp(name, "loop") == 0)
        loop();
    else if (strcmp(name, "queens") == 0)
        queens(6, 0, 0, 0, 0);
    else
        exit(2);
}

static double now_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static int ascending(const void* one, const void* other) {
    const double a = *(const double*)one, b = *(const double*)other;
    return (a > b) - (a < b);
}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    units = atol(arguments[2]);
    const int rounds = atoi(arguments[3]);
    double *by_clock = malloc(sizeof *by_clock * (size_t)rounds),
           *of_processor = malloc(sizeof *by_clock * (size_t)rounds);
    for (int round = 0; round < rounds; round++) {
        const double begin = now_us(CLOCK_MONOTONIC), processor = now_us(CLOCK_THREAD_CPUTIME_ID);
#pragma omp parallel
#pragma omp single
        run(arguments[1]);
        of_processor[round] = now_us(CLOCK_THREAD_CPUTIME_ID) - processor;
        by_clock[round] = now_us(CLOCK_MONOTONIC) - begin;
    }
    qsort(by_clock, (size_t)rounds, sizeof *by_clock, ascending);
    qsort(of_processor, (size_t)rounds, sizeof *of_processor, ascending);
    printf("%.3f %.3f\n", by_clock[0], of_processor[rounds / 4]);
    free(by_clock);
    free(of_processor);
    return 0;
}
