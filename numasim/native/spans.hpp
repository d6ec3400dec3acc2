// Arrays that belong to somebody else.
#pragma once

#include <cstdint>
#include <span>

namespace numasim {

using I64s = std::span<const std::int64_t>;
using I32s = std::span<const std::int32_t>;
using U32s = std::span<const std::uint32_t>;
using U8s = std::span<const std::uint8_t>;

}  // namespace numasim
