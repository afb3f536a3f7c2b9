# The files of `cmake --install` and their places, in the components headers, c, library, command, adapters, torch and docs. No
# installed file contains the path of the build tree or the prefix: a tree can be moved, and `cmake --install --prefix` can differ.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/adaptyst)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Without ADAPTYST_INSTALL, nothing is installed; but a host's library that links a target can still be exported, since
# that target is in an export of ours. Who uses it must find_package(adaptyst).
set(not_all)
if(NOT ADAPTYST_INSTALL)
  set(not_all EXCLUDE_FROM_ALL)
endif()
# adaptyst_export(NAME COMPONENT): what has been installed with EXPORT NAME, for an installed tree and for this build tree.
function(adaptyst_export name component)
  install(EXPORT ${name} NAMESPACE adaptyst:: DESTINATION ${package_dir} COMPONENT ${component} ${not_all})
  export(EXPORT ${name} NAMESPACE adaptyst:: FILE ${PROJECT_BINARY_DIR}/exports/${name}.cmake)
endfunction()

install(TARGETS adaptyst_headers EXPORT adaptystTargets)
adaptyst_export(adaptystTargets headers)
# Exports of their own: who asks for the headers only has no libraries, and needs none of what a static collector is linked with.
if(TARGET adaptyst_markers)
  install(TARGETS adaptyst_markers EXPORT adaptystMarkersTargets COMPONENT library ${not_all})
  adaptyst_export(adaptystMarkersTargets library)
endif()
if(TARGET adaptyst_c)
  install(TARGETS adaptyst_c_markers ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c ${not_all})
  install(TARGETS adaptyst_c adaptyst_fortran EXPORT adaptystCTargets)
  adaptyst_export(adaptystCTargets c)
endif()
if(ADAPTYST_BUILD_COLLECTOR)
  install(TARGETS adaptyst_collector adaptyst_mpi adaptyst_fortran_collector EXPORT adaptystCollectorTargets COMPONENT library ${not_all})
  foreach(adapter IN ITEMS openmpi mpich heap)
    if(TARGET adaptyst_${adapter}_linked)
      install(TARGETS adaptyst_${adapter}_linked EXPORT adaptystCollectorTargets COMPONENT library ${not_all})
    endif()
  endforeach()
  adaptyst_export(adaptystCollectorTargets library)
  get_target_property(collector_type adaptyst_collector TYPE)
endif()
# They are the modules in this build tree.
foreach(module IN ITEMS adaptyst_fortran_library adaptyst_fortran_collector_library)
  if(TARGET ${module})
    export(TARGETS ${module} NAMESPACE adaptyst:: FILE ${PROJECT_BINARY_DIR}/exports/${module}.cmake)
  endif()
endforeach()
if(NOT ADAPTYST_INSTALL)
  return()
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/adaptyst DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT headers)
if(TARGET adaptyst_c)
  install(FILES ${PROJECT_SOURCE_DIR}/fortran/adaptyst.F90 ${PROJECT_SOURCE_DIR}/fortran/adaptyst.inc
                ${PROJECT_SOURCE_DIR}/fortran/adaptyst_collector.f90
          DESTINATION ${CMAKE_INSTALL_DATADIR}/adaptyst/fortran COMPONENT c)
endif()

if(TARGET adaptyst_command)
  if(collector_type STREQUAL SHARED_LIBRARY)
    # Finds it next to itself, wherever the tree is moved.
    file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(adaptyst_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  endif()
  install(TARGETS adaptyst_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
if(TARGET adaptyst_pages)
  set(pages ${PROJECT_BINARY_DIR}/tools/pages)
  install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
  install(FILES ${pages}/bash/adaptyst DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
  install(FILES ${pages}/zsh/_adaptyst DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES ${pages}/fish/adaptyst.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
endif()

# In the folders of the sources, so that links from page to page hold.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*-schema.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/adaptyst COMPONENT docs)

set(version_arguments COMPATIBILITY SameMinorVersion)
if(NOT ADAPTYST_BUILD_COLLECTOR)
  list(APPEND version_arguments ARCH_INDEPENDENT)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/adaptystConfigVersion.cmake ${version_arguments})
set(fortran_dir ${CMAKE_INSTALL_DATADIR}/adaptyst/fortran)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/adaptystConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/adaptystConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS fortran_dir NO_SET_AND_CHECK_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/adaptystConfig.cmake ${PROJECT_BINARY_DIR}/adaptystConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/adaptyst_fortran_library.cmake
        DESTINATION ${package_dir} COMPONENT headers)

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
install(FILES ${PROJECT_BINARY_DIR}/adaptyst.pc DESTINATION ${pkgconfig_dir} COMPONENT headers)

if(TARGET adaptyst_markers)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/adaptyst-markers.pc.in ${PROJECT_BINARY_DIR}/adaptyst-markers.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/adaptyst-markers.pc DESTINATION ${pkgconfig_dir} COMPONENT library)
endif()

if(TARGET adaptyst_c)
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_DATADIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_datadir)
  foreach(module IN ITEMS adaptyst-c adaptyst-fortran)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${pkgconfig_dir} COMPONENT c)
  endforeach()
endif()

if(ADAPTYST_BUILD_COLLECTOR)
  # A shared library brings its own; who links a static one needs them too, with or without pkg-config's --static.
  set(pc_needs "fmt, libelf, zlib")
  if(ADAPTYST_HAS_EBPF)
    string(APPEND pc_needs ", libbpf >= 1.0")
  endif()
  if(ADAPTYST_LIBDW_FOUND)
    string(APPEND pc_needs ", libdw")
  endif()
  set(pc_requires "adaptyst = ${PROJECT_VERSION}")
  set(pc_requires_private)
  set(pc_cxx_library)
  if(collector_type STREQUAL STATIC_LIBRARY)
    string(APPEND pc_requires ", ${pc_needs}")
    set(pc_cxx_library " -lstdc++ -lm")  # for programs that a C or Fortran compiler links
  else()
    set(pc_requires_private ${pc_needs})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/adaptyst-collector.pc.in ${PROJECT_BINARY_DIR}/adaptyst-collector.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/adaptyst-collector.pc DESTINATION ${pkgconfig_dir} COMPONENT library)
endif()

# A host's uninstallation and packages are its own.
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/adaptyst_uninstall.cmake
    VERBATIM)
  include(adaptyst_packages)
endif()
