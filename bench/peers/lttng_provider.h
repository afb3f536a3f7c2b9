#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER adaptyst_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(ADAPTYST_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ADAPTYST_BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(adaptyst_bench, begin, LTTNG_UST_TP_ARGS(int, region),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, region, region)))
LTTNG_UST_TRACEPOINT_EVENT(adaptyst_bench, end, LTTNG_UST_TP_ARGS(int, region),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, region, region)))

#endif

#include <lttng/tracepoint-event.h>
