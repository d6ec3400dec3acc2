#!/usr/bin/env bash
# Runs tests against an engine built with address and undefined-behaviour sanitizers, bounds-checked standard containers
# and assertions; the first error ends the run.
#
#   verification/sanitize.sh [ARGUMENTS OF PYTEST]            # by default the tests of the engine and its native parts
#   verification/sanitize.sh $(cat verification/short_form.txt)  # the short form, which enters as many lines of C and C++
#
# PYTHON names the interpreter that has the packages of `.[test]` (default: python3), CXX the compiler, gcc or clang.
# The build is kept in build/sanitize, so that a second run is quick; the installed package and the checkout stay as they
# are.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/sanitize
python=$(command -v "${PYTHON:-python3}")
export CXX=${CXX:-c++} PATH=$(dirname "$python"):$PATH
if ccache=$(command -v ccache); then
  export CMAKE_C_COMPILER_LAUNCHER=$ccache CMAKE_CXX_COMPILER_LAUNCHER=$ccache
fi

# nanobind, which is not part of the engine, is compiled without checks.
cmake -G Ninja -S "$root/lib" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE="$python" \
  -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DNUMASIM_SANITIZE=ON -DNUMASIM_WERROR=ON >/dev/null
cmake --build "$build" -- --quiet

site=$build/site
rm -rf "$site" && mkdir "$site"
cp -R "$root/numasim" "$root/configs" "$root/experiments" "$site"
rm -f "$site"/numasim/engine/native/_engine*.so # else an engine built in place might be taken for up to date
cmake --install "$build" --prefix "$site/numasim" >/dev/null

# Python is not instrumented: the runtimes must come first, with the C++ library whose exceptions they intercept.
runtime() { "$CXX" -print-file-name="$1"; }
cd "$root"
[[ $# -gt 0 ]] || set -- tests/engine tests/native
export PYTHONPATH=$site PYTHONSAFEPATH=1 NUMASIM_TEST_SANITIZED=1
# If memory cannot be allocated, Python raises an error, as without the sanitizer.
export ASAN_OPTIONS=detect_leaks=0:handle_abort=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LD_PRELOAD="$(runtime libasan.so) $(runtime libubsan.so) $(runtime libstdc++.so.6)"
exec "$python" -m pytest -m "" -p no:cacheprovider --capture=sys "$@" # output of a sanitizer is not captured
