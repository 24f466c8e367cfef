#include "synth/rewrite.h"

#include "grammar/module.h"

namespace ptxasw {

tl::expected<RewriteResult, Diagnostic>
rewrite_module(std::string_view text, std::string_view file_name, const RewriteOptions &) {
  auto module = parse(std::string(text), file_name);
  if (!module)
    return tl::unexpected(module.error());
  RewriteResult result;
  result.text = text;
  result.report.file = file_name;
  result.report.target = (*module)->target;
  return result;
}

} // namespace ptxasw
