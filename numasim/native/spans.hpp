// Arrays that belong to somebody else.
#pragma once

#include "plan/views.h"

namespace numasim {

using I64s = ns_i64s;
using I32s = ns_i32s;
using U32s = ns_u32s;
using U8s = ns_u8s;

}  // namespace numasim
