// Blocks of an object by byte offset: held, read, resized, freed, prefetched.
//
// Two ways lead to a block. By object number, every call first looks the dnode up (dnode_hold: the meta-dnode's block,
// its dbuf, the slot, the dnode's own lock) and gives it back before it returns. By dnode, the caller shows a dnode
// that it holds already. Both end in dbuf_hold under the reader side of dn_struct_rwlock. Followed: OpenZFS 8bea98150
// and, for the functions that end in _by_dnode, 2bce8049c3 (both July 2016).
#pragma once

#include <cstdint>

#include "model/dbuf.h"
#include "model/dmu_object.h"
#include "model/dnode.h"
#include "model/result.h"

namespace dmu {

// A buffer held by a client of the DMU; dmu_buf_rele at the end of its scope.
class [[nodiscard]] dmu_buf_hold_t {
public:
    dmu_buf_hold_t() = default;
    explicit dmu_buf_hold_t(dmu_buf_impl_t *held) : db_(held) {}
    dmu_buf_hold_t(dmu_buf_hold_t &&other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
    dmu_buf_hold_t &operator=(dmu_buf_hold_t &&other)
    {
        rele();
        db_ = std::exchange(other.db_, nullptr);
        return *this;
    }
    ~dmu_buf_hold_t() noexcept(false) { rele(); }

    explicit operator bool() const { return db_ != nullptr; }
    dmu_buf_impl_t &operator*() const { return *db_; }
    dmu_buf_impl_t *operator->() const { return db_; }
    void rele(); // dmu_buf_rele

private:
    dmu_buf_impl_t *db_ = nullptr;
};

// The block at `offset`, held; its bytes are there only after somebody has read it. EIO: an indirect block above it
// could not be read.
Result<dmu_buf_hold_t> dmu_buf_hold_noread(objset_t &os, uint64_t object, uint64_t offset);
Result<dmu_buf_hold_t> dmu_buf_hold_noread_by_dnode(dnode_t &dn, uint64_t offset);
// The same, and read. Never prefetches: no caller here walks an object in order.
Result<dmu_buf_hold_t> dmu_buf_hold(objset_t &os, uint64_t object, uint64_t offset);
Result<dmu_buf_hold_t> dmu_buf_hold_by_dnode(dnode_t &dn, uint64_t offset);
void dmu_buf_rele(dmu_buf_impl_t &db);

// The dnode of a held buffer, kept from moving until exit.
dnode_t &dmu_buf_dnode_enter(dmu_buf_impl_t &db);
void dmu_buf_dnode_exit(dmu_buf_impl_t &db);
objset_t &dmu_buf_get_objset(const dmu_buf_impl_t &db);
// Its last write is older than any snapshot, so that overwriting it frees space.
bool dmu_buf_freeable(dmu_buf_impl_t &db);
dmu_object_info_t dmu_object_info_from_db(dmu_buf_impl_t &db);

// ENOTSUP: the object has more than one block already.
Result<> dmu_object_set_blocksize(objset_t &os, uint64_t object, uint64_t size, uint32_t ibs, dmu_tx_t &tx);
Result<> dmu_free_range(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, dmu_tx_t &tx);
// Reads the range: holes and what lies beyond the end are zeroes. data: room for size bytes, or null where they are not
// asked for (what the contents of files cost is what their copying costs; which bytes they have is kept only for other
// types of objects). EIO: a block could not be read.
Result<> dmu_read(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, void *data);
Result<> dmu_read_by_dnode(dnode_t &dn, uint64_t offset, uint64_t size, void *data);
// As the file system reads and writes, the copying included: by the dnode it has.
Result<> dmu_read_uio_dnode(dnode_t &dn, uint64_t offset, uint64_t size);
Result<> dmu_write_uio_dnode(dnode_t &dn, uint64_t offset, uint64_t size, dmu_tx_t &tx);
// Writes the range; data: its bytes, or null where they are not asked for. Blocks covered whole are filled, others read
// first. REQUIRES: the transaction holds the range (dmu_tx_hold_write); size <= DMU_MAX_ACCESS.
Result<> dmu_write(objset_t &os, uint64_t object, uint64_t offset, uint64_t size, const void *data, dmu_tx_t &tx);
// Asks for blocks to be read ahead; what is in memory already costs a look.
void dmu_prefetch(objset_t &os, uint64_t object, uint64_t offset, uint64_t length);

} // namespace dmu
