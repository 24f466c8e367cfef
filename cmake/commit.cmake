# Writes HEADER with the commit that SOURCE stands at, if it says another one than before: from git, or from
# commit.txt, which git fills in when it makes an archive.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE inside ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed OR inside) # no repository, or another one's
  file(STRINGS ${SOURCE}/cmake/commit.txt commit LIMIT_COUNT 1)
  if(commit MATCHES "Format")
    set(commit "")
  endif()
else()
  execute_process(COMMAND git -C ${SOURCE} diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit " and changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#pragma once\n#define PTXASW_COMMIT \"@commit@\"\n" @ONLY)
