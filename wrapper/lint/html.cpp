// Markup only: every number comes from the facts, every text goes through escape_html().

#include "wrapper/lint/html.h"

#include "wrapper/lint/kernel_names.h"
#include "wrapper/lint/names.h"
#include "wrapper/lint/picture.h"

#include "analysis/lint/times.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace ptxasw::wrapper {
namespace {

using facts::Access;
using facts::Count;
using facts::KernelFacts;
using facts::Verdict;

/// Bytes of a page: what a browser shows in a moment. What is beyond it is counted.
constexpr std::size_t largest_page = 2'000'000;
constexpr std::size_t page_end = 20'000; ///< that are kept for closing tags and the last sentence
/// Lines of a source around those that a kernel comes from, and where a gap is left out.
constexpr std::uint32_t lines_around = 1;

constexpr std::string_view style = R"(<style>
:root { --ink: #1b1f24; --paper: #fff; --faint: #6a737d; --rule: #d0d7de; --lane: #0969da; --bad: #cf222e;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --faint: #8b949e; --rule: #30363d; --lane: #58a6ff; --bad: #ff7b72; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  padding: 1em; max-width: 72em; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin-bottom: .8em; } table { border-collapse: collapse; }
td, th { border-bottom: 1px solid var(--rule); padding: .2em .6em; text-align: left; vertical-align: top;
  overflow-wrap: normal; }
code, pre { font: 13px/1.4 ui-monospace, monospace; } pre { overflow-x: auto; margin: .3em 0; }
summary { cursor: pointer; } summary:focus-visible, a:focus-visible, .wide:focus-visible { outline: 2px solid var(--lane); }
a { color: var(--lane); } .source td { border: 0; padding: 0 .6em; } .source summary { white-space: pre; } .source td > pre { margin: 0; padding-left: 1.1em; }
.number { text-align: right; } .faint { color: var(--faint); } .bad { color: var(--bad); }
@media (max-width: 40em) { td, th { padding: .2em .25em; } td code { overflow-wrap: anywhere; } }
figure { margin: 0; } svg { width: 100%; max-width: 60em; min-width: 30em; height: auto; display: block; }
svg text { font: 9px sans-serif; text-anchor: middle; fill: var(--ink); }
svg rect { fill: none; stroke: var(--faint); } svg .lane rect { stroke: var(--lane); }
svg .clash rect { stroke: var(--bad); stroke-width: 2; } svg .wire { stroke: var(--lane); stroke-opacity: .45; }
</style>
)";

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
  return result;
}

std::string document(std::string_view title, std::string_view body) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
                     "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>{0}</title>\n{1}</head><body>\n<h1>{0}</h1>\n{2}</body></html>\n",
                     escape_html(title), style, body);
}

std::string text_of(const Count &count, std::uint32_t ideal) {
  if (count.verdict == Verdict::unknown)
    return fmt::format("<span class=\"faint\">unknown, at most {}</span>", count.most);
  const std::string number = count.least == count.most
                                 ? fmt::format("{}", count.most)
                                 : fmt::format("{} to {}", count.least, count.most);
  return fmt::format("<span{}>{} of {}</span> <span class=\"faint\">{}</span>",
                     count.typical > ideal ? " class=\"bad\"" : "", number, ideal,
                     to_string(count.verdict));
}

/// A scrollable stretch: the keyboard has to get there, too.
std::string wide(std::string_view label, std::string_view content) {
  return fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">{}</div>",
                     label, content);
}

class Page {
public:
  Page(const Places &places, Sources &sources, const std::string &file)
      : places_(places), sources_(sources), file_(file) {}

  std::string where(const Instruction &instruction) {
    const auto place = places_.of(instruction);
    return escape_html(place ? shown(*place) : fmt::format("{}:{}", file_, instruction.line));
  }

  void add(const KernelLint &kernel, const KernelExplanation *explained) {
    const KernelFacts &facts = *kernel.facts;
    names_.emplace(facts.function(), places_, sources_);
    if (!facts.complete()) {
      text_ += "<p>Not followed: too large, or a branch whose targets are not known.</p>\n";
      return;
    }
    const auto &block = facts.launch().block;
    text_ += block ? fmt::format("<p>Blocks of {} x {} x {} threads.</p>\n", block->x, block->y,
                                 block->z)
                   : std::string("<p>Blocks of any shape whose rows are whole warps.</p>\n");
    add_warnings(kernel);
    add_source(facts);
    add_loops(facts, no_index);
    add_accesses(kernel, explained);
  }

