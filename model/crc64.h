// The CRC that OpenZFS hashes with: reflected CRC-64 of polynomial 0xC96C5795D7870F42, used for dbufs and for ZAP
// names.
#pragma once

#include <array>
#include <cstdint>

namespace dmu {

constexpr uint64_t ZFS_CRC64_POLY = 0xC96C5795D7870F42ull;

constexpr std::array<uint64_t, 256> make_crc64_table()
{
    std::array<uint64_t, 256> table{};
    for (uint64_t byte = 0; byte < table.size(); ++byte) {
        uint64_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? ZFS_CRC64_POLY : 0);
        table[byte] = crc;
    }
    return table;
}

inline constexpr std::array<uint64_t, 256> zfs_crc64_table = make_crc64_table();
static_assert(zfs_crc64_table[128] == ZFS_CRC64_POLY);

constexpr uint64_t crc64_byte(uint64_t crc, uint64_t byte)
{
    return (crc >> 8) ^ zfs_crc64_table[(crc ^ byte) & 0xff];
}

} // namespace dmu
