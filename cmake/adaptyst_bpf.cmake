# adaptyst_add_bpf_object(NAME SOURCE file HEADERS file…): compiles a BPF program and makes the target NAME_skeleton, with
# the header NAME.skel.h that embeds it as struct NAME_bpf.
function(adaptyst_add_bpf_object name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "HEADERS")
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/skeleton/${name}.skel.h)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(target_arch arm64)
  else()
    set(target_arch x86)
  endif()
  # The BPF target knows no multiarch directory, where <asm/…> lies on Debian.
  set(arch_include)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    set(arch_include -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${ADAPTYST_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_${target_arch}
            -I${PROJECT_SOURCE_DIR}/include ${arch_include} -c ${arg_SOURCE} -o ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/skeleton
    # The analyzer does not see that the skeleton frees itself when it fails.
    COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTBEGIN(clang-analyzer-unix.Malloc)" > ${header}
    COMMAND ${ADAPTYST_BPFTOOL} gen skeleton ${object} name ${name}_bpf >> ${header}
    COMMAND ${CMAKE_COMMAND} -E echo "// NOLINTEND(clang-analyzer-unix.Malloc)" >> ${header}
    DEPENDS ${arg_SOURCE} ${arg_HEADERS}
    COMMENT "Compiling BPF program ${name}"
    VERBATIM)
  add_custom_target(${name}_skeleton_header DEPENDS ${header})
  if(NOT TARGET skeletons)
    add_custom_target(skeletons)
  endif()
  add_dependencies(skeletons ${name}_skeleton_header)
  add_library(${name}_skeleton INTERFACE)
  add_dependencies(${name}_skeleton ${name}_skeleton_header)
  target_include_directories(${name}_skeleton SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR}/skeleton)
endfunction()
