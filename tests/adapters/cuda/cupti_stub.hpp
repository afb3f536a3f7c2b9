// What the stub of CUPTI lets a test do: be the program that calls CUDA, and the device that works.
#ifndef ADAPTYST_TESTS_ADAPTERS_CUDA_CUPTI_STUB_HPP
#define ADAPTYST_TESTS_ADAPTERS_CUDA_CUPTI_STUB_HPP

#include <cstddef>
#include <cstdint>

extern "C" {
// In the clock of records.
std::uint64_t cupti_stub_now();
// Whether the tool has asked for records of this kind.
bool cupti_stub_enabled(int kind);
std::size_t cupti_stub_flushes();
// A call of the driver (1) or the runtime (2) is entered or left; false: the tool has not asked for it.
bool cupti_stub_call(int domain, const char* name, std::uint32_t correlation, bool enters);
// Comes to the tool at its next flush, or when a buffer is full.
void cupti_stub_record(const void* record, std::uint64_t bytes);
// As if there had been no memory for this many records.
void cupti_stub_drop(std::size_t count);
}

#endif
