#include "scenarios/operation.h"

namespace scenarios {

// One list a file of operations.
std::vector<Operation> object_operations();
std::vector<Operation> zap_operations();
std::vector<Operation> file_operations();
std::vector<Operation> lock_operations();

const std::vector<Operation> &operations()
{
    static const std::vector<Operation> all = [] {
        std::vector<Operation> list;
        for (auto part : {object_operations, zap_operations, file_operations, lock_operations})
            for (Operation &operation : part())
                list.push_back(std::move(operation));
        return list;
    }();
    return all;
}

const Operation *find_operation(std::string_view name)
{
    for (const Operation &operation : operations())
        if (operation.name == name)
            return &operation;
    return nullptr;
}

std::vector<std::string> operation_names()
{
    std::vector<std::string> names;
    for (const Operation &operation : operations())
        names.push_back(operation.name);
    return names;
}

std::vector<Field> with_common(std::string_view op, std::vector<Field> fields)
{
    std::vector<Field> all;
    all.push_back(required(custom<Step>(
        "op", {{"const", op}}, std::string(op), "Which operation.", [](Step &, const Value &) {},
        [op = std::string(op)](const Step &) { return json(op); })));
    for (Field &field : fields)
        all.push_back(std::move(field));
    all.push_back(flag("must", &Step::must, "A refusal ends the run; otherwise it is counted and the script goes on."));
    return all;
}

} // namespace scenarios
