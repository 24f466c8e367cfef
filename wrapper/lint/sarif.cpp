#include "wrapper/lint/sarif.h"

#include "wrapper/lint/names.h"
#include "wrapper/lint/sources.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {

using Json = nlohmann::ordered_json;

namespace {

// A path as a URI reference (RFC 3986): what is not unreserved or a separator as %XX; a colon of
// the first segment would begin a scheme.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

} // namespace

Json sarif_location(const Place &place) {
  Json region{{"startLine", std::max(1U, place.line)}};
  if (place.column)
    region["startColumn"] = place.column;
  const std::string path = shown_path(place.file);
  Json artifact{{"uri", uri_of(path)}};
  if (!path.starts_with('/'))
    artifact["uriBaseId"] = "SRCROOT";
  return Json{{"physicalLocation", {{"artifactLocation", artifact}, {"region", region}}}};
}

std::string sarif_text(const Json &rules, const Json &results) {
  Json driver{{"name", "ptxasw"}, {"version", PTXASW_VERSION}, {"rules", rules}};
  Json run{{"tool", {{"driver", driver}}},
           {"originalUriBaseIds",
            {{"SRCROOT", {{"description", {{"text", "where ptxasw was started"}}}}}}},
           {"columnKind", "unicodeCodePoints"},
           {"results", results}};
  return Json({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({run})}})
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

} // namespace ptxasw::wrapper
