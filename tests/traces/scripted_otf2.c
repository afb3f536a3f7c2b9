// Writes an OTF2 archive of two ranks of MPI and a queue: scripted_otf2 FOLDER [RANKS] <SCRIPT. The lines of the script
// are the cases of `line_of` below; "-" is an empty text. The group of all ranks lists RANKS locations, 2 without it.
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writing_otf2.h"

enum { locations = 3, queue = 2, max_definitions = 1000, max_text = 60 };
static struct {
  char name[max_text], file[max_text];
  unsigned line;
} regions[max_definitions];
static struct {
  char name[max_text];
  unsigned has_locations;  // its group has the numbers of locations
} communicators[max_definitions];
static unsigned region_count, communicator_count, ranks = 2;
static OTF2_EvtWriter* writers[locations];

static void write_event(const char* what, const unsigned long* number) {
  OTF2_EvtWriter* const to = writers[number[0]];
  const OTF2_TimeStamp at = number[1];
  const unsigned a = (unsigned)number[2], b = (unsigned)number[3], c = (unsigned)number[4];
  if (strcmp(what, "enter") == 0) check(OTF2_EvtWriter_Enter(to, NULL, at, a));
  else if (strcmp(what, "leave") == 0) check(OTF2_EvtWriter_Leave(to, NULL, at, a));
  else if (strcmp(what, "send") == 0) check(OTF2_EvtWriter_MpiSend(to, NULL, at, a, b, c, number[5]));
  else if (strcmp(what, "recv") == 0) check(OTF2_EvtWriter_MpiRecv(to, NULL, at, a, b, c, number[5]));
  else if (strcmp(what, "irecv") == 0) check(OTF2_EvtWriter_MpiIrecv(to, NULL, at, a, b, c, number[5], at));
  else if (strcmp(what, "collective") == 0) {
    check(OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, at));
    check(OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, at, (OTF2_CollectiveOp)a, b, OTF2_UNDEFINED_UINT32, 0, 0));
  } else if (strcmp(what, "put") == 0) check(OTF2_EvtWriter_RmaPut(to, NULL, at, 0, 0, b, a));
  else if (strcmp(what, "done") == 0) check(OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, at, 0, a));
  else exit(2);
}

static void read_script(void) {
  char line[256], what[max_text];
  while (fgets(line, sizeof line, stdin) != NULL) {
    unsigned long number[6] = {0};
    if (sscanf(line, "region %59s %59s %u", regions[region_count].name, regions[region_count].file,
               &regions[region_count].line) == 3)
      ++region_count;
    else if (sscanf(line, "communicator %59s %u", communicators[communicator_count].name,
                    &communicators[communicator_count].has_locations) == 2)
      ++communicator_count;
    else if (sscanf(line, "%59s %lu %lu %lu %lu %lu %lu", what, &number[0], &number[1], &number[2], &number[3],
                    &number[4], &number[5]) >= 4 &&
             number[0] < locations)
      write_event(what, number);
    else exit(2);
    if (region_count == max_definitions || communicator_count == max_definitions) exit(2);
  }
}

static OTF2_StringRef texts;
static OTF2_StringRef text(OTF2_GlobalDefWriter* to, const char* of) {
  check(OTF2_GlobalDefWriter_WriteString(to, texts, strcmp(of, "-") == 0 ? "" : of));
  return texts++;
}

int main(int count, char** words) {
  if (count < 2) return 2;
  if (count > 2) ranks = (unsigned)atoi(words[2]);
  OTF2_Archive* const archive = OTF2_Archive_Open(words[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 16 << 20,
                                                  OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  uint64_t* const members = calloc(ranks, sizeof *members);
  if (archive == NULL || members == NULL) return 1;
  const OTF2_FlushCallbacks callbacks = {flush_always, NULL};
  check(OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
  check(OTF2_Archive_OpenEvtFiles(archive));
  for (unsigned at = 0; at != locations; ++at) writers[at] = OTF2_Archive_GetEvtWriter(archive, at);
  read_script();
  uint64_t events[locations];
  for (unsigned at = 0; at != locations; ++at) {
    check(OTF2_EvtWriter_GetNumberOfEvents(writers[at], &events[at]));
    check(OTF2_Archive_CloseEvtWriter(archive, writers[at]));
  }
  check(OTF2_Archive_CloseEvtFiles(archive));
  check(OTF2_Archive_OpenDefFiles(archive));
  for (unsigned at = 0; at != locations; ++at)
    check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, at)));
  check(OTF2_Archive_CloseDefFiles(archive));
  OTF2_GlobalDefWriter* const all = OTF2_Archive_GetGlobalDefWriter(archive);
  check(OTF2_GlobalDefWriter_WriteClockProperties(all, 1000000000, 0, 100000, OTF2_UNDEFINED_TIMESTAMP));
  const OTF2_StringRef nothing = text(all, "-"), node = text(all, "node"), process = text(all, "process");
  for (OTF2_RegionRef at = 0; at != region_count; ++at) {
    const OTF2_StringRef name = text(all, regions[at].name), file = text(all, regions[at].file);
    check(OTF2_GlobalDefWriter_WriteRegion(all, at, name, name, nothing, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
                                           OTF2_REGION_FLAG_NONE, file, regions[at].line, 0));
  }
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(all, 0, node, nothing, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  for (unsigned at = 0; at != locations; ++at) {
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        all, at, process, at == queue ? OTF2_LOCATION_GROUP_TYPE_ACCELERATOR : OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
        at == queue ? 0 : OTF2_UNDEFINED_LOCATION_GROUP));
    check(OTF2_GlobalDefWriter_WriteLocation(
        all, at, process, at == queue ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM : OTF2_LOCATION_TYPE_CPU_THREAD,
        events[at], at));
  }
  // Further ranks have no location of the archive.
  for (unsigned at = 0; at != ranks; ++at) members[at] = at < 2 ? at : at + locations;
  check(OTF2_GlobalDefWriter_WriteGroup(all, 0, nothing, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                        OTF2_GROUP_FLAG_NONE, ranks, members));
  for (unsigned by_location = 0; by_location != 2; ++by_location) {
    for (unsigned at = 0; at != ranks && by_location == 0; ++at) members[at] = at;
    for (unsigned at = 0; at != ranks && by_location == 1; ++at) members[at] = at < 2 ? at : at + locations;
    check(OTF2_GlobalDefWriter_WriteGroup(all, 1 + by_location, nothing, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                          by_location ? OTF2_GROUP_FLAG_GLOBAL_MEMBERS : OTF2_GROUP_FLAG_NONE, ranks,
                                          members));
  }
  for (OTF2_CommRef at = 0; at != communicator_count; ++at)
    check(OTF2_GlobalDefWriter_WriteComm(all, at, text(all, communicators[at].name),
                                         1 + (communicators[at].has_locations != 0), OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  check(OTF2_GlobalDefWriter_WriteRmaWin(all, 0, nothing, OTF2_UNDEFINED_COMM, OTF2_RMA_WIN_FLAG_NONE));
  check(OTF2_Archive_CloseGlobalDefWriter(archive, all));
  check(OTF2_Archive_Close(archive));
  free(members);
  return 0;
}
