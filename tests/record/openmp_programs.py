"""Small OpenMP programs, compiled for the tests that record them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from shared_builds import built_once

from numasim.errors import InputError
from numasim.runtime.record.event_times import PieceCosts
from numasim.runtime.record.program_runs import RECORDER, OpenmpLibrary, find_openmp
from numasim.runtime.record.recording import Order, Recording, record
from numasim.schema.enumerations import Kind

COMPILERS = ("gcc", "clang-14", "clang")
INCLUDE = Path(RECORDER).parents[2] / "include"

FIB = """
#include <stdlib.h>
static int fib(int n) {
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(int count, char **arguments) {
    int found = 0;
#pragma omp parallel
#pragma omp single
    found = fib(atoi(arguments[count - 1]));
    return found == 55 ? 0 : 3;
}
"""

KINDS = """
#include <stdio.h>
int main(void) {
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 3; i++) {
#pragma omp task if (0)
            x++;
        }
#pragma omp task
        x++;
#pragma omp task final(1)
        {
            for (int i = 0; i < 4; i++) {
#pragma omp task
                x++;
            }
        }
#pragma omp taskwait
#pragma omp taskloop num_tasks(4)
        for (int i = 0; i < 8; i++) {
#pragma omp atomic
            x++;
        }
#pragma omp critical
        x++;
    }
#pragma omp parallel
#pragma omp master
    {
#pragma omp task untied
        x++;
#pragma omp task
        printf("%d\\n", x);
    }
    return 0;
}
"""

DATA = """
#include <stdlib.h>
#ifdef DECLARED
#include <numasim/record.h>
#else
#define ns_record_access(begin, bytes, mode)
#endif
enum { BYTES = 1 << 17 };
int main(void) {
    char *old = malloc(BYTES), *new = malloc(BYTES);
    for (int i = 0; i < BYTES; i++) old[i] = (char)i;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task depend(in : old[0]) depend(out : new[0])
        {
            ns_record_access(old + 64, 1000, NS_RECORD_READ);
            ns_record_access(new, 2000, NS_RECORD_WRITE);
            for (int i = 0; i < BYTES / 2; i++) new[i] = old[i];
        }
#pragma omp task depend(in : old[0]) depend(out : new[BYTES / 2])
        for (int i = BYTES / 2; i < BYTES; i++) new[i] = old[i];
#pragma omp task depend(inout : new[0])
        new[0]++;
    }
    const int same = new[77] == old[77];
    free(old);
    free(new);
    return !same;
}
"""

TILES = """
#include <stdlib.h>
#ifdef DECLARED
#include <numasim/record.h>
#endif
enum { N = 1024, T = 128, ROW = 4096 };
static double x[64][ROW];
int main(void) {
    double *a = calloc(N * N, sizeof *a);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < N; i += T) {
            for (int j = 0; j < N; j += T) {
#ifdef DECLARED
#pragma omp task
                ns_record_tile(&a[i * N + j], T, T * sizeof *a, N * sizeof *a, NS_RECORD_BOTH);
#else
#pragma omp task depend(inout : a[i * N + j])
                a[i * N + j]++;
#endif
            }
        }
        for (int r = 0; r < 64; r++) {
#ifdef DECLARED
#pragma omp task
            ns_record_access(x[r], sizeof x[r], NS_RECORD_BOTH);
#else
#pragma omp task depend(inout : x[r][0])
            x[r][0]++;
#endif
        }
    }
    free(a);
    return 0;
}
"""


LOOPS = """
enum { N = 1000 };
static volatile double sums[N];
static void work(int i) {
    for (int k = 0; k < 200; k++) sums[i] += k;
}
int main(void) {
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++) work(i);
#pragma omp for schedule(dynamic, 10)
        for (int i = 0; i < N; i++) work(i);
#pragma omp for schedule(guided)
        for (int i = 0; i < N; i++) work(i);
    }
    return 0;
}
"""

WAITS = """
#include <stdlib.h>
#include <unistd.h>
static volatile double sum;
int main(int count, char **arguments) {
    const unsigned us = (unsigned)atoi(arguments[count - 1]);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 3; i++) {
#pragma omp task priority(2)
        {
            for (int k = 0; k < 1000; k++) sum += k;
            if (us) usleep(us);
        }
    }
    if (us) usleep(2 * us);
    for (int k = 0; k < 1000; k++) sum += k;
    return 0;
}
"""

ORDERED = """
static double a[64];
int main(void) {
    int y = 0, seen = 0;
#pragma omp parallel private(y)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 64; i++) {
#pragma omp ordered
            a[i]++;
        }
#pragma omp single copyprivate(y)
        y = 3;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 6; i++) {
#pragma omp task untied
            a[i]++;
        }
#pragma omp critical
        seen += y;
    }
    return seen != 9;
}
"""

TOGETHER = """
int main(void) {
    int go = 0, seen = 0;
#pragma omp parallel num_threads(2) shared(go)
    {
#pragma omp sections
        {
#pragma omp section
            while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
            }
#pragma omp section
            __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        }
#pragma omp atomic
        seen++;
    }
    return seen != 2;
}
"""


def openmp_or_skip() -> OpenmpLibrary:
    """Return LLVM's OpenMP runtime. Skip the test if this runtime or numasim's recorder is missing."""
    if not RECORDER.is_file():
        pytest.skip("the recorder is not built here")
    try:
        return find_openmp()
    except InputError as missing:
        pytest.skip(str(missing))


def compiled(name: str, source: str, *flags: str, compiler: str = "gcc") -> Path:
    """Return the program ``name`` of ``source``, compiled once in a session for each compiler and ``flags``.

    Skip the test if the compiler or LLVM's runtime is missing, or if the compiler has no OpenMP.
    """
    library = openmp_or_skip().path.parent
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")

    def build(folder: Path) -> None:
        folder.mkdir()
        file = folder / f"{name}.c"
        file.write_text(source)
        openmp = ["-fopenmp=libomp", f"-L{library}"] if "clang" in compiler else ["-fopenmp"]
        command = [compiler, "-O1", *openmp, *flags, f"-I{INCLUDE}", str(file), "-o", str(folder / name)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"{compiler} compiles no OpenMP here: {done.stderr[-200:]}")

    return built_once("-".join(["openmp", name, compiler, *flags]), build) / name


def recorded(program: Path, *arguments: str, threads: int | None = 1, repeats: int = 2) -> Recording:
    return record(Order((str(program), *arguments), threads, repeats), PieceCosts())


def counts(found: Recording) -> tuple[int, int]:
    kind = found.workload.kind
    return int(np.sum(kind == Kind.TASK)), int(np.sum(kind == Kind.CALL))
