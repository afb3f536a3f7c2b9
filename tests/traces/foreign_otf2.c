// Writes an OTF2 archive as another program would: ticks of 10 ns from an offset, a stream in the group of a process,
// an end without a begin, a begin without an end: foreign_otf2 FOLDER [MORE [DEPTH]]. MORE: further threads with a region
// each. DEPTH: nested kernels on the stream.
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

#include "writing_otf2.h"

enum { offset = 5000, ns = 10, host_thread = 0, stream = 7, first_further = 100 };
enum { main_region, solve_region, barrier_region, kernel_region, copy_region, lost_region };

int main(int count, char** words) {
  if (count < 2) return 2;
  const unsigned long more = count > 2 ? strtoul(words[2], NULL, 10) : 0;
  const unsigned long depth = count > 3 ? strtoul(words[3], NULL, 10) : 0;
  OTF2_Archive* archive = OTF2_Archive_Open(words[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                            OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == NULL) return 1;
  const OTF2_FlushCallbacks callbacks = {flush_always, NULL};
  check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  check(OTF2_Archive_OpenEvtFiles(archive));
  OTF2_EvtWriter* to = OTF2_Archive_GetEvtWriter(archive, host_thread);
  check(OTF2_EvtWriter_Enter(to, NULL, offset, main_region));
  check(OTF2_EvtWriter_Enter(to, NULL, offset + 1000 / ns, solve_region));
  check(OTF2_EvtWriter_Enter(to, NULL, offset + 2000 / ns, barrier_region));
  const OTF2_Type type = OTF2_TYPE_INT64;
  OTF2_MetricValue value;
  value.signed_int = -7;
  check(OTF2_EvtWriter_Metric(to, NULL, offset + 2500 / ns, 0, 1, &type, &value));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 3000 / ns, barrier_region));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 3100 / ns, lost_region));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 5000 / ns, solve_region));
  check(OTF2_EvtWriter_Enter(to, NULL, offset + 8000 / ns, lost_region));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 9000 / ns, main_region));
  check(OTF2_Archive_CloseEvtWriter(archive, to));
  to = OTF2_Archive_GetEvtWriter(archive, stream);
  check(OTF2_EvtWriter_Enter(to, NULL, offset + 4000 / ns, kernel_region));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 6000 / ns, kernel_region));
  check(OTF2_EvtWriter_Enter(to, NULL, offset + 6500 / ns, copy_region));
  check(OTF2_EvtWriter_Leave(to, NULL, offset + 7000 / ns, copy_region));
  for (unsigned long at = 0; at != depth; ++at)
    check(OTF2_EvtWriter_Enter(to, NULL, offset + 7500 / ns, kernel_region));
  for (unsigned long at = 0; at != depth; ++at)
    check(OTF2_EvtWriter_Leave(to, NULL, offset + 7600 / ns, kernel_region));
  check(OTF2_Archive_CloseEvtWriter(archive, to));
  for (unsigned long at = 0; at != more; ++at) {
    to = OTF2_Archive_GetEvtWriter(archive, first_further + at);
    check(OTF2_EvtWriter_Enter(to, NULL, offset + 10, solve_region));
    check(OTF2_EvtWriter_Leave(to, NULL, offset + 20, solve_region));
    check(OTF2_Archive_CloseEvtWriter(archive, to));
  }
  check(OTF2_Archive_CloseEvtFiles(archive));
  check(OTF2_Archive_OpenDefFiles(archive));
  check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, host_thread)));
  check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, stream)));
  for (unsigned long at = 0; at != more; ++at)
    check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, first_further + at)));
  check(OTF2_Archive_CloseDefFiles(archive));
  OTF2_GlobalDefWriter* all = OTF2_Archive_GetGlobalDefWriter(archive);
  check(OTF2_GlobalDefWriter_WriteClockProperties(all, 1000000000 / ns, offset, 1000, OTF2_UNDEFINED_TIMESTAMP));
  const char* const texts[] = {"main", "solve", "MPI_Barrier", "saxpy",       "copy",   "lost",
                               "",     "node7", "MPI Rank 5",  "temperature", "metric", "adaptyst::process"};
  for (OTF2_StringRef at = 0; at != sizeof texts / sizeof *texts; ++at)
    check(OTF2_GlobalDefWriter_WriteString(all, at, texts[at]));
  const OTF2_RegionRole roles[] = {OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_ROLE_CODE,          OTF2_REGION_ROLE_BARRIER,
                                   OTF2_REGION_ROLE_FUNCTION, OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_REGION_ROLE_CODE};
  for (OTF2_RegionRef at = 0; at != sizeof roles / sizeof *roles; ++at)
    check(OTF2_GlobalDefWriter_WriteRegion(all, at, at, at, at == solve_region ? 10 : 6, roles[at],
                                           at == barrier_region ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                           OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
  const OTF2_MetricMemberRef member = 0;
  check(OTF2_GlobalDefWriter_WriteMetricMember(all, member, 9, 6, OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT,
                                               OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0, 6));
  check(OTF2_GlobalDefWriter_WriteMetricClass(all, 0, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 0, 7, 6, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  check(OTF2_GlobalDefWriter_WriteLocationGroup(all, 0, 8, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP));
  OTF2_AttributeValue property;
  property.uint64 = 7;
  check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(all, 0, 11, OTF2_TYPE_STRING, property));
  check(OTF2_GlobalDefWriter_WriteLocation(all, host_thread, 6, OTF2_LOCATION_TYPE_CPU_THREAD, 9, 0));
  check(OTF2_GlobalDefWriter_WriteLocation(all, stream, 6, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 4 + 2 * depth, 0));
  for (unsigned long at = 0; at != more; ++at)
    check(OTF2_GlobalDefWriter_WriteLocation(all, first_further + at, 6, OTF2_LOCATION_TYPE_CPU_THREAD, 2, 0));
  check(OTF2_Archive_CloseGlobalDefWriter(archive, all));
  check(OTF2_Archive_Close(archive));
  return 0;
}
