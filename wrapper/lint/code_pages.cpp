// The pages are those of docs/lint-codes, which the build puts into a header: what the program says
// and what is to be read are one text. Here its markup becomes lines for a terminal.

#include "wrapper/lint/code_pages.h"

#include "wrapper/lint/lint_code_pages.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::wrapper {
namespace {

constexpr std::size_t page_width = 80;

/// The text of a page, without its heading.
std::string_view page_of(std::string_view name) {
  const std::string title = fmt::format("# {}\n", name);
  for (const std::string_view page : lint_code_pages)
    if (page.starts_with(title))
      return page.substr(title.size());
  return "";
}

/// Without stars, and with the words of links alone.
std::string plain(std::string_view line) {
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool ends_link = line.substr(i).starts_with("](");
    if (ends_link)
      i = std::min(line.find(')', i), line.size());
    else if (line.substr(i).starts_with("**"))
      ++i;
    else if (const std::size_t link = line.find("](", i);
             line[i] != '[' || link == std::string_view::npos || line.find(']', i) != link)
      result += line[i];
  }
  return result;
}

/// Paragraphs in lines of the page's width, code indented.
std::string for_terminal(std::string_view text) {
  std::string result, paragraph;
  const auto close = [&] {
    std::size_t at = 0;
    while (at < paragraph.size()) {
      std::size_t end = paragraph.size();
      if (end - at > page_width)
        if (end = paragraph.rfind(' ', at + page_width); end == std::string::npos || end < at)
          end = std::min(paragraph.find(' ', at), paragraph.size());
      result += paragraph.substr(at, end - at) + '\n';
      at = end + 1;
    }
    paragraph.clear();
  };
  bool is_code = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("```")) {
      is_code = !is_code;
    } else if (is_code) {
      result += line.empty() ? "\n" : fmt::format("    {}\n", line);
    } else if (line.empty()) {
      close();
      result += '\n';
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + plain(line);
    }
  }
  close();
  while (result.ends_with("\n\n"))
    result.pop_back();
  return result;
}

} // namespace

std::string code_page(lint::Code code) {
  const lint::CodeInfo &info = lint::info(code);
  std::string text = fmt::format("{}\n{}\n", info.name, for_terminal(page_of(info.name)));
  text += info.on ? fmt::format("Switch it off: -W no-{0}, or a comment at the line of the "
                                "source:\n// ptxasw: allow({0}) why\n",
                                info.name)
          : info.by_name
              ? fmt::format("On with -W {} only: it may take seconds a kernel.\n", info.name)
              : fmt::format("Pedantic: on with -W {} or -W pedantic.\n", info.name);
  return text;
}

std::string code_url(lint::Code code) {
  return fmt::format("{}/lint-codes/{}.md", docs_url, lint::info(code).name);
}

std::string code_list() {
  std::string text;
  for (const lint::CodeInfo &info : lint::codes())
    text += fmt::format("{:<20} {:<9} {}\n", info.name,
                        info.on        ? "on"
                        : info.by_name ? "by name"
                                       : "pedantic",
                        info.meaning);
  return text + "\n`ptxasw lint --explain CODE` says more.\n";
}

} // namespace ptxasw::wrapper
