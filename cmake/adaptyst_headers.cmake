# adaptyst::adaptyst: the header-only part. Links nothing.

add_library(adaptyst_headers INTERFACE)
add_library(adaptyst::adaptyst ALIAS adaptyst_headers)
set_target_properties(adaptyst_headers PROPERTIES EXPORT_NAME adaptyst)
target_compile_features(adaptyst_headers INTERFACE cxx_std_17)
target_include_directories(adaptyst_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Payloads need Boost.PFR (Boost 1.75). It may lie anywhere; markers without payloads do without it.
if(ADAPTYST_PFR_INCLUDE_DIR AND NOT EXISTS "${ADAPTYST_PFR_INCLUDE_DIR}/boost/pfr/core.hpp")
  message(FATAL_ERROR "adaptyst: ADAPTYST_PFR_INCLUDE_DIR=${ADAPTYST_PFR_INCLUDE_DIR}, but there is no boost/pfr/core.hpp in it")
endif()
find_path(ADAPTYST_PFR_FOUND_DIR boost/pfr/core.hpp HINTS ${ADAPTYST_PFR_INCLUDE_DIR}
          PATHS ${PROJECT_SOURCE_DIR}/build/boost/usr/include)
mark_as_advanced(ADAPTYST_PFR_FOUND_DIR)
if(ADAPTYST_PFR_FOUND_DIR)
  target_include_directories(adaptyst_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${ADAPTYST_PFR_FOUND_DIR}>)
else()
  message(WARNING "adaptyst: Boost.PFR not found; <adaptyst/payload.hpp> and the umbrella header will not compile. "
                  "Install libboost1.81-dev, or set ADAPTYST_PFR_INCLUDE_DIR")
endif()
