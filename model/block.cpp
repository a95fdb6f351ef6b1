#include "model/block.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "sim/verify.h"

namespace dmu {

namespace {

size_t payload_size(block_kind kind, uint32_t size)
{
    switch (kind) {
    case block_kind::indirect:
        return (size >> SPA_BLKPTRSHIFT) * sizeof(blkptr_t);
    case block_kind::dnodes:
        return (size >> DNODE_SHIFT) * sizeof(dnode_phys_t);
    case block_kind::bytes:
        return size;
    case block_kind::opaque:
        return 0;
    case block_kind::objset:
        return sizeof(objset_phys_t);
    }
    PANIC("a block of no kind: %d", static_cast<int>(kind));
}

} // namespace

size_t block::payload_bytes() const
{
    return payload_size(kind, size);
}

block_ref block_ref::make(block_kind kind, uint32_t size)
{
    VERIFY(size != 0 || kind == block_kind::objset);
    const size_t bytes = payload_size(kind, size);
    void *memory = std::malloc(sizeof(block) + bytes);
    if (memory == nullptr)
        throw std::bad_alloc();
    block_ref fresh(new (memory) block{1, size, kind});
    // The most frequent ones by their type, which is less than what the library does to clear a few thousand bytes.
    if (kind == block_kind::dnodes)
        std::uninitialized_default_construct_n(fresh->dnodes(), size >> DNODE_SHIFT); // free dnodes
    else
        std::memset(fresh->payload(), 0, bytes); // holes, empty data: zero is the value of every field
    return fresh;
}

block_ref block_ref::copy() const
{
    block_ref twin = make(block_->kind, block_->size);
    std::memcpy(static_cast<void *>(twin.block_ + 1), block_ + 1, block_->payload_bytes());
    return twin;
}

void block_ref::destroy(block *gone)
{
    std::free(gone);
}

block_ref &block_store::slot(uint64_t dva)
{
    VERIFY3(dva, >, 0u);
    VERIFY3(dva, <, slots_.size());
    VERIFY(slots_[dva]);
    return slots_[dva];
}

uint64_t block_store::write(block_ref contents)
{
    VERIFY(contents);
    uint64_t dva = slots_.size();
    if (vacant_.empty()) {
        slots_.push_back(std::move(contents));
    } else {
        dva = vacant_.back();
        vacant_.pop_back();
        slots_[dva] = std::move(contents);
    }
    ++in_use_;
    ++written_;
    return dva;
}

const block_ref &block_store::read(uint64_t dva) const
{
    return const_cast<block_store *>(this)->slot(dva);
}

void block_store::unshare(uint64_t dva)
{
    block_ref &own = slot(dva);
    if (own.shared())
        own = own.copy();
}

void block_store::free(uint64_t dva)
{
    (void)slot(dva);
    deferred_.push_back(dva);
}

void block_store::commit()
{
    for (uint64_t dva : deferred_) {
        slot(dva) = block_ref();
        vacant_.push_back(dva);
        --in_use_;
    }
    deferred_.clear();
}

} // namespace dmu
