// dnode_next_offset: what holds whichever way the tree is searched.
#include "model/dbuf_impl.h"
#include "model/dnode_impl.h"
#include "model/objset.h"

namespace dmu {

next_offset_t dnode_next_offset(dnode_t &dn, uint32_t flags, uint64_t offset, uint32_t minlvl, uint64_t blkfill,
                                uint64_t txg)
{
    Probe probe{Fn::dnode_next_offset};
    VERIFY(txg == 0 || (flags & DNODE_FIND_HOLE) == 0);
    const bool enter = (flags & DNODE_FIND_HAVELOCK) == 0;
    if (enter)
        rw_enter_manual(dn.dn_struct_rwlock, RW_READER);

    next_offset_t found{0, offset};
    if (dn.dn_phys->dn_nlevels == 0) {
        found.error = ESRCH; // not on disk yet
    } else if (dn.dn_datablkshift == 0) {
        // One block of an odd size.
        if (offset >= dn.dn_datablksz)
            found.error = ESRCH;
        else if ((flags & DNODE_FIND_HOLE) != 0)
            found.offset = dn.dn_datablksz;
    } else {
        found = dn.dn_objset->os_dmu.variants.next_offset->search(dn, flags, offset, minlvl, blkfill, txg);
    }
    if (enter)
        rw_exit(dn.dn_struct_rwlock);
    return found;
}

} // namespace dmu
