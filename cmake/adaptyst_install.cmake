# What `cmake --install` puts where: headers, library, command, CMake package and pkg-config files. Nothing installed knows the
# build tree or even the prefix, so that a tree may be moved, and `cmake --install --prefix` may name another.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/adaptyst)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/adaptyst DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(TARGETS adaptyst_headers EXPORT adaptystTargets)
if(TARGET adaptyst_markers)
  install(TARGETS adaptyst_markers EXPORT adaptystTargets)
endif()
install(EXPORT adaptystTargets NAMESPACE adaptyst:: DESTINATION ${package_dir})

# An export of its own: who asks for the headers only needs none of what a static collector is linked with.
if(ADAPTYST_BUILD_COLLECTOR)
  install(TARGETS adaptyst_collector EXPORT adaptystCollectorTargets)
  install(EXPORT adaptystCollectorTargets NAMESPACE adaptyst:: DESTINATION ${package_dir})
  get_target_property(collector_type adaptyst_collector TYPE)
endif()

if(TARGET adaptyst_command)
  # Finds a shared collector beside itself, wherever the tree is moved.
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(adaptyst_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS adaptyst_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(version_arguments COMPATIBILITY SameMinorVersion)
if(NOT ADAPTYST_BUILD_COLLECTOR)
  list(APPEND version_arguments ARCH_INDEPENDENT)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/adaptystConfigVersion.cmake ${version_arguments})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/adaptystConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/adaptystConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/adaptystConfig.cmake ${PROJECT_BINARY_DIR}/adaptystConfigVersion.cmake
        DESTINATION ${package_dir})

# pkg-config: the prefix follows from where the file lies. Directories that were given as absolute ones stay so.
cmake_path(ABSOLUTE_PATH pkgconfig_dir BASE_DIRECTORY /prefix OUTPUT_VARIABLE there)
file(RELATIVE_PATH up ${there} /prefix)
string(REGEX REPLACE "/$" "" up ${up})
set(pc_prefix "\${pcfiledir}/${up}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_includedir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_libdir)
configure_file(${PROJECT_SOURCE_DIR}/cmake/adaptyst.pc.in ${PROJECT_BINARY_DIR}/adaptyst.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/adaptyst.pc DESTINATION ${pkgconfig_dir})

if(ADAPTYST_BUILD_COLLECTOR)
  # A shared library brings its own; who links a static one needs them too, with or without pkg-config's --static.
  set(pc_needs "fmt, libelf")
  if(ADAPTYST_HAS_EBPF)
    string(APPEND pc_needs ", libbpf >= 1.0")
  endif()
  if(ADAPTYST_LIBDW_FOUND)
    string(APPEND pc_needs ", libdw")
  endif()
  set(pc_requires "adaptyst = ${PROJECT_VERSION}")
  set(pc_requires_private)
  if(collector_type STREQUAL STATIC_LIBRARY)
    string(APPEND pc_requires ", ${pc_needs}")
  else()
    set(pc_requires_private ${pc_needs})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/adaptyst-collector.pc.in ${PROJECT_BINARY_DIR}/adaptyst-collector.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/adaptyst-collector.pc DESTINATION ${pkgconfig_dir})
endif()
