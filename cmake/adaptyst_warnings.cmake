# The warnings for the project's own code; the code of users keeps their own.
function(adaptyst_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                         $<$<BOOL:${ADAPTYST_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
