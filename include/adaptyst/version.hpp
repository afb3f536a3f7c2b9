// The version of adaptyst, written once: CMake and the packages read it from here.
#ifndef ADAPTYST_VERSION_HPP
#define ADAPTYST_VERSION_HPP

#define ADAPTYST_VERSION_MAJOR 0
#define ADAPTYST_VERSION_MINOR 1
#define ADAPTYST_VERSION_PATCH 0

#endif
