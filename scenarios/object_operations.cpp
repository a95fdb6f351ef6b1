// Operations on objects and txgs: their names, fields and sentences. What they do is in object_verbs.cpp.
#include "scenarios/object_verbs.h"
#include "scenarios/operation.h"

namespace scenarios {

namespace {

constexpr uint64_t objects_max = 1ull << 48; // DN_MAX_OBJECT
constexpr uint64_t count_max = 1'000'000'000'000;
constexpr uint64_t write_offset_max = 1ull << 50;
constexpr uint64_t write_size_max = 64 << 20; // what one transaction may write: DMU_MAX_ACCESS
constexpr size_t name_length_max = 255;

// ---- fields ----

Field count_field(const char *sentence)
{
    return quantity("count", &Step::count, {Unit::plain, 0, count_max}, sentence);
}

std::vector<std::string> type_names()
{
    return {"UINT64_OTHER", "PLAIN_FILE_CONTENTS"};
}

uint64_t object_number(const Value &value)
{
    return read_number(value, {Unit::plain, 1, objects_max - 1});
}

void read_objects(Step &step, const Value &value)
{
    if (!value.value.is_array())
        value.wrong_type("a list of object numbers and [first, last, stride]");
    step.objects.clear();
    for (size_t i = 0; i < value.value.size(); ++i) {
        const Value item = value.at(i);
        if (!item.value.is_array()) {
            const uint64_t object = object_number(item);
            step.objects.push_back({object, object, 1});
            continue;
        }
        if (item.value.size() != 3)
            item.fail("is a list of " + std::to_string(item.value.size()) +
                      "; a run of objects is [first, last, stride]");
        ObjectRun run{object_number(item.at(0)), object_number(item.at(1)), 1};
        const bool down = run.last < run.first;
        const Value stride = item.at(2);
        if (stride.value.is_number_integer() && !stride.value.is_number_unsigned())
            run.stride = stride.value.get<int64_t>();
        else
            run.stride = static_cast<int64_t>(read_number(stride, {Unit::plain, 1, objects_max - 1}));
        const uint64_t distance = down ? run.first - run.last : run.last - run.first;
        const uint64_t step_size = static_cast<uint64_t>(run.stride < 0 ? -run.stride : run.stride);
        if (step_size == 0 || step_size >= objects_max || (distance != 0 && down != (run.stride < 0)) ||
            distance % step_size != 0)
            stride.fail("does not lead from " + std::to_string(run.first) + " to " + std::to_string(run.last));
        step.objects.push_back(run);
    }
}

json objects_json(const Step &step)
{
    if (step.objects.empty())
        return nullptr;
    json list = json::array();
    for (const ObjectRun &run : step.objects) {
        if (run.first == run.last)
            list.push_back(run.first);
        else
            list.push_back({run.first, run.last, run.stride});
    }
    return list;
}

Field objects_field(const char *sentence)
{
    const json number = number_schema({Unit::plain, 1, objects_max - 1});
    const json stride = {{"anyOf", json::array({{{"type", "integer"}}, number["anyOf"][1]})}};
    const json run = {
        {"type", "array"}, {"minItems", 3}, {"maxItems", 3}, {"items", json::array({number, number, stride})}};
    return custom<Step>("objects", {{"type", "array"}, {"items", {{"anyOf", json::array({number, run})}}}},
                        "a list of numbers and [first, last, stride]", sentence, read_objects, objects_json);
}

// ---- the table ----

std::vector<Field> spec_fields()
{
    return {
        choice("type", &Step::type, type_names(), "The object's type."),
        number("bonus", &Step::bonus, {Unit::plain, 0, 320}, "Bytes of bonus buffer."),
        number("block_size", &Step::block_size, {Unit::size, 0, 16 << 20}, "Bytes of a data block; 0: 512."),
        number("slots", &Step::slots, {Unit::plain, 1, 32}, "Dnode slots of 512 bytes; more than 1: eras since 2019.")};
}

std::vector<Field> operator+(std::vector<Field> left, std::vector<Field> right)
{
    for (Field &field : right)
        left.push_back(std::move(field));
    return left;
}

Field flags_field()
{
    const std::vector<std::string> names = {"hole", "backwards"};
    return custom<Step>(
        "flags", {{"type", "array"}, {"items", {{"enum", names}}}}, "a list of hole, backwards",
        "hole: search for free space, otherwise for data; backwards: towards 0.",
        [names](Step &step, const Value &value) {
            if (!value.value.is_array())
                value.wrong_type("a list of flags");
            for (size_t i = 0; i < value.value.size(); ++i)
                step.flags.push_back(read_choice(value.at(i), "flag", names));
        },
        [](const Step &step) { return json(step.flags); });
}

Operation operation(const char *name, const char *sentence, std::vector<Field> fields,
                    void (*perform)(Worker &, const Step &))
{
    return {name, sentence, Table(std::string("an op ") + name, with_common(name, std::move(fields))), perform,
            nullptr};
}

Field held_name()
{
    return template_text("name", &Step::name, name_length_max,
                         "Name of the held transaction, where there are several.");
}

} // namespace

std::vector<Operation> object_operations()
{
    using namespace object_verbs;
    const Bounds object_bounds{Unit::plain, 1, objects_max - 1};
    std::vector<Operation> list;
    list.push_back(operation("alloc", "Allocates objects, each in a transaction of its own.",
                             std::vector{count_field("How many objects.")} + spec_fields(), alloc));
    list.push_back(operation(
        "free", "Frees objects: those listed, or some of the live ones that scripts have allocated.",
        {objects_field("Object numbers to free; without it, \"which\" chooses."),
         choice("which", &Step::which, {"all", "first", "every", "random"},
                "Which live objects, in ascending order of their numbers."),
         quantity("count", &Step::limit, {}, "At most how many (not of all)."),
         quantity("stride", &Step::stride, {Unit::plain, 1, objects_max}, "Of every: each stride-th of them."),
         quantity("from", &Step::from, object_bounds, "No object below this one."),
         quantity("to", &Step::to, object_bounds, "No object above this one.")},
        free));
    list.back().check = [](const Step &step, const Value &value) {
        if (step.objects.empty() == step.which.empty())
            value.fail(step.which.empty() ? "frees nothing; give \"objects\" or \"which\""
                                          : "has both \"objects\" and \"which\"; give one of them");
    };
    list.push_back(operation("claim", "Claims objects by number, as replay and receive do.",
                             std::vector{required(objects_field("Object numbers."))} + spec_fields(), claim));
    list.push_back(operation("sync", "Closes the open txg and waits until it is on disk.", {}, sync));
    list.push_back(operation("reopen", "Syncs, closes the objset and opens it again: what was only in memory is gone.",
                             {}, reopen));
    list.push_back(operation("export_import", "Exports the pool and imports it again.", {}, export_import));
    list.push_back(operation("evict", "Throws away every dbuf that nobody uses.", {}, evict));
    list.push_back(operation("hold", "Holds the dnode of each object and lets it go again.",
                             {required(objects_field("Object numbers.")),
                              number("slot_at", &Step::slot_at_ns, {Unit::duration, 0, longest_ns},
                                     "Each hold, its block in hand, waits for this time since the start before it "
                                     "touches the slot: brings threads there together.")},
                             hold));
    list.push_back(operation(
        "object_update", "Changes each object's bonus under its structure lock, as writer; ENOENT, EPERM.",
        {required(objects_field("Object numbers.")),
         number("work", &Step::work_ns, {Unit::duration, 0, longest_ns}, "How long it holds the lock for that.")},
        object_update));
    list.push_back(
        operation("object_read", "Reads a range of each object; ENOENT.",
                  {required(objects_field("Object numbers.")),
                   quantity("offset", &Step::offset, {Unit::size, 0, write_offset_max}, "First byte."),
                   required(quantity("size", &Step::size, {Unit::size, 1, write_size_max}, "How many bytes."))},
                  object_read));
    list.push_back(
        operation("object_write", "Writes a range of each object, in a transaction of its own; ENOENT, EPERM.",
                  {required(objects_field("Object numbers.")),
                   quantity("offset", &Step::offset, {Unit::size, 0, write_offset_max}, "First byte."),
                   required(quantity("size", &Step::size, {Unit::size, 1, write_size_max}, "How many bytes."))},
                  object_write));
    list.push_back(
        operation("hold_tx", "Joins the open txg and stays, so that it cannot be synced.", {held_name()}, hold_tx));
    list.push_back(operation("quiesce", "Asks for the open txg to be synced; goes on as soon as the next one is open.",
                             {}, quiesce));
    list.push_back(operation("release_tx", "Ends what hold_tx began.",
                             {held_name(), flag("wait", &Step::wait, "Go on only when its txg is on disk.")},
                             release_tx));
    list.push_back(operation(
        "next_offset", "Asks dnode_next_offset of the meta-dnode; ESRCH is counted as an error.",
        {flags_field(),
         quantity("offset", &Step::offset, {Unit::size, 0, INT64_MAX}, "Where the search begins, in bytes."),
         number("minlvl", &Step::minlvl, {Unit::plain, 0, 7}, "Level of the lowest pointers looked at."),
         number("blkfill", &Step::blkfill, {Unit::plain, 0, UINT32_MAX}, "Fill below which a block has room."),
         number("txg", &Step::txg, {Unit::plain, 0, INT64_MAX}, "Only what was born after this txg.")},
        next_offset));
    return list;
}

} // namespace scenarios
