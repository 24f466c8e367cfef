// GCC's offloading compiler writes PTX, runs its own assembler over it and embeds the text; ptxas
// is only called there for a check whose result is thrown away. So this is the place.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/drop_in.h"

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw assemble` was asked; the assembler's own words are behind `--`.
struct AssembleRequest {
  std::string tool;
};

int run(const AssembleRequest &request, const Invocation &invocation) {
  auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error());
  return drop_in_for_gcc(request.tool, invocation.foreign, std::move(*settings));
}

void declare(Words &words, AssembleRequest &request) {
  words.required("--assembler", request.tool, "the assembler to run on the rewritten PTX");
  words.footer("`ptxasw run -- gcc` starts it; by hand it is a script called `as` that GCC finds.");
  words.examples({"ptxasw assemble --assembler nvptx-none-as -- a.s -o a.o",
                  "ptxasw assemble --assembler /usr/bin/nvptx-none-as -- \"$@\""});
}

} // namespace

const Command assemble_command = {
    "assemble", "stand in for GCC's nvptx assembler: ptxasw assemble --assembler AS -- WORDS",
    bind<AssembleRequest, declare, run>};

} // namespace ptxasw::wrapper
