// The versions are made of PTX, and what runs may be machine code that was shipped beside it. Both
// must be of one source: so PTX is taken only if it is for the architecture of the machine code
// that the driver chooses, or if there is none that it could. (CUDA C++ may say something else for
// each architecture.) What PTX was compiled with is noted beside it; words that change results go
// to the assembler, and where a word is not known the kernel is left alone.

#include "wrapper/faster/make.h"

#include "grammar/fat_binary.h"
#include "wrapper/faster/beside.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper::faster {
namespace {

/// A program's PTX and how it is to be assembled.
struct Source {
  std::string text;
  std::vector<std::string> words;
};

/// Returns true if the driver can run machine code on a GPU (CUDA C++ Programming Guide, "Binary
/// Compatibility"): of the same major capability and no later one, with an `a` of the very same,
/// with an `f` of the same major one.
bool runs_on(const FatImage &image, unsigned sm) {
  return image.suffix == 'a' ? image.sm == sm : image.sm / 10 == sm / 10 && image.sm <= sm;
}

/// Returns true if the driver could choose another image as well: one of the same kind and number
/// (sm_90 and sm_90a) that the GPU can run. Which one it takes is not documented.
bool is_guess(std::span<const FatImage *const> images, const FatImage &chosen, unsigned sm) {
  return std::any_of(images.begin(), images.end(), [&](const FatImage *image) {
    return image->kind == chosen.kind && image->sm == chosen.sm && image->suffix != chosen.suffix &&
           runs_on(*image, sm);
  });
}

/// Of the images of one fat binary the PTX from which the driver's choice was made. What the driver
/// was told to ignore is not among them (wrapper/launch/kept_image.h).
tl::expected<const FatImage *, Kept> choose(std::span<const FatImage *const> images, unsigned sm) {
  const FatImage *code = nullptr, *ptx = nullptr;
  const auto later = [](const FatImage &a, const FatImage *b) {
    return !b || a.sm > b->sm || (a.sm == b->sm && a.suffix > b->suffix);
  };
  for (const FatImage *image : images)
    if (image->kind == FatImage::Kind::machine_code && runs_on(*image, sm) && later(*image, code))
      code = image;
  for (const FatImage *image : images) {
    const bool fits = code            ? image->sm == code->sm && image->suffix == code->suffix
                      : image->suffix ? runs_on(*image, sm)
                                      : image->sm <= sm;
    if (image->kind == FatImage::Kind::ptx && fits && later(*image, ptx))
      ptx = image;
  }
  const FatImage *const taken = code ? code : ptx;
  if (taken && is_guess(images, *taken, sm))
    return left_alone("other-source", fmt::format("there are several images for sm_{}", taken->sm));
  if (!ptx && code)
    return left_alone("other-source",
                      fmt::format("machine code for sm_{} runs, and there is no PTX "
                                  "for it",
                                  code->sm));
  if (!ptx)
    return left_alone("no-ptx",
                      fmt::format("there is no PTX that a GPU of sm_{} would be given", sm));
  return ptx;
}

/// What of a compiler's words matters to the assembler.
tl::expected<std::vector<std::string>, Kept> words_of(std::string_view options) {
  std::vector<std::string> words, result;
  while (!options.empty()) {
    const std::string_view word = options.substr(0, options.find(' '));
    if (!word.empty()) {
      const std::size_t equals = word.starts_with('-') ? word.find('=') : word.npos;
      words.emplace_back(word.substr(0, equals));
      if (equals != word.npos)
        words.emplace_back(word.substr(equals + 1));
    }
    options.remove_prefix(std::min(word.size() + 1, options.size()));
  }
  const auto is = [](const std::string &word, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i];
    if (is(word, {"-fmad", "--fmad"}) && i + 1 < words.size()) {
      if (is(words[++i], {"false"}) && result.empty())
        result.emplace_back("--fmad=false");
    } else if (is(word, {"-arch", "--gpu-name", "-m", "--machine"}) && i + 1 < words.size()) {
      ++i;
    } else if (!is(word, {"-lineinfo", "--generate-line-info"})) {
      return left_alone("options", fmt::format("it was compiled with `{}`", word));
    }
  }
  return result;
}

