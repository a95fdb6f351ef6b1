// The CRC by table, one byte a step. The table is computed at compile time.
#include "model/zap_hash.h"
#include "model/zap_format.h"
#include "sim/verify.h"

#include <array>

namespace dmu {

namespace {

constexpr std::array<uint64_t, 256> make_crc_table()
{
    std::array<uint64_t, 256> table{};
    for (uint64_t byte = 0; byte < table.size(); ++byte) {
        uint64_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? ZFS_CRC64_POLY : 0);
        table[byte] = remainder;
    }
    return table;
}

constexpr std::array<uint64_t, 256> crc_table = make_crc_table();
static_assert(crc_table[128] == ZFS_CRC64_POLY);

constexpr uint64_t kept_bits = ~((1ull << (64 - ZAP_HASHBITS)) - 1);

} // namespace

uint64_t zap_hash_bytes(uint64_t salt, std::string_view name)
{
    VERIFY(salt != 0);

    uint64_t crc = salt;
    for (const char letter : name)
        crc = crc_table[(crc ^ static_cast<uint8_t>(letter)) & 0xff] ^ (crc >> 8);
    return crc & kept_bits;
}

} // namespace dmu
