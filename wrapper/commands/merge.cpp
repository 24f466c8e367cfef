// `ptxasw merge`: what shards of one run printed as JSON, as the whole run would have printed it.
//
// Shards follow one another in order, so arrays are concatenated. What is called `totals` is
// counted, and added up; of verdicts the worst is that of the whole. Everything else describes the
// run and has to be the same in all of them. Profiles of `ptxasw tune`
// are put together entry by entry.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"
#include "wrapper/launch/profile.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw merge` was asked.
struct MergeRequest {
  std::vector<std::string> files;
  bool lines = false; ///< print one line instead of indented text
};

/// Adds the numbers of `part` to those of `whole`; what is wrong, or nothing.
std::string add_up(Json &whole, const Json &part) {
  if (!whole.is_object() || !part.is_object())
    return "`totals` is not an object";
  for (const auto &[key, value] : part.items()) {
    if (!value.is_number() || (whole.contains(key) && !whole[key].is_number()))
      return fmt::format("`totals` has something that is no number: `{}`", key);
    if (!whole.contains(key))
      whole[key] = value;
    else if (value.is_number_float() || whole[key].is_number_float())
      whole[key] = whole[key].get<double>() + value.get<double>();
    else
      whole[key] = whole[key].get<std::int64_t>() + value.get<std::int64_t>();
  }
  return "";
}

/// The worse of two verdicts of `ptxasw verify`; nothing if one of them is none.
std::optional<Json> worse(const Json &a, const Json &b) {
  constexpr std::string_view from_best[] = {"agree", "not-exercised", "not-comparable", "differ"};
  const auto rank = [&](const Json &verdict) {
    return std::find(std::begin(from_best), std::end(from_best),
                     verdict.is_string() ? verdict.get_ref<const std::string &>() : "");
  };
  if (rank(a) == std::end(from_best) || rank(b) == std::end(from_best))
    return std::nullopt;
  return rank(a) < rank(b) ? b : a;
}

/// Puts `part` behind `whole`; what is wrong, or nothing.
std::string append(Json &whole, const Json &part) {
  for (const auto &[key, value] : part.items()) {
    if (!whole.contains(key))
      return fmt::format("`{}` is in one and not in the other", key);
    Json &before = whole[key];
    if (key == "totals") {
      if (std::string wrong = add_up(before, value); !wrong.empty())
        return wrong;
    } else if (const auto verdict = worse(before, value); key == "verdict" && verdict) {
      before = *verdict;
    } else if (before.is_array() && value.is_array()) {
      before.insert(before.end(), value.begin(), value.end());
    } else if (before != value) {
      return fmt::format("`{}` is {} in one and {} in the other", key, before.dump(), value.dump());
    }
  }
  for (const auto &[key, value] : whole.items())
    if (!part.contains(key))
      return fmt::format("`{}` is in one and not in the other", key);
  return "";
}

/// The documents of a file, in order.
bool read_documents(const std::string &path, std::vector<Json> &documents) {
  const auto text = read_input(path);
  if (!text) {
    complain(text.error());
    return false;
  }
  std::istringstream stream{std::string(*text)};
  const std::size_t before = documents.size();
  while (stream >> std::ws && !stream.eof()) {
    Json document;
    try {
      stream >> document;
    } catch (const Json::parse_error &error) {
      complain(fmt::format("{}: {}", path, error.what()));
      return false;
    }
    if (!document.is_object()) {
      complain(fmt::format("{}: a JSON object is expected", path));
      return false;
    }
    documents.push_back(std::move(document));
  }
  if (documents.size() == before)
    complain(fmt::format("{}: there is no JSON in it", path));
  return documents.size() > before;
}

/// Profiles: of what is in several of them the last counts.
int merge_profiles(const MergeRequest &request) {
  launch::Profile whole;
  for (const std::string &path : request.files) {
    const auto text = read_input(path);
    if (!text)
      return complain(text.error());
    const auto part = launch::parse_profile(*text, path);
    if (!part)
      return complain(part.error());
    whole.merge(*part);
  }
  fmt::print("{}", to_toml(whole));
  return 0;
}

int run(const MergeRequest &request, const Invocation &) {
  if (std::all_of(request.files.begin(), request.files.end(),
                  [](const std::string &file) { return file.ends_with(".toml"); }))
    return merge_profiles(request);
  std::vector<Json> documents;
  for (const std::string &path : request.files) {
    const std::size_t first = documents.size();
    if (!read_documents(path, documents))
      return exit_code::failed;
    for (std::size_t i = std::max<std::size_t>(first, 1); i < documents.size(); ++i)
      if (const std::string wrong = append(documents[0], documents[i]); !wrong.empty())
        return complain(fmt::format("{}: not a shard of the same run: {}", path, wrong));
  }
  fmt::print("{}\n",
             documents[0].dump(request.lines ? -1 : 2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

void declare(Words &words, MergeRequest &request) {
  words.required_list(
      "files", request.files,
      "JSON that the shards printed, in order, - for standard input; or profiles (.toml)");
  words.flag("--line", request.lines, "in one line");
  words.footer("Arrays are put one behind the other, `totals` are added up, of verdicts the worst "
               "counts,\neverything else must be the same.\n"
               "Text needs no command: cat puts it together.");
  words.examples(
      {"ptxasw merge 1.json 2.json > all.json", "ptxasw merge 1.toml 2.toml > all.toml"});
}

} // namespace

const Command merge_command = {"merge", "join the output of the shards of a run",
                               bind<MergeRequest, declare, run>};

} // namespace ptxasw::wrapper
