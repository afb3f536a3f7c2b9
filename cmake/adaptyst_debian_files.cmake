# The files that Debian requires in every package and `cmake --install` does not make. CPack runs it on the tree of each component, as it is
# about to be packed.
set(names_headers libadaptyst-dev)
set(names_docs adaptyst-doc)
set(names_c libadaptyst-c-dev)
set(names_library libadaptyst-collector-dev)
set(names_command adaptyst)
set(names_adapters adaptyst-adapters)
set(names_torch adaptyst-torch)
set(names_python python3-adaptyst)
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: adaptyst

Files: *
Copyright: 2026 the authors of adaptyst
License: Apache-2.0
 On Debian systems, the full text of the Apache License version 2.0 is in
 /usr/share/common-licenses/Apache-2.0.

Files: probes/*
Copyright: 2026 the authors of adaptyst
License: GPL-2.0-only or Apache-2.0
 On Debian systems, the full text of the GNU General Public License version 2
 is in /usr/share/common-licenses/GPL-2, and that of the Apache License version
 2.0 in /usr/share/common-licenses/Apache-2.0.
")
file(TIMESTAMP ${source}/CHANGELOG.md date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(changelog "adaptyst (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md in adaptyst-doc.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

# Warnings of lintian that are intended, with the reason.
set(overrides "# Who passes the packages on names a maintainer: cmake -DCPACK_PACKAGE_CONTACT=…
PACKAGE: bogus-mail-host
PACKAGE: bogus-mail-host-in-debian-changelog
")
set(overrides_without_multiarch "# The directory of libraries is the one that was configured; -DCMAKE_INSTALL_PREFIX=/usr makes it Debian's.
PACKAGE: pkg-config-unavailable-for-cross-compilation
")
set(overrides_adapters "# Preloaded, or named in a variable of the environment; nothing is linked with them.
PACKAGE: sharedobject-in-library-directory-missing-soname
# CPack's own, for any library; it does no harm.
PACKAGE: maintscript-calls-ldconfig
")
set(overrides_torch "${overrides_adapters}")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(documents ${usr}/share/doc/${names_${component}})
  file(WRITE ${documents}/copyright "${copyright}")
  file(WRITE ${documents}/changelog "${changelog}")
  set(overridden "${overrides}${overrides_${component}}")
  if(EXISTS ${usr}/lib/pkgconfig)
    string(APPEND overridden "${overrides_without_multiarch}")
  endif()
  string(REPLACE "PACKAGE:" "${names_${component}}:" overridden "${overridden}")
  file(WRITE ${usr}/share/lintian/overrides/${names_${component}} "${overridden}")
  # Where Debian's zsh looks.
  if(EXISTS ${usr}/share/zsh/site-functions)
    file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
  endif()
  # It is in the file next to it.
  file(REMOVE ${usr}/share/doc/adaptyst/LICENSE)
  execute_process(COMMAND rmdir ${usr}/share/doc/adaptyst ERROR_QUIET)
  file(GLOB_RECURSE compressed ${usr}/share/man/*.1 ${documents}/changelog)
  execute_process(COMMAND gzip -9n ${compressed} COMMAND_ERROR_IS_FATAL ANY)
  # CMake strips programs and shared libraries.
  file(GLOB_RECURSE archives ${usr}/lib*.a)
  if(archives)
    execute_process(COMMAND strip --strip-unneeded --remove-section=.comment --remove-section=.note --enable-deterministic-archives
                            ${archives} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