  std::string finish(const std::string &name) {
    if (left_out_ > 0)
      text_ += fmt::format("<p>{} more warnings, lines and accesses are left out: a page has at "
                           "most 2 MB.</p>\n",
                           left_out_);
    return document(name, fmt::format("<p><a href=\"index.html\">all kernels</a> <span "
                                      "class=\"faint\">{}</span></p>\n",
                                      escape_html(file_)) +
                              text_);
  }

private:
  /// A text with parameters as the source calls them.
  std::string in_words(const std::string &text) const {
    return escape_html(names_->in_words(text));
  }

  /// A place as it is called from the current directory.
  static std::string shown(Place place) {
    place.file = shown_path(place.file);
    return to_string(place);
  }

  /// Returns true if there is no room for so many bytes.
  bool is_full(std::size_t bytes = 0) const {
    return text_.size() + bytes + page_end > largest_page;
  }

  void add_warnings(const KernelLint &kernel) {
    if (kernel.warnings.empty()) {
      text_ += "<p>No warnings.</p>\n";
      return;
    }
    text_ += "<h3>Warnings</h3>\n<ul>\n";
    for (const Told &told : kernel.warnings) {
      if (is_full()) {
        ++left_out_;
        continue;
      }
      text_ += fmt::format(
          "<li><code>{}</code> <span class=\"bad\">{}</span>: {}<br><span "
          "class=\"faint\">{}</span>",
          escape_html(told.source ? shown(*told.source) : fmt::format("{}:{}", file_, told.line)),
          lint::info(told.code).name, in_words(told.message), in_words(told.note));
      if (told.source)
        if (const std::string line = sources_.line(*told.source); !line.empty())
          text_ += fmt::format("<pre>{}</pre>", escape_html(line));
      text_ += "</li>\n";
    }
    text_ += "</ul>\n";
  }

  /// What a line of a source became.
  struct SourceLine {
    std::vector<const Instruction *> instructions;
    std::vector<const Access *> accesses;
    bool lanes_part = false;
    double cost = 0; ///< sectors and wavefronts of a warp, in all iterations of loops
  };
  using SourceLines = std::map<std::uint32_t, SourceLine>;

  std::map<std::string, SourceLines> lines_of(const KernelFacts &facts) const {
    std::map<std::string, SourceLines> files;
    const auto &instructions = facts.function().instructions;
    const auto line_of = [&](std::uint32_t number) -> SourceLine * {
      const auto place = places_.of(instructions[number]);
      return place && place->line > 0 ? &files[place->file][place->line] : nullptr;
    };
    for (std::uint32_t i = 0; i < instructions.size(); ++i)
      if (SourceLine *line = line_of(i))
        line->instructions.push_back(&instructions[i]);
    lint::Times times(facts);
    for (const Access &access : facts.accesses())
      if (SourceLine *line = line_of(access.site.instruction);
          line && (access.space == StateSpace::global || access.space == StateSpace::shared)) {
        line->accesses.push_back(&access);
        line->cost +=
            cost_of(facts, access).first * rounds_of(facts, access.site.instruction, times);
      }
    for (const facts::Branch &branch : facts.branches())
      if (branch.parting != facts::Parting::never && branch.parting != facts::Parting::at_edge)
        if (SourceLine *line = line_of(branch.instruction))
          line->lanes_part = true;
    return files;
  }

  /// Sectors or wavefronts of a warp, as they usually are, and as few as would do.
  static std::pair<std::uint32_t, std::uint32_t> cost_of(const KernelFacts &facts,
                                                         const Access &access) {
    const facts::Traffic &traffic = facts.traffic(access);
    const bool shared = access.space == StateSpace::shared;
    const Count &count = shared ? traffic.wavefronts : traffic.sectors;
    return {count.verdict == Verdict::unknown ? count.most : std::max(count.typical, count.least),
            shared ? traffic.ideal_wavefronts : traffic.ideal_sectors};
  }

