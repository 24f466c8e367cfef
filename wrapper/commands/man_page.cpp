// Man pages, written in the macros of man(7) that both groff and mandoc know. Two characters mean
// something to them anywhere, the backslash and the dash; a dot or a quote only begins a request at
// the start of a line, where an empty `\&` goes in front.

#include "wrapper/commands/man_page.h"

#include "wrapper/settings/settings.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

std::string escape_roff(std::string_view text) {
  std::string out;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == ',' || c == '|')
      out += std::string{c} + "\\:"; // a long list may be broken there
    else
      out += c;
    starts_line = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// A sentence of a help text starts small and has no full stop.
std::string sentence(std::string_view text) {
  std::string out = escape_roff(text);
  return out.empty() || out.back() == '.' ? out : out + ".";
}

std::string header(const std::string &title, std::string_view summary) {
  // Left-adjusted: a list of choices that is broken has no spaces to stretch.
  return fmt::format(".TH {} 1 \"\" \"ptxasw {}\" \"User Commands\"\n.ad l\n.SH NAME\n{} \\- {}\n",
                     escape_roff(upper(title)), PTXASW_VERSION, escape_roff(title),
                     escape_roff(summary));
}

/// `\fB\-v\fR, \fB\-\-verbose\fR \fIVALUE\fR`, or the value alone if it is known by its place.
std::string tag(const OptionDescription &option) {
  std::string out;
  for (const std::string &name : option.names)
    out += (out.empty() ? "\\fB" : ", \\fB") + escape_roff(name) + "\\fR";
  if (!option.value.empty())
    out += (out.empty() ? "\\fI" : " \\fI") + escape_roff(option.value) + "\\fR";
  return out;
}

std::string list_entry(const std::string &tag, const std::string &text) {
  return fmt::format(".TP\n{}\n{}\n", tag, text);
}

std::string option_entry(const OptionDescription &option) {
  std::string text = sentence(option.meaning);
  if (!option.limits.empty())
    text += fmt::format(" From {}.", escape_roff(option.limits));
  if (!option.standard.empty())
    text += fmt::format(" Default: {}.", escape_roff(option.standard));
  if (option.repeatable && !option.names.empty() && text.find("repeated") == std::string::npos)
    text += " May be repeated.";
  return list_entry(tag(option), text);
}

std::string synopsis(const CommandDescription &command) {
  std::string out =
      fmt::format(".SH SYNOPSIS\n\\fBptxasw {}\\fR [\\fIOPTIONS\\fR]", escape_roff(command.name));
  for (const OptionDescription &option : command.options) {
    if (option.names.empty())
      out += (option.required ? " " + tag(option) : " [" + tag(option) + "]") +
             (option.repeatable ? " ..." : "");
    else if (option.required)
      out += " " + tag(option);
  }
  return out + (command.runs_another ? " \\-\\- \\fICOMMAND\\fR [\\fIWORDS\\fR ...]\n" : "\n");
}

std::string settings_entries() {
  std::string out;
  for (const SettingSpec &spec : setting_table())
    out += list_entry(fmt::format("\\fB\\-\\-ptxasw\\-{}\\fR, \\fB{}\\fR, \\fB{}\\fR \\fI{}\\fR",
                                  escape_roff(spec.name), environment_name(spec),
                                  escape_roff(spec.name), escape_roff(spec.values)),
                      sentence(spec.meaning));
  return out;
}

constexpr char drop_in_words[] =
    "Started under the name \\fBptxas\\fR it takes the place of NVIDIA's "
    "assembler: it reads the PTX, rewrites "
    "what it can show\nto be right and worth it, and hands the result to "
    "the real one. If anything is in doubt, "
    "the real one gets the original.\n";

constexpr char files[] =
    ".SH FILES\n"
    ".TP\n\\fIptxasw.toml\\fR\nsettings of a project, in the current directory or above it\n"
    ".TP\n\\fI$XDG_CONFIG_HOME/ptxasw/ptxasw.toml\\fR\nyour settings\n";

} // namespace

std::string man_page(const std::vector<CommandDescription> &commands) {
  const CommandDescription &all = commands.front();
  std::string out =
      header("ptxasw", "find out why a CUDA kernel is slow, and run a faster version of it");
  out += ".SH SYNOPSIS\n\\fBptxasw\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n\\fBptxas\\fR "
         "[\\fIOPTIONS\\fR] "
         "\\fIFILE\\fR\n.SH DESCRIPTION\n";
  out += sentence(all.summary) + "\n.PP\n" + drop_in_words + ".SH COMMANDS\n";
  for (std::size_t i = 1; i < commands.size(); ++i)
    out += list_entry(fmt::format("\\fB{}\\fR, see \\fBptxasw\\-{}\\fR(1)",
                                  escape_roff(commands[i].name), escape_roff(commands[i].name)),
                      sentence(commands[i].summary));
  out += ".SH OPTIONS\n";
  for (const OptionDescription &option : all.options)
    out += option_entry(option);
  out +=
      ".SH SETTINGS\nEach as a flag to \\fBptxas\\fR, a variable of the environment and a key in "
      "\\fIptxasw.toml\\fR; the first beats the\nsecond, and that beats the third.\n";
  return out + settings_entries() + files + ".SH SEE ALSO\n\\fBnvcc\\fR(1)\n";
}

std::string man_page(const CommandDescription &command) {
  std::string out =
      header("ptxasw-" + command.name, command.summary) + synopsis(command) + ".SH OPTIONS\n";
  for (const OptionDescription &option : command.options)
    out += option_entry(option);
  if (!command.footer.empty())
    out += ".SH NOTES\n" + sentence(command.footer) + "\n";
  return out + ".SH SEE ALSO\n\\fBptxasw\\fR(1)\n";
}

} // namespace ptxasw::wrapper
