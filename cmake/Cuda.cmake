# The CUDA side: nvcc, the architectures to build for, and layers with device code. nvcc is called by its path, not
# through CMake's CUDA language, whose tests of the compiler link programs; so a toolkit of wheels alone works too.
set(HOT_CUDA_ARCHS "80;86;89;90;100;120" CACHE STRING
  "Compute capabilities to build machine code for; the newest also as PTX")
find_package(CUDAToolkit REQUIRED)
set(hot_nvcc_archs "")
foreach(arch IN LISTS HOT_CUDA_ARCHS)
  list(APPEND hot_nvcc_archs -gencode=arch=compute_${arch},code=sm_${arch})
  set(hot_newest_arch ${arch})
endforeach()
list(APPEND hot_nvcc_archs -gencode=arch=compute_${hot_newest_arch},code=compute_${hot_newest_arch})

# hot_cuda_layer(NAME KERNELS files.cu… SOURCES files.cpp… USES targets…): as hot_layer, for files with kernels. Strict
# arithmetic: no fused multiply-adds, true divisions, denormals kept, so that integers are the CPU's.
function(hot_cuda_layer name)
  cmake_parse_arguments(arg "" "" "KERNELS;SOURCES;USES;INCLUDES" ${ARGN})
  set(objects "")
  list(TRANSFORM arg_INCLUDES PREPEND -I OUTPUT_VARIABLE includes)
  foreach(file IN LISTS arg_KERNELS)
    get_filename_component(base ${file} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${base}.cu.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr -lineinfo
        -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-fPIC ${hot_nvcc_archs} --threads=2
        -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/src ${includes}
        -MD -MF ${object}.d -MT ${object} -c ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} DEPFILE ${object}.d
      COMMENT "nvcc ${file}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_library(${name} STATIC ${arg_SOURCES} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_USES} CUDA::cudart_static)
  hot_flags(${name})
endfunction()
