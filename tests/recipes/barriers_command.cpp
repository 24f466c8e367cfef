// `barriers INPUT`: what the toy analysis says.

#include "recipes/barriers.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

struct BarriersRequest {
  std::string input;
};

int run(const BarriersRequest &request, const Invocation &) {
  const auto module = load_module(request.input);
  if (!module)
    return 1;
  for (const Function &function : module->functions)
    if (function.has_body)
      fmt::print("{}: {}\n", function.name, count_barriers(*module, function));
  return 0;
}

void declare(Words &words, BarriersRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
}

} // namespace

extern const Command barriers_command;
const Command barriers_command = {"barriers", "count the barriers of each function",
                                  bind<BarriersRequest, declare, run>};

} // namespace ptxasw::wrapper
