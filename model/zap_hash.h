// Where a name goes: a 64-bit CRC of its bytes, started from the ZAP's salt, of which the top 28 bits are kept.
//
// The CRC is linear, so a salt only XORs one constant into the hashes of all names of the same length: the shape of a
// ZAP does not depend on it, only which leaf is which.
#pragma once

#include <cstdint>
#include <string_view>

namespace dmu {

// REQUIRES: salt is not 0. The terminating zero is not hashed.
uint64_t zap_hash_bytes(uint64_t salt, std::string_view name);

} // namespace dmu
