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
// The same for a call of the driver with parameters, a result and a current context. The context of device N is 0x1000 + N.
bool cupti_stub_driver_call(const char* name, bool enters, const void* parameters, int result, std::uint64_t context);
// An event of CUPTI's domain of resources.
void cupti_stub_resource(std::uint32_t event, std::uint64_t context);
// Comes to the tool at its next flush, or when a buffer is full.
void cupti_stub_record(const void* record, std::uint64_t bytes);
// As if there had been no memory for this many records.
void cupti_stub_drop(std::size_t count);
}

#endif
