// Names and numbers that nobody means well with: an errno as of the real code, or bad input with its place; never a
// crash.
#include "tests/scenarios/run_fixture.h"

#include "scenarios/input_error.h"

#include <doctest/doctest.h>

using namespace scenarios;
using namespace scenarios_test;

namespace {

// JSON escapes, a terminal's commands, characters of two and four bytes, spaces, what placeholders are made of.
const std::vector<std::string> odd_names = {
    R"(\u0001\u0002\u001f\u007f)", R"(\u001b[2J\u001b[31m)", R"(\n\r\t\b\f)", R"( )", R"(\"\\\\)",
    R"(\u00e9\u4e2d\ud83d\ude00)", R"(}}{{literally}})",     R"(-rf *)",
};

std::string named(const char *op, const std::string &where, const std::string &name)
{
    return std::string(R"({"op": ")") + op + R"(", )" + where + R"(, "name": ")" + name + R"("})";
}

std::string on_each_name(const char *op, const std::string &where)
{
    std::string steps;
    for (const std::string &name : odd_names)
        if (name.find('{') == std::string::npos)
            steps += (steps.empty() ? "" : ", ") + named(op, where, name);
    return steps;
}

// The message with which the steps are refused as input; empty: they run.
std::string refusal(const std::string &steps)
{
    try {
        run_steps(steps);
    } catch (const InputError &error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("names of control characters, quotes and letters of any script are names like others")
{
    const uint64_t names = odd_names.size() - 1; // but for the one with braces
    const std::string file = R"("dir": "d")", entry = R"("zap": "z")";
    for (const char *path : {"zpl", "dmu"}) {
        const RunResult result =
            run_steps(R"({"op": "mkdir", "dir": "d"}, )" + on_each_name("create", file) + ", " +
                          on_each_name("create", file) + ", " + on_each_name("lookup", file) + ", " +
                          R"({"op": "readdir", "dir": "d"}, )" + on_each_name("unlink", file),
                      1, {std::string("code.create_path=") + path});
        CHECK(result.end == End::completed);
        CHECK(count(result, "create") == names);
        CHECK(errors(result, "create", "EEXIST") == names);
        CHECK(count(result, "lookup") == names);
        CHECK(count(result, "unlink") == names);
    }
    const RunResult result = run_steps(R"({"op": "zap_create", "zap": "z"}, )" + on_each_name("zap_add", entry) + ", " +
                                       R"({"op": "export_import"}, )" + on_each_name("zap_lookup", entry) + ", " +
                                       R"({"op": "zap_cursor", "zap": "z"}, )" + on_each_name("zap_remove", entry));
    CHECK(result.end == End::completed);
    for (const char *op : {"zap_add", "zap_lookup", "zap_remove"})
        CHECK(count(result, op) == names);
}

TEST_CASE("an empty file name is refused by the kernel, an empty name in a ZAP is what the real code makes of it")
{
    for (const char *op : {"create", "unlink", "lookup", "stat"})
        CHECK(errors(run_steps(named(op, R"("dir": "")", "")), op, "ENOENT") == 1);

    // A microzap takes it, but its slot looks free: after the next opening it is gone.
    const std::string entry = R"("zap": "z")";
    const std::string micro = R"({"op": "zap_create", "zap": "z"}, )" + named("zap_add", entry, "") + ", " +
                              named("zap_add", entry, "") + ", " + named("zap_lookup", entry, "");
    const RunResult added = run_steps(micro);
    CHECK(count(added, "zap_add") == 1);
    CHECK(errors(added, "zap_add", "EEXIST") == 1);
    CHECK(count(added, "zap_lookup") == 1);
    const RunResult opened = run_steps(micro + R"(, {"op": "export_import"}, )" + named("zap_lookup", entry, ""));
    CHECK(errors(opened, "zap_lookup", "ENOENT") == 1);

    // The slot it shares with a later name: neither removing nor adding more of them brings anything down.
    const RunResult shared =
        run_steps(micro + R"(, {"repeat": 40, "steps": [)" + named("zap_add", entry, "n{i}") + ", " +
                  named("zap_remove", entry, "") + ", " + named("zap_add", entry, "") + R"(]}, {"op": "sync"}, )" +
                  R"({"op": "export_import"}, {"op": "zap_cursor", "zap": "z"})");
    CHECK(shared.end == End::completed);
}

TEST_CASE("a name of 255 bytes is the longest; of 256 bytes ENAMETOOLONG, or ENOENT where a microzap is only asked")
{
    const std::string longest(255, 'n'), longer(256, 'n');
    for (const char *path : {"zpl", "dmu"}) {
        const RunResult files =
            run_steps(named("create", R"("dir": "")", longest) + ", " + named("create", R"("dir": "")", longer) + ", " +
                          named("lookup", R"("dir": "")", longest) + ", " + named("unlink", R"("dir": "")", longer) +
                          ", " + named("unlink", R"("dir": "")", longest),
                      1, {std::string("code.create_path=") + path});
        CHECK(files.end == End::completed);
        CHECK(count(files, "create") == 1);
        CHECK(errors(files, "create", "ENAMETOOLONG") == 1);
        CHECK(count(files, "lookup") == 1);
        CHECK(count(files, "unlink") == 1);
    }

    const std::string entry = R"("zap": "z")";
    const RunResult zap =
        run_steps(R"({"op": "zap_create", "zap": "z"}, )" + named("zap_lookup", entry, longer) + ", " +
                  named("zap_remove", entry, longer) + ", " + named("zap_add", entry, longer) + ", " +
                  named("zap_lookup", entry, longer) + ", " + named("zap_remove", entry, longer) + ", " +
                  named("zap_add", entry, longest) + ", " + named("zap_lookup", entry, longest) +
                  R"(, {"op": "export_import"}, )" + named("zap_lookup", entry, longest));
    CHECK(zap.end == End::completed);
    CHECK(errors(zap, "zap_lookup", "ENOENT") == 1);    // still a microzap
    CHECK(errors(zap, "zap_add", "ENAMETOOLONG") == 1); // and a fat one from here on
    CHECK(errors(zap, "zap_lookup", "ENAMETOOLONG") == 1);
    CHECK(errors(zap, "zap_remove", "ENOENT") == 2);
    CHECK(count(zap, "zap_add") == 1);
    CHECK(count(zap, "zap_lookup") == 2);
}

TEST_CASE("slashes and zeros in names are EINVAL, and dots are what they always are")
{
    CHECK(errors(run_steps(named("create", R"("dir": "")", "a/b")), "create", "EINVAL") == 1);
    CHECK(errors(run_steps(named("create", R"("dir": "")", R"(a\u0000b)")), "create", "EINVAL") == 1);
    for (const char *dots : {".", ".."}) {
        CHECK(errors(run_steps(named("create", R"("dir": "")", dots)), "create", "EEXIST") == 1);
        CHECK(count(run_steps(named("lookup", R"("dir": "")", dots)), "lookup") == 1);
        CHECK(count(run_steps(named("unlink", R"("dir": "")", dots)), "unlink") == 0);
    }
    // To a ZAP a zero ends the name, as in C.
    const RunResult zap =
        run_steps(R"({"op": "zap_create", "zap": "z"}, )" + named("zap_add", R"("zap": "z")", R"(a\u0000b)") + ", " +
                  named("zap_lookup", R"("zap": "z")", "a"));
    CHECK(count(zap, "zap_lookup") == 1);
}

TEST_CASE("bytes that are no UTF-8 are bad input, wherever they stand")
{
    for (const char *bytes : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe4\xb8"})
        CHECK(refusal(named("create", R"("dir": "")", std::string("a") + bytes)).find("UTF-8") != std::string::npos);
    CHECK(refusal(named("create", R"("dir": "")", R"(\ud800)")) != "");
}

TEST_CASE("negative and fractional counts are bad input, told with their place")
{
    const auto told = [](const std::string &steps, const char *place) {
        const std::string message = refusal(steps);
        CHECK_MESSAGE(message.find(place) != std::string::npos, steps << ": " << message);
    };
    told(R"({"op": "alloc", "count": -1})", "workload.0.steps.0.count");
    told(R"({"repeat": -5, "steps": [{"op": "sync"}]})", "workload.0.steps.0.repeat");
    told(R"({"repeat": 1.5, "steps": [{"op": "sync"}]})", "workload.0.steps.0.repeat");
    told(R"({"repeat": "2 - 5", "steps": [{"op": "sync"}]})", "workload.0.steps.0.repeat");
    told(R"({"op": "zap_add", "zap": "z", "name": "n", "value": -1})", "workload.0.steps.0.value");
    told(R"({"op": "zap_add", "zap": "z", "name": "n", "values": [1, -2]})", "workload.0.steps.0.values");
    told(R"({"op": "zap_add", "zap": "z", "name": "n", "integer_size": -8})", "workload.0.steps.0.integer_size");
    told(R"({"op": "zap_lookup", "zap": "z", "name": "n", "count": -1})", "workload.0.steps.0.count");
    told(R"({"op": "object_write", "objects": [1], "offset": -1, "size": 1})", "workload.0.steps.0.offset");
    told(R"({"op": "object_write", "objects": [-1], "size": 1})", "workload.0.steps.0.objects");
    told(R"({"op": "free", "which": "all", "count": -1})", "workload.0.steps.0.count");
}
