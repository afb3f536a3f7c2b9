# Makes the page of lib/report/page/ a source in C++: cmake -DFROM=lib/report/page -DTO=page_shell_text.cpp
# -DVERSION=… -P adaptyst_embed_page.cmake
#
# Each module of JavaScript becomes a function that returns what it exports, in the order below: what imports stands behind
# what it imports. So the page has one script, whose hash its policy names, and tests can load the modules one by one.
set(modules numbers histogram names tree layout search link csv dom data icicle summary table columns details ranks stacks processes
    machines browser profile_page comparison_page intervals timeline_rows timeline timeline_page variability_page main)

# Reads a file; what begins a string in C++ and is the end of ours, or would end the element that it stands in, is refused.
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

# Bytes are taken as they are, so that a text may end anywhere.
function(add_piece text)
  string(APPEND pieces "    R\"page(${text})page\"sv,\n")
  set(pieces "${pieces}" PARENT_SCOPE)
endfunction()

set(script "\"use strict\";\n")
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
  set(text "const module_${module} = (() => {${text}return { ${exports} };\n})();\n")
  string(APPEND script "${text}")
  set(piece_${module} "${text}")
endforeach()

read_part(style.css style)
string(REGEX REPLACE "\n +" "\n" style "${style}")
read_part(page.html page)
hash_for_policy("${script}" script_hash)
hash_for_policy("${style}" style_hash)
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
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

cut("@STYLE@" head)
cut("@DATA_FORM@" body)
cut("@DATA@" around_data)
cut("@SCRIPT@" before_script)
cut("@SECTIONS@" before_sections)

set(pieces)
add_piece("${head}")
add_piece("${style}")
add_piece("${body}")
set(before "${pieces}")
set(pieces)
add_piece("${before_script}\"use strict\";\n")
foreach(module IN LISTS modules)
  add_piece("${piece_${module}}")
endforeach()
add_piece("${before_sections}")
add_piece("${page}")

file(WRITE ${TO}.new "// Made of lib/report/page/ by cmake/adaptyst_embed_page.cmake.
#include \"report/page_shell.hpp\"

namespace adaptyst::lib {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view before_form[] = {
${before}};
constexpr std::string_view after_data[] = {
${pieces}};

}  // namespace

const page_shell shell_of_page{before_form, std::size(before_form), after_data, std::size(after_data)};

}  // namespace adaptyst::lib
")
if(NOT around_data STREQUAL "\">")
  message(FATAL_ERROR "page.html: data-form is the last attribute of the data")
endif()
file(RENAME ${TO}.new ${TO})
