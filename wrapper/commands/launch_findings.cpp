// Each process writes a file of its own, whole or not at all (wrapper/launch/choices.cpp).

#include "wrapper/commands/launch_findings.h"

#include "wrapper/os/files.h"

#include <algorithm>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string key_of(const Json &choice) {
  std::string key;
  for (const char *part : {"kernel", "hash", "gpu", "block", "threads", "among"})
    key += choice.at(part).dump() + "\n";
  return key + numbers_of(choice).dump();
}

void add(LaunchFindings &findings, const Json &process) {
  for (const auto &[name, count] : process.at("outcomes").items())
    findings.outcomes[name] += count.get<std::uint64_t>();
  if (const auto why = process.at("off").get<std::string>(); !why.empty())
    findings.off.push_back(why);
  for (const Json &choice : process.at("choices")) {
    const auto [place, is_new] = findings.choices.try_emplace(key_of(choice), choice);
    if (is_new)
      continue;
    Json &before = place->second;
    const std::uint64_t launches =
        before["launches"].get<std::uint64_t>() + choice.at("launches").get<std::uint64_t>();
    const std::uint64_t redirected =
        before["redirected"].get<std::uint64_t>() + choice.at("redirected").get<std::uint64_t>();
    // What a process has measured says more than what it was told.
    if (!before["decided"].get<bool>() ||
        (choice.at("decided").get<bool>() && before["from_profile"].get<bool>() &&
         !choice.at("from_profile").get<bool>()))
      before = choice;
    before["launches"] = launches;
    before["redirected"] = redirected;
  }
  for (const Json &kernel : process.value("kernels", Json::array()))
    findings.kernels.push_back(kernel);
}

} // namespace

Json numbers_of(const Json &choice) { return choice.value("numbers", Json::array()); }

LaunchFindings collect_findings(const fs::path &directory) {
  std::vector<fs::path> files;
  std::error_code error; // the program may have cleared its directory for temporary files
  for (fs::directory_iterator one(directory, error), end; !error && one != end;
       one.increment(error))
    if (one->path().extension() == ".json")
      files.push_back(one->path());
  std::sort(files.begin(), files.end());
  LaunchFindings findings;
  findings.are_gone = error && files.empty();
  for (const fs::path &file : files) {
    const Json process = Json::parse(read_regular_file(file.string()).value_or(""), nullptr, false);
    try {
      LaunchFindings alone; // which is where what is no helper's turns out to be none
      for (int i = 0; i < 2; ++i)
        add(alone, process);
      add(findings, process);
    } catch (const Json::exception &) {
    }
  }
  return findings;
}

const Json *version_of(const Json &choice, const std::string &name) {
  for (const Json &version : choice.at("versions"))
    if (version.at("name") == name)
      return &version;
  return nullptr;
}

launch::Profile profile_of(const LaunchFindings &findings, bool with_open) {
  launch::Profile profile;
  for (const auto &[key, choice] : findings.choices) {
    const bool is_open = !choice.at("decided").get<bool>();
    const bool is_known = choice.at("from_profile").get<bool>();
    // Of what a profile said the cache alone learns how it goes on.
    const bool is_checked = choice.contains("pairs_us") || choice.contains("reverted_runs");
    if ((is_known && !(is_checked && with_open)) || (is_open && !with_open))
      continue;
    launch::ProfileEntry entry;
    entry.kernel = choice.at("kernel").get<std::string>();
    entry.hash = choice.at("hash").get<std::string>();
    entry.gpu = choice.at("gpu").get<std::string>();
    entry.shape.block = choice.at("block").get<std::array<std::uint32_t, 3>>();
    entry.shape.threads = choice.at("threads").get<std::uint32_t>();
    entry.shape.numbers = numbers_of(choice).get<std::vector<std::array<std::uint32_t, 2>>>();
    entry.shape.among = choice.at("among").get<std::vector<std::string>>();
    entry.chosen = choice.at("chosen").get<std::string>();
    entry.in_graphs = choice.value("in_graphs", std::string(launch::original_word));
    if (is_open) {
      entry.chosen = choice.value("candidate", std::string(launch::original_word));
      entry.budget_us = choice.value("budget_us", 0.0);
      entry.in_runs = choice.value("in_runs", false);
      std::vector<std::string> names = {std::string(launch::original_word)};
      names.insert(names.end(), entry.shape.among.begin(), entry.shape.among.end());
      for (const std::string &name : names)
        if (const Json *const version = version_of(choice, name))
          entry.open.push_back(version->at("samples_us").get<std::vector<double>>());
      if (entry.open.size() != names.size())
        continue;
    }
    if (const Json *const original = version_of(choice, std::string(launch::original_word)))
      entry.original_us = original->at("us").get<double>();
    if (const Json *const chosen = version_of(choice, entry.chosen))
      entry.chosen_us = chosen->at("us").get<double>();
    if (is_known) {
      entry.original_us = choice.at("original_us").get<double>();
      entry.chosen_us = choice.at("chosen_us").get<double>();
    }
    entry.pairs_us = choice.value("pairs_us", entry.pairs_us);
    entry.reverted_runs = choice.value("reverted_runs", entry.reverted_runs);
    profile.entries.push_back(std::move(entry));
  }
  return profile;
}

Scratch::Scratch(const std::string &name) {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  const fs::path whole = error ? fs::path() : fs::absolute(place, error);
  std::string text = (whole / (name + "-XXXXXX")).string();
  if (!error && ::mkdtemp(text.data()))
    path = text;
}

Scratch::~Scratch() {
  if (!path.empty())
    remove_directory(path.string());
}

} // namespace ptxasw::wrapper