tl::expected<Source, Kept> source_of(const std::string &image, unsigned sm) {
  if (!is_fat_file(image))
    return Source{image, {}};
  const auto images = read_fat_binaries(image);
  if (!images)
    return left_alone("no-ptx", images.error());
  std::vector<const FatImage *> all;
  for (const FatImage &one : *images)
    all.push_back(&one);
  const auto chosen = choose(all, sm);
  if (!chosen)
    return tl::unexpected(chosen.error());
  if ((*chosen)->is_relocatable())
    return left_alone("relocatable", "it is linked from several modules (-rdc)");
  auto words = words_of((*chosen)->options);
  if (!words)
    return tl::unexpected(words.error());
  auto text = (*chosen)->unpack();
  if (!text)
    return left_alone("no-ptx", text.error());
  return Source{std::move(*text), std::move(*words)};
}

launch::Answer nothing(Kept kept) {
  launch::Answer answer;
  answer.reason = std::move(kept.reason);
  answer.words = std::move(kept.words);
  return answer;
}

} // namespace

std::optional<Question> parse_question(std::string_view text, const std::string &id) {
  std::array<std::string_view, 3> lines;
  for (std::string_view &line : lines) {
    const std::size_t end = text.find('\n');
    if (end == 0 || end == text.npos)
      return std::nullopt;
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  Question question{id, std::string(lines[0]), 0, std::string(lines[2])};
  const char *const end = lines[1].data() + lines[1].size();
  const auto read = std::from_chars(lines[1].data(), end, question.sm);
  const bool is_name = question.image.size() == 32 &&
                       question.image.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!text.empty() || !is_name || read.ec != std::errc() || read.ptr != end || question.sm > 999)
    return std::nullopt;
  return question;
}

std::string remembered_name(const Question &question) {
  return launch::remembered_name(question.kernel, question.sm);
}

std::string key_of(const Question &question, const Assembler &assembler) {
  return launch::long_hash(fmt::format("{}\n{}\n{}\n{}\n{}", PTXASW_VERSION, assembler.identity,
                                       question.image, question.sm, question.kernel)) +
         "-" + remembered_name(question);
}

std::vector<std::string> kernels_of(const std::string &image, unsigned sm) {
  std::vector<std::string> names;
  const auto source = source_of(image, sm);
  constexpr std::string_view entry = ".entry", blanks = " \t\r\n";
  std::string_view rest = source ? std::string_view(source->text) : "";
  constexpr std::size_t most = 4096;
  for (std::size_t at; names.size() < most && (at = rest.find(entry)) != rest.npos;) {
    rest.remove_prefix(at + entry.size());
    const std::size_t begin = rest.find_first_not_of(blanks);
    if (begin == 0 || begin == rest.npos)
      continue;
    rest.remove_prefix(begin);
    names.emplace_back(rest.substr(0, rest.find_first_of("( \t\r\n")));
  }
  return names;
}

launch::Answer make_answer(const Question &question, const std::string &image,
                           const Assembler &assembler, const std::string &directory) {
  const auto source = source_of(image, question.sm);
  if (!source)
    return nothing(source.error());
  auto made = beside(source->text, question.kernel, default_versions());
  if (!made)
    return nothing(made.error());
  launch::Answer answer;
  answer.table = std::move(made->table);
  answer.variables = std::move(made->variables);
  answer.work = std::move(made->work);
  answer.words = std::move(made->words);
  if (made->text.empty())
    return answer;
  // What is for one architecture alone, or for one family, is assembled for that.
  const bool has_suffix = made->target.ends_with('a') || made->target.ends_with('f');
  auto code =
      assemble(assembler, made->text, has_suffix ? made->target : fmt::format("sm_{}", question.sm),
               source->words, directory);
  if (!code)
    return nothing(code.error());
  answer.image = std::move(*code);
  return answer;
}

} // namespace ptxasw::wrapper::faster
