// SHA-256 (FIPS 180-4), for the one use that a report has of it: a page whose content security policy allows exactly
// the scripts that were put into it names them by this hash.
#pragma once

#include <string>
#include <string_view>

namespace analysis {

// The digest in base64, as a content security policy wants it.
std::string sha256_base64(std::string_view text);

} // namespace analysis
