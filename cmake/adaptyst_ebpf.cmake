# Finds the collector's library for ELF files and the parts of its eBPF engine: sets ADAPTYST_HAS_EBPF, and ADAPTYST_EBPF_MISSING to
# the missing parts.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(ADAPTYST_LIBBPF QUIET IMPORTED_TARGET libbpf>=1.0)
  pkg_check_modules(ADAPTYST_LIBELF QUIET IMPORTED_TARGET libelf)
  pkg_check_modules(ADAPTYST_ZLIB QUIET IMPORTED_TARGET zlib)  # libelf needs it as well
  pkg_check_modules(ADAPTYST_LIBDW QUIET IMPORTED_TARGET libdw)  # optional: names of functions
endif()
if(NOT ADAPTYST_LIBELF_FOUND)
  message(FATAL_ERROR "adaptyst: the collector needs libelf, by pkg-config (Debian: libelf-dev, pkg-config); "
                      "without it, ADAPTYST_BUILD_COLLECTOR=OFF gives the headers")
endif()
if(NOT ADAPTYST_ZLIB_FOUND)
  message(FATAL_ERROR "adaptyst: the collector needs zlib, by pkg-config (Debian: zlib1g-dev)")
endif()
find_program(ADAPTYST_BPF_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
find_program(ADAPTYST_BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin)
mark_as_advanced(ADAPTYST_BPF_CLANG ADAPTYST_BPFTOOL)

set(ADAPTYST_HAS_EBPF OFF)
set(ADAPTYST_EBPF_MISSING)
if(NOT ADAPTYST_WITH_EBPF STREQUAL OFF)
  foreach(pair IN ITEMS "ADAPTYST_LIBBPF_FOUND:libbpf-dev" "ADAPTYST_BPF_CLANG:clang"
                        "ADAPTYST_BPFTOOL:bpftool")
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 variable)
    list(GET pair 1 package)
    if(NOT ${variable})
      list(APPEND ADAPTYST_EBPF_MISSING ${package})
    endif()
  endforeach()
  if(NOT ADAPTYST_EBPF_MISSING)
    set(ADAPTYST_HAS_EBPF ON)
  elseif(ADAPTYST_WITH_EBPF STREQUAL ON)
    list(JOIN ADAPTYST_EBPF_MISSING ", " missing)
    message(FATAL_ERROR "adaptyst: ADAPTYST_WITH_EBPF=ON, but not found: ${missing}")
  endif()
endif()
