// Writes an OTF2 archive of three ranks of MPI and a queue of the first, with Score-P's conventions: foreign_mpi_otf2
// FOLDER. otf2.py has the same events as a list.
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

#include "writing_otf2.h"

// Locations 0 to 2 are ranks; their groups have no names that say so.
enum { ranks = 3, queue = 7 };
enum {
  main_region,
  send_region,
  recv_region,
  isend_region,
  irecv_region,
  wait_region,
  waitall_region,
  bcast_region,
  allreduce_region,
  copy_region,
  dtoh_region,
  region_count
};
enum { world, some, window_communicator };  // `some` has the ranks 2 and 0

static OTF2_EvtWriter* to;
static void enter(OTF2_TimeStamp at, OTF2_RegionRef region) { check(OTF2_EvtWriter_Enter(to, NULL, at, region)); }
static void leave(OTF2_TimeStamp at, OTF2_RegionRef region) { check(OTF2_EvtWriter_Leave(to, NULL, at, region)); }
static void isend(OTF2_TimeStamp at, unsigned receiver, OTF2_CommRef in, unsigned tag, unsigned bytes, unsigned id) {
  enter(at, isend_region);
  check(OTF2_EvtWriter_MpiIsend(to, NULL, at + 1, receiver, in, tag, bytes, id));
  leave(at + 10, isend_region);
}
static void collective(OTF2_TimeStamp at, OTF2_RegionRef region, OTF2_CollectiveOp what, OTF2_CommRef in, unsigned root,
                       unsigned sent, unsigned received) {
  enter(at, region);
  check(OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, at + 1));
  check(OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, at + 90, what, in, root, sent, received));
  leave(at + 100, region);
}

