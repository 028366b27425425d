# LibTorch as two imported targets: headers and libraries alone, found below CMAKE_PREFIX_PATH or in the project's own
# virtual environment. Torch's own package file is not used: it wants nvcc at configure time even for a CPU program.
file(GLOB hot_venv_torch ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
find_path(TORCH_INCLUDE torch/script.h PATHS ${hot_venv_torch} PATH_SUFFIXES include torch/include)
find_library(TORCH_CPU_LIBRARY torch_cpu PATHS ${hot_venv_torch} PATH_SUFFIXES lib torch/lib)
find_library(TORCH_C10_LIBRARY c10 PATHS ${hot_venv_torch} PATH_SUFFIXES lib torch/lib)
if(NOT TORCH_INCLUDE OR NOT TORCH_CPU_LIBRARY OR NOT TORCH_C10_LIBRARY)
  message(FATAL_ERROR "LibTorch was not found: run scripts/setup, or give -DCMAKE_PREFIX_PATH=DIR of a LibTorch >= 2.11")
endif()
get_filename_component(TORCH_LIB_DIR ${TORCH_CPU_LIBRARY} DIRECTORY)

add_library(hot_libtorch INTERFACE)
target_include_directories(hot_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE} ${TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(hot_libtorch INTERFACE ${TORCH_CPU_LIBRARY} ${TORCH_C10_LIBRARY})
# at::parallel_for is compiled into its callers, and without OpenMP it is a plain loop. The OpenMP library must be the
# one that torch itself runs on: two of them would each keep a pool of threads that spin.
target_compile_options(hot_libtorch INTERFACE -fopenmp)
file(GLOB hot_torch_openmp ${TORCH_LIB_DIR}/libgomp*.so*)
if(hot_torch_openmp)
  list(GET hot_torch_openmp 0 hot_torch_openmp)
  target_link_libraries(hot_libtorch INTERFACE ${hot_torch_openmp})
else()
  target_link_options(hot_libtorch INTERFACE -fopenmp)
endif()
# The wheel's CUDA libraries are found by the RPATH of libtorch itself; an older copy in the linker's default path must not win.
target_link_options(hot_libtorch INTERFACE -Wl,--disable-new-dtags -Wl,-rpath,${TORCH_LIB_DIR} -Wl,--allow-shlib-undefined)

# One precompiled header for every target that includes torch (a torch header costs about 20 s a file without it).
add_library(hot_torch_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/torch_pch.cpp)
target_link_libraries(hot_torch_pch PUBLIC hot_libtorch)
target_precompile_headers(hot_torch_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/torch_pch.hpp)

# The same for code that goes into libhot_ops.so.
add_library(hot_torch_pch_shared OBJECT ${CMAKE_SOURCE_DIR}/cmake/torch_pch.cpp)
target_link_libraries(hot_torch_pch_shared PUBLIC hot_libtorch)
hot_shared_code(hot_torch_pch_shared)
target_precompile_headers(hot_torch_pch_shared PRIVATE ${CMAKE_SOURCE_DIR}/cmake/torch_pch.hpp)
