// Where the host waits for what it has enqueued.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  if (!is_observed()) return ADAPTYST_NEXT(clFinish)(queue);
  ADAPTYST_WAIT("clFinish");
  return ADAPTYST_NEXT(clFinish)(queue);
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
  if (!is_observed()) return ADAPTYST_NEXT(clWaitForEvents)(count, events);
  ADAPTYST_WAIT("clWaitForEvents");
  return ADAPTYST_NEXT(clWaitForEvents)(count, events);
}