static uint64_t write_events(unsigned location) {
  if (location == queue) {
    check(OTF2_EvtWriter_RmaGet(to, NULL, 3000, 0, 0, 64, 1));  // from the host
    check(OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, 3100, 0, 1));
    check(OTF2_EvtWriter_RmaPut(to, NULL, 3200, 0, 0, 32, 2));
    check(OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, 3300, 0, 2));
    enter(3400, copy_region);
    check(OTF2_EvtWriter_RmaPut(to, NULL, 3410, 0, 1, 16, 3));  // to a queue
    check(OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, 3420, 0, 3));
    leave(3500, copy_region);
    enter(3600, copy_region);
    leave(3700, copy_region);
    enter(3800, dtoh_region);
    leave(3900, dtoh_region);
  } else {
    enter(0, main_region);
    if (location == 0) {
      enter(1000, send_region);
      check(OTF2_EvtWriter_MpiSend(to, NULL, 1001, 1, world, 7, 4096));
      leave(2000, send_region);
      isend(2200, 0, some, 9, 0, 1);
      enter(2300, waitall_region);
      check(OTF2_EvtWriter_MpiIrecv(to, NULL, 2350, 1, world, 2, 20, 3));
      check(OTF2_EvtWriter_MpiIrecv(to, NULL, 2360, 1, world, 1, 10, 2));
      leave(2400, waitall_region);
      check(OTF2_EvtWriter_RmaPut(to, NULL, 2500, 0, 1, 8, 4));
    }
    if (location == 1) {
      enter(500, recv_region);
      check(OTF2_EvtWriter_MpiRecv(to, NULL, 2050, 0, world, 7, 4096));
      leave(2100, recv_region);
      isend(2110, 0, world, 1, 10, 1);
      isend(2130, 0, world, 2, 20, 2);
    }
    if (location == 2) {
      enter(100, irecv_region);
      check(OTF2_EvtWriter_MpiIrecvRequest(to, NULL, 110, 5));
      leave(150, irecv_region);
      enter(200, wait_region);
      check(OTF2_EvtWriter_MpiIrecv(to, NULL, 2390, 1, some, 9, 0, 5));
      leave(2400, wait_region);
    }
    if (location != 1)
      collective(4000, allreduce_region, OTF2_COLLECTIVE_OP_ALLREDUCE, some, OTF2_COLLECTIVE_ROOT_NONE, 8, 16);
    collective(5000, bcast_region, OTF2_COLLECTIVE_OP_BCAST, world, 2, location == 2 ? 300 : 0, 100);
    leave(9000, main_region);
  }
  uint64_t count = 0;
  check(OTF2_EvtWriter_GetNumberOfEvents(to, &count));
  return count;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  OTF2_Archive* archive = OTF2_Archive_Open(words[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                            OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == NULL) return 1;
  const OTF2_FlushCallbacks callbacks = {flush_always, NULL};
  check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  check(OTF2_Archive_OpenEvtFiles(archive));
  const unsigned locations[] = {0, 1, 2, queue};
  uint64_t events[4];
  for (unsigned at = 0; at != 4; ++at) {
    to = OTF2_Archive_GetEvtWriter(archive, locations[at]);
    events[at] = write_events(locations[at]);
    check(OTF2_Archive_CloseEvtWriter(archive, to));
  }
  check(OTF2_Archive_CloseEvtFiles(archive));
  check(OTF2_Archive_OpenDefFiles(archive));
  for (unsigned at = 0; at != 4; ++at)
    check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, locations[at])));
  check(OTF2_Archive_CloseDefFiles(archive));
  OTF2_GlobalDefWriter* all = OTF2_Archive_GetGlobalDefWriter(archive);
  check(OTF2_GlobalDefWriter_WriteClockProperties(all, 1000000000, 0, 10000, OTF2_UNDEFINED_TIMESTAMP));
  const char* const texts[] = {
      "main",        "MPI_Send",      "MPI_Recv",      "MPI_Isend",      "MPI_Irecv",   "MPI_Wait",
      "MPI_Waitall", "MPI_Bcast",     "MPI_Allreduce", "copy",           "Memcpy DtoH", "",
      "node7",       "Master thread", "process",       "MPI_COMM_WORLD", "some,ranks",  "main.c"};
  enum { nothing = 11, node, thread, process, world_name, some_name, source };
  for (OTF2_StringRef at = 0; at != sizeof texts / sizeof *texts; ++at)
    check(OTF2_GlobalDefWriter_WriteString(all, at, texts[at]));
  for (OTF2_RegionRef at = 0; at != region_count; ++at)
    check(OTF2_GlobalDefWriter_WriteRegion(
        all, at, at, at, nothing, at >= copy_region ? OTF2_REGION_ROLE_DATA_TRANSFER : OTF2_REGION_ROLE_FUNCTION,
        at == main_region || at >= copy_region ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
        at == main_region ? source : OTF2_UNDEFINED_STRING, at == main_region ? 12 : 0, at == main_region ? 80 : 0));
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 0, node, nothing, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (unsigned rank = 0; rank != ranks; ++rank) {
    check(OTF2_GlobalDefWriter_WriteLocationGroup(all, rank, process, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                  OTF2_UNDEFINED_LOCATION_GROUP));
    check(OTF2_GlobalDefWriter_WriteLocation(all, rank, thread, OTF2_LOCATION_TYPE_CPU_THREAD, events[rank], rank));
  }
  check(OTF2_GlobalDefWriter_WriteLocationGroup(all, ranks, process, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 0, 0));
  check(
      OTF2_GlobalDefWriter_WriteLocation(all, queue, thread, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, events[3], ranks));
  const uint64_t rank_locations[] = {0, 1, 2}, members[] = {2, 0}, of_device[] = {0, queue}, both[] = {0, 1};
  const OTF2_GroupFlag none = OTF2_GROUP_FLAG_NONE;
  check(OTF2_GlobalDefWriter_WriteGroup(all, 0, nothing, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, none, 3,
                                        rank_locations));
  check(OTF2_GlobalDefWriter_WriteGroup(all, 1, nothing, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, none, 3,
                                        rank_locations));
  check(OTF2_GlobalDefWriter_WriteGroup(all, 2, nothing, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, none, 2,
                                        members));
  check(OTF2_GlobalDefWriter_WriteGroup(all, 3, nothing, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_CUDA, none, 2,
                                        of_device));
  check(
      OTF2_GlobalDefWriter_WriteGroup(all, 4, nothing, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_CUDA, none, 2, both));
  check(OTF2_GlobalDefWriter_WriteComm(all, world, world_name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  check(OTF2_GlobalDefWriter_WriteComm(all, some, some_name, 2, world, OTF2_COMM_FLAG_NONE));
  check(OTF2_GlobalDefWriter_WriteComm(all, window_communicator, nothing, 4, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
  check(OTF2_GlobalDefWriter_WriteRmaWin(all, 0, nothing, window_communicator, OTF2_RMA_WIN_FLAG_NONE));
  check(OTF2_Archive_CloseGlobalDefWriter(archive, all));
  check(OTF2_Archive_Close(archive));
  return 0;
}