  /// What the accesses of a line cost, copies of one counted: `32 of 4 sectors (4 times)`.
  static std::string costs_of(const KernelFacts &facts, const SourceLine &line) {
    std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, unsigned> copies;
    for (const Access *access : line.accesses) {
      const auto [cost, ideal] = cost_of(facts, *access);
      ++copies[{access->space == StateSpace::shared, cost, ideal}];
    }
    std::string text;
    for (const auto &[what, count] : copies) {
      const auto [shared, cost, ideal] = what;
      text += fmt::format("{}<span{}>{} of {} {}</span>{}", text.empty() ? "" : "<br>",
                          cost > ideal ? " class=\"bad\"" : "", cost, ideal,
                          shared ? "wavefronts" : "sectors",
                          count > 1 ? fmt::format(" ({} times)", count) : "");
    }
    return text;
  }

  // The lines of each source that may be shown: their share of what all accesses move, what a warp
  // touches there, where lanes part, and the PTX that they became.
  void add_source(const KernelFacts &facts) {
    const auto files = lines_of(facts);
    double all = 0;
    for (const auto &[file, lines] : files)
      for (const auto &[number, line] : lines)
        all += line.cost;
    for (const auto &[file, lines] : files) {
      const std::vector<std::string> *const text = sources_.lines(file);
      if (!text)
        continue;
      text_ += fmt::format("<h3>{}</h3>\n", escape_html(shown_path(file)));
      std::string rows =
          "<table class=\"source\"><tr><th class=\"number\">share</th><th>a warp "
          "touches</th><th class=\"number\">line</th><th>source, and its PTX</th></tr>\n";
      std::uint32_t shown = 0; // the last line
      for (auto at = lines.begin(); at != lines.end(); ++at) {
        const auto last = static_cast<std::uint32_t>(
            std::min<std::size_t>(at->first + lines_around, text->size()));
        for (std::uint32_t number =
                 std::max(shown + 1, at->first - std::min(at->first - 1, lines_around));
             number <= last; ++number) {
          if (is_full(rows.size())) {
            ++left_out_;
            break;
          }
          if (shown != 0 && number > shown + 1)
            rows += "<tr><td></td><td></td><td></td><td class=\"faint\">...</td></tr>\n";
          const auto found = lines.find(number);
          rows += source_row(facts, number, (*text)[number - 1],
                             found == lines.end() ? nullptr : &found->second, all);
          shown = number;
        }
      }
      text_ += wide("source", rows + "</table>") + '\n';
    }
  }

  static std::string source_row(const KernelFacts &facts, std::uint32_t number,
                                const std::string &source, const SourceLine *line, double all) {
    std::string text = fmt::format("<code>{}</code>", escape_html(source));
    if (!line)
      return fmt::format("<tr><td></td><td></td><td class=\"number faint\">{}</td><td><pre>{}</pre>"
                         "</td></tr>\n",
                         number, text);
    std::string ptx;
    for (const Instruction *instruction : line->instructions)
      ptx += escape_html(facts.module().text(instruction->span)) + '\n';
    std::string costs = costs_of(facts, *line);
    if (line->lanes_part)
      costs += fmt::format("{}lanes part", costs.empty() ? "" : "<br>");
    const std::string share =
        all > 0 && line->cost > 0 ? fmt::format("{:.0f} %", 100 * line->cost / all) : std::string();
    return fmt::format(
        "<tr><td class=\"number\">{}</td><td>{}</td><td class=\"number faint\">{}</td>"
        "<td><details><summary>{}</summary><pre>{}</pre></details></td></tr>\n",
        share, costs, number, text, ptx);
  }

