# What our own code is compiled with. Guests' code is theirs.
function(adaptyst_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                         $<$<BOOL:${ADAPTYST_WARNINGS_AS_ERRORS}>:-Werror>)
endfunction()
