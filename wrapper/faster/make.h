#pragma once

// From what the helper asks to what it is answered.

#include "wrapper/faster/assemble.h"
#include "wrapper/launch/answer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper::faster {

/// What the helper asks: versions of a kernel of an image, for a GPU.
struct Question {
  std::string id;    ///< the name of the question's file
  std::string image; ///< of the file that has the image (wrapper/launch/images.h): 32 digits
  unsigned sm = 0;   ///< the GPU's compute capability: 90
  std::string kernel;
};

/// Reads a question's file. Nothing if it is not understood.
std::optional<Question> parse_question(std::string_view text, const std::string &id);

/// The key under which its answer is kept: everything that the answer depends on, and behind a `-`
/// what launch::remembered_name() says.
std::string key_of(const Question &question, const Assembler &assembler);
/// What stands behind it.
std::string remembered_name(const Question &question);

/// The kernels of an image, of which a GPU could be asked: none if there is no PTX for it that
/// could be used. A comment that looks like a kernel counts as one.
std::vector<std::string> kernels_of(const std::string &image, unsigned sm);

/// Makes and assembles versions. `image`: the bytes of the file; `directory` for files of its own.
launch::Answer make_answer(const Question &question, const std::string &image,
                           const Assembler &assembler, const std::string &directory);

} // namespace ptxasw::wrapper::faster