  // Loops as a tree, each with what its accesses cost per iteration of a warp.
  void add_loops(const KernelFacts &facts, LoopId parent) {
    const ControlFlowGraph &cfg = facts.cfg();
    bool any = false;
    for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
      if (cfg.loops()[loop].parent != parent || is_full())
        continue;
      if (!any)
        text_ += parent == no_index ? "<h3>Loops</h3>\n<ul>\n" : "<ul>\n";
      any = true;
      std::uint64_t sectors = 0, wavefronts = 0;
      for (const Access &access : facts.accesses())
        if (access.loop == loop) {
          const facts::Traffic &traffic = facts.traffic(access);
          sectors += access.space == StateSpace::global ? traffic.sectors.most : 0;
          wavefronts += access.space == StateSpace::shared ? traffic.wavefronts.most : 0;
        }
      std::string exits;
      for (const facts::Branch &branch : facts.branches())
        if (branch.leaves != no_index && branch.loop == loop)
          exits += fmt::format("{}{}", exits.empty() ? "" : ", ", to_string(branch.parting));
      const BasicBlock &header = cfg.blocks()[cfg.loops()[loop].header];
      const std::string place = header.first < facts.function().instructions.size()
                                    ? where(facts.function().instructions[header.first])
                                    : std::string();
      text_ += fmt::format("<li><code>{}</code>: at most {} sectors and {} wavefronts an iteration "
                           "of a warp; lanes part at its exits: {}\n",
                           place, sectors, wavefronts, exits.empty() ? "unknown" : exits);
      add_loops(facts, loop);
      text_ += "</li>\n";
    }
    if (any)
      text_ += "</ul>\n";
  }

  /// A row of the table of accesses, for all copies that are told alike.
  struct AccessRow {
    std::string place, what, cost, stride;
    unsigned loops = 0, times = 1;
    bool operator<(const AccessRow &other) const {
      return std::tie(place, what, cost, stride, loops) <
             std::tie(other.place, other.what, other.cost, other.stride, other.loops);
    }

    std::string text() const {
      return fmt::format("<tr><td><code>{}</code></td><td>{}{}</td><td>{}</td><td>{}</td><td>{}"
                         "</td></tr>\n",
                         place, what, times > 1 ? fmt::format(" ({} times)", times) : "", cost,
                         stride, loops);
    }
  };

  void add_accesses(const KernelLint &kernel, const KernelExplanation *explained) {
    const KernelFacts &facts = *kernel.facts;
    text_ += "<h3>Accesses</h3>\n";
    std::vector<AccessRow> table;
    std::map<AccessRow, std::size_t> copies; // by the row, as it is with none
    std::set<std::uint32_t> warned;
    for (const Told &told : kernel.warnings)
      warned.insert(told.line);
    std::multimap<std::uint32_t, const LoadExplanation *> loads; // by line
    if (explained)
      for (const LoadExplanation &load : explained->loads)
        loads.emplace(load.line, &load);
    std::string details;
    std::size_t size = 0;
    for (const Access &access : facts.accesses()) {
      const Instruction &instruction = facts.function().instructions[access.site.instruction];
      if (access.space != StateSpace::global && access.space != StateSpace::shared &&
          access.space != StateSpace::local)
        continue;
      if (is_full(size + details.size())) {
        ++left_out_;
        continue;
      }
      const facts::Traffic &traffic = facts.traffic(access);
      const bool shared = access.space == StateSpace::shared;
      const std::string what = fmt::format("{} {}, {} bytes", to_string(access.space),
                                           to_string(access.site.kind), access.site.bytes);
      const std::string cost =
          shared ? "wavefronts " + text_of(traffic.wavefronts, traffic.ideal_wavefronts)
          : access.space == StateSpace::global
              ? "sectors " + text_of(traffic.sectors, traffic.ideal_sectors)
              : std::string("interleaved by thread");
      const std::string stride = lint::stride_text(facts, access);
      AccessRow row{where(instruction), what, cost, in_words(stride.empty() ? "-" : stride),
                    access.loop_depth};
      const auto [known, is_new] = copies.try_emplace(row, table.size());
      if (is_new) {
        size += row.text().size();
        table.push_back(std::move(row));
      } else {
        ++table[known->second].times;
      }
      const std::string one =
          detail(facts, access, instruction, what, loads, warned.contains(instruction.line));
      if (is_full(size + details.size() + one.size()))
        ++left_out_;
      else
        details += one;
    }
    std::string rows = "<table><tr><th>place</th><th>what</th><th>cost per warp</th><th>bytes to "
                       "the next lane</th><th>loops</th></tr>\n";
    for (const AccessRow &row : table)
      rows += row.text();
    text_ += wide("accesses", rows + "</table>") + '\n' + details;
  }

  std::string detail(const KernelFacts &facts, const Access &access, const Instruction &instruction,
                     const std::string &what,
                     const std::multimap<std::uint32_t, const LoadExplanation *> &loads,
                     bool open) {
    std::string text = fmt::format("<details{}><summary><code>{}</code> {}</summary>\n",
                                   open ? " open" : "", where(instruction), what);
    if (const auto place = places_.of(instruction))
      if (const std::string line = sources_.line(*place); !line.empty())
        text += fmt::format("<pre>{}</pre>\n", escape_html(line));
    text += fmt::format("<pre>{}</pre>\n", escape_html(facts.module().text(instruction.span)));
    if (access.address)
      text += fmt::format("<p>address <code>{}</code></p>\n",
                          in_words(lint::readable(facts.emulation().pool(), access.address)));
    if (const std::string picture = access_picture(facts, access); !picture.empty())
      text += wide("picture", picture) + '\n';
    const auto [first, last] = loads.equal_range(instruction.line);
    for (auto load = first; load != last; ++load)
      text += fmt::format("<p>reuse: {}</p>\n", escape_html(reuse_text(*load->second)));
    return text + "</details>\n";
  }

  static std::string reuse_text(const LoadExplanation &load) {
    if (!load.delta)
      return fmt::format("none ({}: {})", to_string(load.reason),
                         load.detail.empty() ? describe(load.reason) : load.detail);
    if (*load.delta == 0)
      return fmt::format("the thread has read it in line {} of the PTX", load.source_line);
    return fmt::format("lane {:+} has read it in line {} of the PTX; a shuffle could pass it on",
                       *load.delta, load.source_line);
  }

  const Places &places_;
  Sources &sources_;
  const std::string file_;
  std::optional<KernelNames> names_; ///< of the kernel
  std::string text_;
  std::size_t left_out_ = 0; ///< rows and pictures for which there is no room
};

} // namespace

