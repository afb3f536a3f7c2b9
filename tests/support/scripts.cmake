# Tests that are Python scripts: those that run compilers and look at what comes out.

# adaptyst_script_test(NAME file [argument…]): one ctest entry with the label of its folder. A script that lacks a tool
# prints "skipped: <reason>" and exits with 77.
function(adaptyst_script_test name script)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  # -B: leave no compiled modules in the source tree.
  add_test(NAME ${name} COMMAND ${ADAPTYST_TEST_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()
