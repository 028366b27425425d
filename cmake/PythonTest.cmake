# hot_python_test(NAME LABELS labels… COMMAND script arguments…): a script run by the project's virtual environment. Where
# there is none (a LibTorch given by CMAKE_PREFIX_PATH) CTest doesn't know it, and configuring says so.
find_program(HOT_PYTHON NAMES python3 python PATHS ${CMAKE_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH)
if(NOT HOT_PYTHON)
  message(STATUS "No .venv: the tests written in Python are left out")
endif()

function(hot_python_test name)
  cmake_parse_arguments(arg "" "" "LABELS;COMMAND" ${ARGN})
  if(HOT_PYTHON)
    add_test(NAME ${name} COMMAND ${HOT_PYTHON} -W ignore ${arg_COMMAND} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1800 ENVIRONMENT "OMP_NUM_THREADS=2")
  endif()
endfunction()
