// a * b / c, rounded down, with a product that may need more than 64 bits.
#pragma once

#include <cstdint>

#include "sim/verify.h"

namespace dmu {

inline uint64_t muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ using wide = unsigned __int128;
    const wide quotient = static_cast<wide>(a) * b / c;
    VERIFY(quotient <= ~uint64_t{0});
    return static_cast<uint64_t>(quotient);
}

} // namespace dmu
