# Debian packages, by `cpack` in the build directory: one a component that was built. The library is in them as a static one, so
# that a program that was linked with it goes on when the package is replaced.
if(BUILD_SHARED_LIBS)
  message(STATUS "adaptyst: no Debian packages of a shared library: BUILD_SHARED_LIBS=ON")
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME adaptyst)
set(CPACK_PACKAGE_VENDOR adaptyst)
set(CPACK_PACKAGE_CONTACT "The authors of adaptyst <adaptyst@localhost>" CACHE STRING "Who maintains the packages that cpack makes")
# CPack regards this summary as empty: the descriptions below have a first line of their own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/adaptyst_debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_COMPONENTS_ALL headers docs)

set(CPACK_DEBIAN_HEADERS_PACKAGE_NAME libadaptyst-dev)
set(CPACK_DEBIAN_HEADERS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_HEADERS_PACKAGE_RECOMMENDS "libboost-dev (>= 1.75) | libboost1.81-dev")
set(CPACK_COMPONENT_HEADERS_DESCRIPTION "markers for heterogeneous simulations (headers)
Regions, devices and numbers of a program, told by USDT probes that cost
four instructions until something listens. Header-only, C++17.")

set(CPACK_DEBIAN_DOCS_PACKAGE_NAME adaptyst-doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_DOCS_DESCRIPTION "where a heterogeneous simulation spends its time (documentation)
The pages on markers, reports, devices, overhead and permissions, and the
JSON schemas of profiles and comparisons.")

if(TARGET adaptyst_c)
  list(APPEND CPACK_COMPONENTS_ALL c)
  set(CPACK_DEBIAN_C_PACKAGE_NAME libadaptyst-c-dev)
  set(CPACK_DEBIAN_C_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_C_PACKAGE_DEPENDS "libadaptyst-dev (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_C_DESCRIPTION "markers for heterogeneous simulations (C and Fortran)
What the markers of C and Fortran call, a static library that needs the C
library only, and the Fortran modules, which are compiled with the program.")
endif()

if(ADAPTYST_BUILD_COLLECTOR)
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(needs "libadaptyst-dev (= ${PROJECT_VERSION}), libfmt-dev, libelf-dev, zlib1g-dev")
  if(ADAPTYST_HAS_EBPF)
    string(APPEND needs ", libbpf-dev (>= 1.0)")
  endif()
  if(ADAPTYST_LIBDW_FOUND)
    string(APPEND needs ", libdw-dev")
  endif()
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libadaptyst-collector-dev)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ${needs})
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "where a heterogeneous simulation spends its time (library)
The collector, which a program starts in main() to be told at the end where
its regions and devices spent their time. A static library.")
endif()

if(TARGET adaptyst_command)
  list(APPEND CPACK_COMPONENTS_ALL command)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME adaptyst)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "adaptyst-adapters, libmicrohttpd12")  # the command loads it when needed
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS adaptyst-doc)
  set(CPACK_COMPONENT_COMMAND_DESCRIPTION "where a heterogeneous simulation spends its time
Observes programs, running or started by it, region by region and device by
device: in the kernel by eBPF where that is permitted, by the programs' own
recorders where it is not. Reports, timelines, flame graphs, comparisons.")
endif()

if(TARGET adaptyst_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-adaptyst)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS adaptyst)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib")
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "where a heterogeneous simulation spends its time (Python)
Reads profiles and traces into data frames, and marks Python programs, so
that their regions and those of C++ are one tree.")
endif()

set(adapters)
foreach(name IN ITEMS opencl cuda ompt itt nvtx roctx kokkos heap timer openmpi mpich)
  if(TARGET adaptyst_${name})
    list(APPEND adapters ${name})
  endif()
endforeach()
if(adapters)
  list(APPEND CPACK_COMPONENTS_ALL adapters)
  set(CPACK_DEBIAN_ADAPTERS_PACKAGE_NAME adaptyst-adapters)
  set(CPACK_DEBIAN_ADAPTERS_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_ADAPTERS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_COMPONENT_ADAPTERS_DESCRIPTION "where a heterogeneous simulation spends its time (adapters)
Small libraries that tell the collector what programs do through OpenCL,
CUDA, OpenMP, MPI, Kokkos, ITT, NVTX or ROCTX, for adaptyst run --with, and
one that counts allocations.")
endif()
if(TARGET adaptyst_torch)
  list(APPEND CPACK_COMPONENTS_ALL torch)
  set(CPACK_DEBIAN_TORCH_PACKAGE_NAME adaptyst-torch)
  set(CPACK_DEBIAN_TORCH_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_TORCH_PACKAGE_SHLIBDEPS ON)
  set(CPACK_COMPONENT_TORCH_DESCRIPTION "where a heterogeneous simulation spends its time (torch)
The adapter for libtorch, and so for PyTorch: which operators a model runs,
for adaptyst run --with torch.")
endif()
include(CPack)
