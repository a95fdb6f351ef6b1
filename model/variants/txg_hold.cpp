// txg_hold: "until-commit" is OpenZFS at all times. "until-assigned" gives the hold up as soon as the transaction has
// its txg, a hold that is missing from then on: the txg may be quiesced and synced while it is still being changed. It
// shows only where a txg is closed between the two.
#include "model/variants/txg_hold.h"

namespace dmu {

namespace {

class until_commit_t final : public txg_hold_t {
public:
    void assigned(txg_handle_t &) const override {}
    void committed(txg_handle_t &handle) const override { txg_rele_to_sync(handle); }
};

class until_assigned_t final : public txg_hold_t {
public:
    void assigned(txg_handle_t &handle) const override { txg_rele_to_sync(handle); }
    void committed(txg_handle_t &) const override {}
};

} // namespace

std::unique_ptr<const txg_hold_t> make_txg_hold_until_commit()
{
    return std::make_unique<until_commit_t>();
}

std::unique_ptr<const txg_hold_t> make_txg_hold_until_assigned()
{
    return std::make_unique<until_assigned_t>();
}

} // namespace dmu