std::string kernel_page(const KernelLint &kernel, const Places &places,
                        const std::vector<KernelExplanation> &explained, Sources &sources,
                        const std::string &file) {
  Page page(places, sources, file);
  const auto found =
      std::find_if(explained.begin(), explained.end(),
                   [&](const KernelExplanation &e) { return e.name == kernel.name; });
  page.add(kernel, found == explained.end() ? nullptr : &*found);
  return page.finish(demangled(kernel.name));
}

std::string index_page(std::vector<IndexEntry> pages) {
  std::stable_sort(pages.begin(), pages.end(), [](const IndexEntry &a, const IndexEntry &b) {
    return std::tuple(a.excess, a.warnings) > std::tuple(b.excess, b.warnings);
  });
  std::string rows = "<table>\n<tr><th>kernel</th><th class=\"number\">warnings</th><th "
                     "class=\"number\">excess</th><th>what</th><th>input</th></tr>\n";
  std::size_t left_out = 0;
  for (const IndexEntry &one : pages) {
    if (rows.size() + page_end > largest_page) {
      ++left_out;
      continue;
    }
    std::string what;
    for (const auto &[code, count] : one.codes)
      what += fmt::format("{}{}{}", what.empty() ? "" : ", ", lint::info(code).name,
                          count > 1 ? fmt::format(" ({})", count) : "");
    rows += fmt::format("<tr><td><a href=\"{}\">{}</a></td><td class=\"number\">{}</td><td "
                        "class=\"number\">{}</td><td>{}</td><td>{}</td></tr>\n",
                        escape_html(one.page), escape_html(demangled(one.kernel)), one.warnings,
                        one.excess >= wrong_weight ? "wrong" : fmt::format("{:.0f}", one.excess),
                        what, escape_html(one.input));
  }
  std::string text =
      wide("kernels", rows + "</table>") +
      "\n<p class=\"faint\">Excess: sectors and wavefronts beyond what would do, of a "
      "warp that runs the kernel once; a loop of unknown length counts 32 "
      "rounds. Wrong: it faults, or races.</p>\n";
  if (left_out > 0)
    text +=
        fmt::format("<p>{} more kernels are left out: a page has at most 2 MB.</p>\n", left_out);
  return document("kernels", text);
}

} // namespace ptxasw::wrapper
