// The Python module numasim.native._engine: arrays in, arrays out.
#include <nanobind/nanobind.h>

#include <cstdint>

extern "C" {
#include "policy/draws.h"
}

namespace nb = nanobind;

NB_MODULE(_engine, module) {
    module.doc() = "The compiled engine of numasim";
    module.def(
        "draw", [](std::uint64_t stream, std::uint64_t k) { return ns_draw(stream, k); }, nb::arg("stream"), nb::arg("k"),
        "The k-th (from zero) 64-bit number of the stream that starts at `stream`, as numasim.draws.draw.");
}
