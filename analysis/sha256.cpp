#include "analysis/sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace analysis {

namespace {

constexpr size_t block_bytes = 64;

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

void add_block(State &state, const unsigned char *block)
{
    std::array<uint32_t, 64> words{};
    for (size_t i = 0; i < 16; ++i)
        for (size_t byte = 0; byte < 4; ++byte)
            words[i] = words[i] << 8 | block[i * 4 + byte];
    for (size_t i = 16; i < words.size(); ++i) {
        uint32_t early = words[i - 15], late = words[i - 2];
        uint32_t mixed_early = std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3);
        uint32_t mixed_late = std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10);
        words[i] = words[i - 16] + mixed_early + words[i - 7] + mixed_late;
    }
    State now = state;
    auto &[a, b, c, d, e, f, g, h] = now;
    for (size_t i = 0; i < words.size(); ++i) {
        uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t first =
            h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + round_constants[i] + words[i];
        uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
        now = {first + second, a, b, c, d + first, e, f, g};
    }
    for (size_t i = 0; i < state.size(); ++i)
        state[i] += now[i];
}

std::string base64(const std::string &bytes)
{
    static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t group = 0;
        for (size_t byte = i; byte < i + 3; ++byte)
            group = group << 8 | (byte < bytes.size() ? static_cast<unsigned char>(bytes[byte]) : 0);
        for (size_t digit = 0; digit < 4; ++digit)
            text += i + digit <= bytes.size() ? digits[group >> (18 - 6 * digit) & 63] : '=';
    }
    return text;
}

} // namespace

std::string sha256_base64(std::string_view text)
{
    State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    // The text, a set bit, zeros up to the last eight bytes of a block, and there the length in bits.
    std::string tail(text.substr(text.size() / block_bytes * block_bytes));
    tail += '\x80';
    while (tail.size() % block_bytes != block_bytes - 8)
        tail += '\0';
    uint64_t bits = uint64_t{text.size()} * 8;
    for (int shift = 56; shift >= 0; shift -= 8)
        tail += static_cast<char>(bits >> shift & 0xff);
    for (std::string_view part : {text.substr(0, text.size() / block_bytes * block_bytes), std::string_view(tail)})
        for (size_t at = 0; at < part.size(); at += block_bytes)
            add_block(state, reinterpret_cast<const unsigned char *>(part.data()) + at);
    std::string digest;
    for (uint32_t word : state)
        for (int shift = 24; shift >= 0; shift -= 8)
            digest += static_cast<char>(word >> shift & 0xff);
    return base64(digest);
}

} // namespace analysis
