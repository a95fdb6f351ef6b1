// Makers of the ZAP's choices, for the table in variants.cpp.
#pragma once

#include <memory>

namespace dmu {

class tx_hold_zap_t;
class zap_upgrade_t;
struct code_config;

std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_by_object();
std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_by_dnode();
std::unique_ptr<const tx_hold_zap_t> make_tx_hold_zap_lookup_only();
std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_try(const code_config &code);
std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_refuse(const code_config &code);
std::unique_ptr<const zap_upgrade_t> make_zap_upgrade_drop_and_retake(const code_config &code);

} // namespace dmu
