#pragma once

#include "wrapper/bisect_command.h"
#include "wrapper/command_line.h"
#include "wrapper/emulate_command.h"
#include "wrapper/explain_command.h"
#include "wrapper/independent_command.h"
#include "wrapper/occupancy_command.h"
#include "wrapper/trace_command.h"
#include "wrapper/verify_command.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw {

/// What the user asked `ptxasw` to do.
struct Request {
  std::string command;          ///< the name of the subcommand
  std::vector<OwnOption> given; ///< settings, of commands that take them
  std::string input, output;    ///< of rewrite
  std::string directory, cuda;  ///< of overlay
  bool remove = false, check = false;
  std::string real;                         ///< of assemble: --tool
  bool last = false;                        ///< of status
  bool markdown = false, cache_key = false; ///< of config
  bool json = false;                        ///< of stats
  BisectRequest bisect;
  EmulateRequest emulate;
  ExplainRequest explain;
  IndependentRequest independent;
  OccupancyRequest occupancy;
  TraceRequest trace;
  VerifyRequest verify;
};

/// Understands the words after the program's name, without those behind `--`.
/// Errors: an exit code, when everything has been said: 0 after help or version, 2 after an error.
tl::expected<Request, int> parse_options(std::vector<std::string> words);

} // namespace ptxasw
