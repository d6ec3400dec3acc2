"""Small OpenMP programs, compiled for the tests that record them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from numasim.errors import InputError
from numasim.record.openmp_library import OpenmpLibrary, find_openmp
from numasim.record.program_runs import RECORDER

INCLUDE = Path(RECORDER).parents[2] / "runtime" / "include"

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


def openmp_or_skip() -> OpenmpLibrary:
    """LLVM's runtime; without it, or without the recorder, the test is skipped."""
    if not RECORDER.is_file():
        pytest.skip("the recorder is not built here")
    try:
        return find_openmp()
    except InputError as missing:
        pytest.skip(str(missing))


def compiled(folder: Path, name: str, source: str, *flags: str, compiler: str = "gcc") -> Path:
    """The program of ``source``; the test is skipped where the compiler is not here, or has no OpenMP."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    file, program = folder / f"{name}.c", folder / name
    file.write_text(source)
    openmp = ["-fopenmp=libomp", f"-L{find_openmp().path.parent}"] if "clang" in compiler else ["-fopenmp"]
    command = [compiler, "-O1", *openmp, *flags, f"-I{INCLUDE}", str(file), "-o", str(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{compiler} compiles no OpenMP here: {done.stderr[-200:]}")
    return program
