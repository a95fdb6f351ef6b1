// Blocks and the simulated disk's contents.
//
// A block is bytes of one of five kinds. It is counted, and shared between disk and memory from the moment it is
// written until somebody writes to the memory copy: then the disk is given a copy of its own (block_store::unshare),
// and the memory one keeps its address, so that db_blkptr and dn_phys may point into it as they do in OpenZFS. Two
// million freshly synced dnodes therefore stand in memory once.
//
// block_store is the disk as a table from place (DVA) to block. It has no notion of time: latency and bandwidth are
// charged by whoever reads and writes (model/disk.h). A block freed in a txg stays readable until commit(), which the
// end of spa_sync calls.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/blkptr.h"

namespace dmu {

enum class block_kind : uint8_t {
    indirect, // block pointers
    dnodes,   // DNODES_PER_BLOCK dnode_phys_t
    bytes,    // ZAP blocks and other data whose contents matter
    opaque,   // file contents: only the size is kept
    objset,   // one objset_phys_t
};

struct alignas(8) block {
    uint32_t refs;
    uint32_t size; // logical bytes, as the real block has
    block_kind kind;

    blkptr_t *blkptrs() { return reinterpret_cast<blkptr_t *>(payload()); }
    dnode_phys_t *dnodes() { return reinterpret_cast<dnode_phys_t *>(payload()); }
    uint8_t *bytes() { return static_cast<uint8_t *>(payload()); }
    objset_phys_t *objset() { return reinterpret_cast<objset_phys_t *>(payload()); }
    const blkptr_t *blkptrs() const { return const_cast<block *>(this)->blkptrs(); }
    const dnode_phys_t *dnodes() const { return const_cast<block *>(this)->dnodes(); }
    const objset_phys_t *objset() const { return const_cast<block *>(this)->objset(); }
    void *payload() { return this + 1; }
    size_t payload_bytes() const;
};
static_assert(sizeof(block) % alignof(blkptr_t) == 0, "the payload follows the header");

// A counted reference to a block.
class block_ref {
public:
    block_ref() = default;
    block_ref(const block_ref &other) : block_(other.block_)
    {
        if (block_ != nullptr)
            ++block_->refs;
    }
    block_ref(block_ref &&other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    block_ref &operator=(block_ref other) noexcept
    {
        std::swap(block_, other.block_);
        return *this;
    }
    ~block_ref()
    {
        if (block_ != nullptr && --block_->refs == 0)
            destroy(block_);
    }

    block *get() const { return block_; }
    block *operator->() const { return block_; }
    block &operator*() const { return *block_; }
    explicit operator bool() const { return block_ != nullptr; }
    bool shared() const { return block_->refs > 1; }

    // A zeroed block. size is the logical size in bytes.
    static block_ref make(block_kind kind, uint32_t size);
    block_ref copy() const;

private:
    explicit block_ref(block *adopted) : block_(adopted) {}
    static void destroy(block *gone);

    block *block_ = nullptr;
};

class block_store {
public:
    // Puts a block on disk; never returns 0.
    uint64_t write(block_ref contents);
    // REQUIRES: dva was written and not freed before the last commit.
    const block_ref &read(uint64_t dva) const;
    bool contains(uint64_t dva) const { return dva < slots_.size() && slots_[dva]; }
    // The memory side is about to change the block it shares with dva: the disk gets a copy of its own.
    void unshare(uint64_t dva);
    // The place may be reused after the next commit.
    void free(uint64_t dva);
    void commit();

    uint64_t blocks_in_use() const { return in_use_; }
    uint64_t blocks_written() const { return written_; }

private:
    block_ref &slot(uint64_t dva);

    std::vector<block_ref> slots_{1}; // index 0 is never used: a DVA of 0 is a hole
    std::vector<uint64_t> vacant_;
    std::vector<uint64_t> deferred_;
    uint64_t in_use_ = 0;
    uint64_t written_ = 0;
};

} // namespace dmu
