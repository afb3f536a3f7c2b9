find_package(Threads REQUIRED)

# adaptyst_adapter_option(NAME "what it is"): ADAPTYST_WITH_NAME, ON, OFF or AUTO.
# adaptyst_adapter_missing(NAME "what is missing"): reports the missing part; an error if the option is ON.
function(adaptyst_adapter_option name description)
  set(ADAPTYST_WITH_${name} AUTO CACHE STRING "${description}: ON, OFF, or AUTO (if its dependencies are installed)")
  set_property(CACHE ADAPTYST_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
endfunction()

function(adaptyst_adapter_missing name reason)
  if(ADAPTYST_WITH_${name} STREQUAL AUTO)
    message(STATUS "adaptyst: ${name} adapter: no (${reason})")
  else()
    message(FATAL_ERROR "adaptyst: ADAPTYST_WITH_${name}=ON, but ${reason}")
  endif()
endfunction()

# adaptyst_add_adapter_library(name SOURCES...): lib/libadaptyst-<name>.so, to be preloaded or named in a variable of the
# environment, not linked with. Only what is exported by name is seen from outside. In a package of its own if
# adapter_component is set, for what it needs.
function(adaptyst_add_adapter_library name)
  add_library(adaptyst_${name} MODULE ${ARGN})
  set_target_properties(adaptyst_${name} PROPERTIES OUTPUT_NAME adaptyst-${name} PREFIX lib CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/adapters)
  target_link_libraries(adaptyst_${name} PRIVATE adaptyst_headers Threads::Threads)
  # Absolute paths of the build machine would mean nothing to the users of a profile.
  target_compile_options(adaptyst_${name} PRIVATE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  adaptyst_warnings(adaptyst_${name})
  if(ADAPTYST_INSTALL)
    if(NOT adapter_component)
      set(adapter_component adapters)
    endif()
    install(TARGETS adaptyst_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${adapter_component})
  endif()
endfunction()
