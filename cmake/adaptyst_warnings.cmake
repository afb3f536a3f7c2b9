# The warnings for the project's own code; the code of users keeps their own. GCC's -Wshadow also forbids
# the name of a member for a local variable.
function(adaptyst_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion
                         $<$<OR:$<COMPILE_LANG_AND_ID:CXX,Clang>,$<COMPILE_LANG_AND_ID:C,Clang>>:-Wshadow>
                         $<$<BOOL:${ADAPTYST_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
