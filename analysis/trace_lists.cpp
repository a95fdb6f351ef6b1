#include "analysis/trace_lists.h"

namespace analysis {

namespace {

constexpr uint64_t objects_limit = 1ull << 26; // far above any trace; a mistyped range must not fill the memory

int64_t integer(const Json &value, const std::string &path)
{
    if (!value.is_number_integer())
        throw BadTrace(path, "an integer is expected");
    return value.get<int64_t>();
}

} // namespace

std::vector<uint64_t> objects_of(const Json &list, std::string_view path)
{
    const std::string where(path);
    if (!list.is_array())
        throw BadTrace(where, "a list of objects is expected");
    std::vector<uint64_t> objects;
    for (size_t i = 0; i < list.size(); ++i) {
        const std::string here = where + "[" + std::to_string(i) + "]";
        const Json &element = list[i];
        if (!element.is_array()) {
            objects.push_back(static_cast<uint64_t>(integer(element, here)));
            continue;
        }
        if (element.size() != 3)
            throw BadTrace(here, "[first, last, stride] is expected");
        const int64_t first = integer(element[0], here + "[0]");
        const int64_t last = integer(element[1], here + "[1]");
        const int64_t stride = integer(element[2], here + "[2]");
        if (stride == 0 || (last - first) % stride != 0 || (last - first) / stride < 0)
            throw BadTrace(here, "the stride does not lead from the first object to the last");
        if (static_cast<uint64_t>((last - first) / stride) + objects.size() > objects_limit)
            throw BadTrace(here, "more objects than any trace has");
        for (int64_t object = first; object != last; object += stride)
            objects.push_back(static_cast<uint64_t>(object));
        objects.push_back(static_cast<uint64_t>(last));
    }
    return objects;
}

Json coded_objects(const std::vector<uint64_t> &objects)
{
    Json list = Json::array();
    for (size_t i = 0; i < objects.size();) {
        size_t last = i;
        int64_t stride = 0;
        if (i + 1 < objects.size()) {
            stride = static_cast<int64_t>(objects[i + 1] - objects[i]);
            last = i + 1;
            while (last + 1 < objects.size() && static_cast<int64_t>(objects[last + 1] - objects[last]) == stride)
                ++last;
        }
        const size_t length = last - i + 1;
        if (length >= 3 || (length == 2 && stride == 1)) {
            list.push_back({objects[i], objects[last], stride});
            i = last + 1;
        } else {
            list.push_back(objects[i]);
            ++i;
        }
    }
    return list;
}

Json coded_runs(const std::vector<std::pair<uint64_t, uint64_t>> &runs)
{
    Json list = Json::array();
    for (const auto &[value, count] : runs)
        list.push_back({value, count});
    return list;
}

} // namespace analysis
