# The CUDA side: nvcc, the architectures to build for, and layers with device code. nvcc is called by its path, not
# through CMake's CUDA language, whose tests of the compiler link programs; so a toolkit of wheels alone works too.
set(HOT_CUDA_ARCHS "80;86;89;90;100;120" CACHE STRING
  "Compute capabilities to build machine code for; the newest also as PTX")
find_package(CUDAToolkit REQUIRED)
# INT4 tensor cores: sm_80, sm_86, sm_89 alone, by CUTLASS's headers (PyPI's nvidia-cutlass, or any given folder).
find_path(HOT_CUTLASS_INCLUDE cutlass/cutlass.h
  PATHS ${CMAKE_SOURCE_DIR}/.venv/lib PATH_SUFFIXES python3.10/site-packages/cutlass_library/source/include
    python3.11/site-packages/cutlass_library/source/include python3.12/site-packages/cutlass_library/source/include
    python3.13/site-packages/cutlass_library/source/include)
set(HOT_INT4_ARCHS "")
foreach(arch IN LISTS HOT_CUDA_ARCHS)
  if(HOT_CUTLASS_INCLUDE AND arch MATCHES "^(80|86|89)$")
    list(APPEND HOT_INT4_ARCHS ${arch})
  endif()
endforeach()
if(NOT HOT_INT4_ARCHS)
  message(STATUS "No CUTLASS headers, or no architecture with INT4 tensor cores: INT4 products run as INT8")
endif()

# Options of nvcc for machine code of each architecture, and PTX of the last.
function(hot_arch_options output)
  set(options "")
  set(highest 0)
  foreach(arch IN LISTS ARGN)
    list(APPEND options -gencode=arch=compute_${arch},code=sm_${arch})
    string(REGEX MATCH "^[0-9]+" number ${arch})
    if(number GREATER highest)
      set(highest ${number})
      set(newest ${arch})
    endif()
  endforeach()
  if(NOT HOT_INT4_ARCHS STREQUAL "${ARGN}")
    list(APPEND options -gencode=arch=compute_${newest},code=compute_${newest})
  endif()
  set(${output} ${options} PARENT_SCOPE)
endfunction()

# hot_cuda_layer(NAME KERNELS files.cu… SOURCES files.cpp… USES targets… [ARCHS numbers…] [INCLUDES folders…]): as hot_layer, for files with kernels. Strict
# arithmetic: no fused multiply-adds, true divisions, denormals kept, so that integers are the CPU's.
function(hot_cuda_layer name)
  cmake_parse_arguments(arg "" "" "KERNELS;SOURCES;USES;INCLUDES;ARCHS" ${ARGN})
  set(objects "")
  list(TRANSFORM arg_INCLUDES PREPEND -isystem= OUTPUT_VARIABLE includes)
  if(NOT arg_ARCHS)
    set(arg_ARCHS ${HOT_CUDA_ARCHS})
  endif()
  hot_arch_options(archs ${arg_ARCHS})
  foreach(file IN LISTS arg_KERNELS)
    get_filename_component(base ${file} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${base}.cu.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr -lineinfo
        -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-fPIC ${archs} --threads=2
        -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/src ${includes}
        -MD -MF ${object}.d -MT ${object} -c ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} DEPFILE ${object}.d
      COMMENT "nvcc ${file}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_library(${name} STATIC ${arg_SOURCES} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE CUDA::cudart_static ${CMAKE_DL_LIBS})
  hot_flags(${name})
  hot_shared_code(${name})
endfunction()
