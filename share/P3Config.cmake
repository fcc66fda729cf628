# find_package(P3): P3_REWRITE, P3_PROF, the target P3::interface with p3_profile.h, and
#   p3_add_suite(NAME COMMAND command... [SAME_PIDS] [FIXED_TIME])
# a target that runs the command once for every copy of what was built, and merges what each program counted.
set(P3_REWRITE "@P3_REWRITE@")
set(P3_PROF "@P3_PROF@")
if(NOT TARGET P3::interface)
  add_library(P3::interface INTERFACE IMPORTED)
  set_target_properties(P3::interface PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "@P3_DIR@/include")
endif()

function(p3_add_suite name)
  cmake_parse_arguments(P3_SUITE "SAME_PIDS;FIXED_TIME" "" "COMMAND" ${ARGN})
  if(NOT P3_SUITE_COMMAND)
    message(FATAL_ERROR "p3_add_suite(${name}): no COMMAND; name what runs the tests, such as COMMAND \${CMAKE_CTEST_COMMAND}")
  endif()
  set(options "")
  if(P3_SUITE_SAME_PIDS)
    list(APPEND options --same-pids)
  endif()
  if(P3_SUITE_FIXED_TIME)
    list(APPEND options --fixed-time)
  endif()
  add_custom_target(${name}
    COMMAND "${P3_REWRITE}" suite ${options} -o "${CMAKE_BINARY_DIR}" -- ${P3_SUITE_COMMAND}
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
    USES_TERMINAL VERBATIM)
endfunction()
