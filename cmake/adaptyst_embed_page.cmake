# Makes the page of lib/report/page/ a source in C++: cmake -DFROM=lib/report/page -DTO=page_shell_text.cpp
# -DVERSION=… -P adaptyst_embed_page.cmake
#
# Each module of JavaScript becomes a function that returns its exports. The order is that of the list below: a module comes after its
# imports. A page therefore has one script, and the page's policy has its hash; tests can load single modules. Each kind of page has
# only the modules that it needs.
cmake_policy(SET CMP0057 NEW)  # IN_LIST
set(modules numbers histogram names tree layout search link csv dom data icicle summary table columns details ranks stacks processes
    machines browser profile_page comparison_page intervals timeline_rows timeline timeline_page parallel runs_page
    variability_page stack_page main)
set(kinds profile comparison timeline variability stack)
set(modules_of_comparison numbers names tree layout search link csv dom data icicle summary table browser comparison_page main)
set(modules_of_timeline numbers names tree layout search link dom data icicle summary intervals timeline_rows timeline timeline_page main)
set(modules_of_variability numbers names tree link dom data summary intervals timeline_rows timeline parallel runs_page variability_page main)
set(modules_of_stack numbers names tree link csv dom data summary table stack_page main)
set(modules_of_profile ${modules})
list(REMOVE_ITEM modules_of_profile comparison_page intervals timeline_rows timeline timeline_page parallel runs_page variability_page
    stack_page)

# Reads a file. Refuses text that would end the C++ string or the HTML element around it.
function(read_part name to)
  file(READ ${FROM}/${name} text)
  foreach(bad IN ITEMS ")page\"" "</script" "</style" "<!--")
    string(FIND "${text}" "${bad}" at)
    if(NOT at EQUAL -1 AND NOT name STREQUAL page.html)
      message(FATAL_ERROR "${name}: '${bad}' cannot stand in a page")
    endif()
  endforeach()
  set(${to} "${text}" PARENT_SCOPE)
endfunction()

# The base64 of a SHA-256, as a Content-Security-Policy names it.
function(hash_for_policy text to)
  string(SHA256 hex "${text}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(made)
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${at} 6 three_bytes)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR digit "(0x${three_bytes} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${digit} 1 letter)
      string(APPEND made ${letter})
    endforeach()
  endforeach()
  # 32 bytes are ten groups of three and one of two.
  string(SUBSTRING ${made} 0 43 made)
  set(${to} "${made}=" PARENT_SCOPE)
endfunction()

set(module_texts)
foreach(module IN LISTS modules)
  read_part(${module}.js text)
  # What only those need who read the sources; no text in them goes over several lines.
  string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n +" "\n" text "${text}")
  string(REGEX MATCHALL "\nexport (async )?(function|class|const) [A-Za-z]+" exports "\n${text}")
  list(TRANSFORM exports REPLACE ".* " "")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "import ({[^}]*}) from \"./([a-z_]+)\\.js\";" "const \\1 = module_\\2;" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "\n${text}")
  if(text MATCHES "\n(import|export) ")
    message(FATAL_ERROR "${module}.js: imports are written import { … } from \"./NAME.js\"; and exports before a function, class or const")
  endif()
  string(REGEX MATCHALL "= module_[a-z_]+" imports_of_${module} "${text}")
  list(TRANSFORM imports_of_${module} REPLACE "= module_" "")
  set(piece_${module} "const module_${module} = (() => {${text}return { ${exports} };\n})();\n")
  string(APPEND module_texts "constexpr std::string_view module_${module} = R\"page(${piece_${module}})page\"sv;\n")
endforeach()

read_part(style.css style)
string(REGEX REPLACE "\n +" "\n" style "${style}")
read_part(page.html page)
hash_for_policy("${style}" style_hash)
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@GENERATOR@" "adaptyst ${VERSION}" page "${page}")

# cut(PLACEHOLDER BEFORE): `page` keeps what follows it.
macro(cut placeholder before)
  string(FIND "${page}" "${placeholder}" cut_at)
  if(cut_at EQUAL -1)
    message(FATAL_ERROR "page.html has no ${placeholder}")
  endif()
  string(SUBSTRING "${page}" 0 ${cut_at} ${before})
  string(LENGTH "${placeholder}" cut_length)
  math(EXPR cut_at "${cut_at} + ${cut_length}")
  string(SUBSTRING "${page}" ${cut_at} -1 page)
endmacro()

cut("@SCRIPT_HASH@" head)
cut("@STYLE@" behind_hash)
cut("@DATA_FORM@" body)
cut("@DATA@" around_data)
cut("@SCRIPT@" before_script)
cut("@SECTIONS@" before_sections)

set(shells)
set(tables)
foreach(kind IN LISTS kinds)
  set(start "module_main.start(module_${kind}_page.show);")
  set(script "\"use strict\";\n")
  set(names)
  set(known)
  foreach(module IN LISTS modules_of_${kind})
    foreach(import IN LISTS imports_of_${module})
      if(NOT import IN_LIST known)
        message(FATAL_ERROR "the page of a ${kind}: ${module}.js imports ${import}.js, which does not stand before it")
      endif()
    endforeach()
    list(APPEND known ${module})
    string(APPEND script "${piece_${module}}")
    string(APPEND names " module_${module},")
  endforeach()
  hash_for_policy("${script}${start}\n" script_hash)
  string(APPEND shells "
constexpr std::string_view before_form_of_${kind}[] = {head, \"${script_hash}\"sv, behind_hash, style, body};
constexpr std::string_view after_data_of_${kind}[] = {before_script,${names} \"${start}\\n\"sv, before_sections, behind};
")
  string(APPEND tables "
const page_shell shell_of_${kind}{before_form_of_${kind}, std::size(before_form_of_${kind}),
                                 after_data_of_${kind}, std::size(after_data_of_${kind})};
")
endforeach()

# Bytes are taken as they are, so that a text may end anywhere.
set(texts)
macro(add_text name)
  string(APPEND texts "constexpr std::string_view ${name} = R\"page(${${name}})page\"sv;\n")
endmacro()
string(APPEND before_script "\"use strict\";\n")
set(behind "${page}")
foreach(name IN ITEMS head behind_hash style body before_script before_sections behind)
  add_text(${name})
endforeach()

file(WRITE ${TO}.new "// Made of lib/report/page/ by cmake/adaptyst_embed_page.cmake.
#include \"report/page_shell.hpp\"

namespace adaptyst::lib {

namespace {

using namespace std::string_view_literals;

${texts}${module_texts}${shells}
}  // namespace

${tables}
}  // namespace adaptyst::lib
")
if(NOT around_data STREQUAL "\">")
  message(FATAL_ERROR "page.html: data-form is the last attribute of the data")
endif()
file(RENAME ${TO}.new ${TO})
