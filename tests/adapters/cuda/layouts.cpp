// Holds our declarations of CUPTI against NVIDIA's, where those are.
#include <cupti.h>

#include "../../../adapters/cuda/cupti_abi.hpp"

#define SAME(ours, theirs, our_member, their_member)                                  \
  static_assert(offsetof(cupti::ours, our_member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(cupti::ours::our_member) == sizeof(theirs::their_member))

#define SAME_WORK(ours, theirs)           \
  SAME(ours, theirs, kind, kind);         \
  SAME(ours, theirs, start, start);       \
  SAME(ours, theirs, end, end);           \
  SAME(ours, theirs, device, deviceId);   \
  SAME(ours, theirs, context, contextId); \
  SAME(ours, theirs, stream, streamId);   \
  SAME(ours, theirs, correlation, correlationId)

SAME_WORK(kernel_record, CUpti_ActivityKernel4);
SAME_WORK(kernel_record, CUpti_ActivityKernel9);
SAME(kernel_record, CUpti_ActivityKernel4, name, name);
SAME(kernel_record, CUpti_ActivityKernel9, name, name);
SAME_WORK(memcpy_record, CUpti_ActivityMemcpy4);
SAME_WORK(memcpy_record, CUpti_ActivityMemcpy5);
SAME(memcpy_record, CUpti_ActivityMemcpy5, bytes, bytes);
SAME(memcpy_record, CUpti_ActivityMemcpy5, direction, copyKind);
SAME_WORK(memset_record, CUpti_ActivityMemset4);
SAME(memset_record, CUpti_ActivityMemset4, bytes, bytes);
SAME_WORK(peer_memcpy_record, CUpti_ActivityMemcpyPtoP4);
SAME(peer_memcpy_record, CUpti_ActivityMemcpyPtoP4, bytes, bytes);
SAME(peer_memcpy_record, CUpti_ActivityMemcpyPtoP4, direction, copyKind);
#if CUPTI_API_VERSION >= 130000
SAME_WORK(kernel_record, CUpti_ActivityKernel10);
SAME(kernel_record, CUpti_ActivityKernel10, name, name);
SAME_WORK(memcpy_record, CUpti_ActivityMemcpy6);
#endif
#if CUPTI_API_VERSION >= 130200
SAME_WORK(kernel_record, CUpti_ActivityKernel11);
SAME(kernel_record, CUpti_ActivityKernel11, name, name);
#endif

SAME(call, CUpti_CallbackData, site, callbackSite);
SAME(call, CUpti_CallbackData, function, functionName);
SAME(call, CUpti_CallbackData, correlation, correlationId);
static_assert(sizeof(cupti::call) == sizeof(CUpti_CallbackData));

static_assert(static_cast<int>(cupti::activity::memcpy) == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(static_cast<int>(cupti::activity::memset) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(static_cast<int>(cupti::activity::concurrent_kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(cupti::activity::peer_memcpy) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(cupti::domain_driver == CUPTI_CB_DOMAIN_DRIVER_API &&
              cupti::domain_runtime == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(cupti::site_enter == CUPTI_API_ENTER && cupti::site_exit == CUPTI_API_EXIT);
static_assert(cupti::flush_forced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && cupti::success == CUPTI_SUCCESS);
static_assert(static_cast<int>(cupti::copy::h_to_d) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
static_assert(static_cast<int>(cupti::copy::d_to_h) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(static_cast<int>(cupti::copy::h_to_a) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
static_assert(static_cast<int>(cupti::copy::a_to_h) == CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
static_assert(static_cast<int>(cupti::copy::d_to_d) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
static_assert(static_cast<int>(cupti::copy::peer) == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);

static_assert(cupti::domain_resource == CUPTI_CB_DOMAIN_RESOURCE &&
              cupti::context_destroyed == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING &&
              cupti::graph_node_created == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(resource, CUpti_ResourceData, context, context);
SAME(call, CUpti_CallbackData, parameters, functionParams);
SAME(call, CUpti_CallbackData, returned, functionReturnValue);
SAME(call, CUpti_CallbackData, context, context);
static_assert(sizeof(CUresult) == sizeof(int) && CUDA_SUCCESS == 0);

#define SAME_ALLOCATION(function)                              \
  SAME(allocate_parameters, function##_params, pointer, dptr); \
  SAME(allocate_parameters, function##_params, bytes, bytesize)

SAME_ALLOCATION(cuMemAlloc_v2);
SAME_ALLOCATION(cuMemAllocManaged);
SAME_ALLOCATION(cuMemAllocAsync);
SAME_ALLOCATION(cuMemAllocAsync_ptsz);
SAME_ALLOCATION(cuMemAllocFromPoolAsync);
SAME_ALLOCATION(cuMemAllocFromPoolAsync_ptsz);
SAME(allocate_pitch_parameters, cuMemAllocPitch_v2_params, pointer, dptr);
SAME(allocate_pitch_parameters, cuMemAllocPitch_v2_params, pitch, pPitch);
SAME(allocate_pitch_parameters, cuMemAllocPitch_v2_params, height, Height);
SAME(free_parameters, cuMemFree_v2_params, pointer, dptr);
SAME(free_parameters, cuMemFreeAsync_params, pointer, dptr);
SAME(free_parameters, cuMemFreeAsync_ptsz_params, pointer, dptr);
