#include "analysis/page_files.h"

#include "page_stamp.h" // nothing but the checksum of what is embedded: a change there makes this file anew

#define DMUSIM_EMBED(symbol, file)                                                                                     \
    __asm__(".section .rodata\n.global " #symbol "\n" #symbol ":\n.incbin \"" file "\"\n.global " #symbol              \
            "_end\n" #symbol "_end:\n.byte 0\n.previous\n");                                                           \
    extern "C" const char symbol[], symbol##_end[]

DMUSIM_EMBED(dmusim_page_css, DMUSIM_PAGE_SOURCE "/page.css");
DMUSIM_EMBED(dmusim_page_js, DMUSIM_PAGE_SOURCE "/page.js");
#ifdef DMUSIM_PAGE_LIBRARIES
DMUSIM_EMBED(dmusim_vega_js, DMUSIM_PAGE_LIBRARIES "/vega.min.js");
DMUSIM_EMBED(dmusim_vega_license, DMUSIM_PAGE_LIBRARIES "/vega.LICENSE");
DMUSIM_EMBED(dmusim_vega_lite_js, DMUSIM_PAGE_LIBRARIES "/vega-lite.min.js");
DMUSIM_EMBED(dmusim_vega_lite_license, DMUSIM_PAGE_LIBRARIES "/vega-lite.LICENSE");
DMUSIM_EMBED(dmusim_vega_embed_js, DMUSIM_PAGE_LIBRARIES "/vega-embed.min.js");
DMUSIM_EMBED(dmusim_vega_embed_license, DMUSIM_PAGE_LIBRARIES "/vega-embed.LICENSE");
#endif

namespace analysis {

namespace {

std::string_view between(const char *begin, const char *end)
{
    return {begin, static_cast<size_t>(end - begin)};
}

#define DMUSIM_EMBEDDED(symbol) between(symbol, symbol##_end)

PageFiles make()
{
    PageFiles files;
    files.style = DMUSIM_EMBEDDED(dmusim_page_css);
    files.script = DMUSIM_EMBEDDED(dmusim_page_js);
#ifdef DMUSIM_PAGE_LIBRARIES
    files.libraries = {
        {"Vega", DMUSIM_EMBEDDED(dmusim_vega_js), DMUSIM_EMBEDDED(dmusim_vega_license)},
        {"Vega-Lite", DMUSIM_EMBEDDED(dmusim_vega_lite_js), DMUSIM_EMBEDDED(dmusim_vega_lite_license)},
        {"Vega-Embed", DMUSIM_EMBEDDED(dmusim_vega_embed_js), DMUSIM_EMBEDDED(dmusim_vega_embed_license)}};
    files.complete = true;
#endif
    return files;
}

} // namespace

const PageFiles &page_files()
{
    static const PageFiles files = make();
    return files;
}

} // namespace analysis
