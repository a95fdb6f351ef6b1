#include "model/zap_hash.h"

#include "model/crc64.h"
#include "model/zap_format.h"
#include "sim/verify.h"

namespace dmu {

namespace {

constexpr uint64_t kept_bits = ~((1ull << (64 - ZAP_HASHBITS)) - 1);

} // namespace

uint64_t zap_hash_bytes(uint64_t salt, std::string_view name)
{
    VERIFY(salt != 0);

    uint64_t crc = salt;
    for (const char letter : name)
        crc = crc64_byte(crc, static_cast<uint8_t>(letter));
    return crc & kept_bits;
}

} // namespace dmu
