# hot_layer(NAME [TORCH] SOURCES files… USES targets…): one static library a layer. A layer sees the headers of the
# layers that it uses, so an include that the design forbids does not link.
function(hot_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
  if(HOT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HOT_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PUBLIC -fsanitize=${HOT_SANITIZE})
  endif()
endfunction()

function(hot_use_torch target)
  target_link_libraries(${target} PUBLIC hot_libtorch)
  target_precompile_headers(${target} REUSE_FROM hot_torch_pch)
  # Torch carries headers of another fmt, which come first here; the linked fmt doesn't fit those.
  target_compile_definitions(${target} PRIVATE FMT_HEADER_ONLY)
endfunction()

function(hot_layer name)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;USES" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_USES})
  hot_flags(${name})
  if(arg_TORCH)
    hot_use_torch(${name})
  endif()
endfunction()

# hot_test(NAME [TORCH] [LABELS labels…] SOURCES files… USES targets…): one GoogleTest program, its cases known to CTest.
function(hot_test name)
  cmake_parse_arguments(arg "TORCH" "" "LABELS;SOURCES;USES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gtest GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    HOT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HOT_BUILD_DIR="${CMAKE_BINARY_DIR}")
  hot_flags(${name})
  if(arg_TORCH)
    hot_use_torch(${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
