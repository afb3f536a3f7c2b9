# adaptyst_fortran_library(TARGET SOURCE): a module, compiled once in a build, whatever the settings of the targets that use it
# and however many these are: two that compile it would write one .mod file. Included by this project and by its package.
function(adaptyst_fortran_library target source)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/${target}.modules)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON Fortran_FORMAT FREE Fortran_PREPROCESS ON
                        Fortran_MODULE_DIRECTORY ${modules})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${modules}>)
endfunction()
