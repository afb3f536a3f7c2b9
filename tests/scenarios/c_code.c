#include "c_code.h"

#include <adaptyst/adaptyst.h>
#include <setjmp.h>
#include <string.h>

static volatile int turns;

void c_calls_back(void (*inside)(void)) {
  ADAPTYST_BEGIN("pair of C");
  {
    ADAPTYST_REGION("scope of C");
    inside();
  }
  ADAPTYST_END();
}

int c_leaves_early(int how) {
  ADAPTYST_FUNCTION();
  for (turns = 0; turns < 10; ++turns) {
    ADAPTYST_REGION("turn");
    if (how == 0) continue;
    if (how == 1) break;
    if (how == 2) return 1;
    if (how == 3) goto out;
  }
  return 0;
out:
  return 2;
}

static jmp_buf back;

static __attribute__((noinline)) void jump(void) {
  ADAPTYST_REGION("left");
  ADAPTYST_BEGIN("left pair");
  longjmp(back, 1);
}

static __attribute__((noinline)) void jump_back(void) {
  if (setjmp(back) == 0) jump();
}

void c_jumps_out(int jumps) {
  for (int at = 0; at != jumps; ++at) jump_back();
  {
    ADAPTYST_REGION("around");
    jump_back();
  }
}

void c_pairs_left_early(int times) {
  for (int at = 0; at != times; ++at) {
    ADAPTYST_BEGIN("never ended");
    if (turns >= 0) continue;
    ADAPTYST_END();
  }
}

static void begin_step(void) { ADAPTYST_BEGIN("step"); }
static void end_step(void) { ADAPTYST_END(); }

void c_pair_across_functions(void) {
  begin_step();
  { ADAPTYST_REGION("in step"); }
  end_step();
}

void c_names(const char* name) {
  char passing[512];
  strncpy(passing, name, sizeof passing - 1);
  passing[sizeof passing - 1] = '\0';
  ADAPTYST_BEGIN_NAMED(passing);
  {
    ADAPTYST_REGION_NAMED(passing);
    memset(passing, 'x', strlen(passing));
  }
  ADAPTYST_END();
}

static void end_it(void* handle) { adaptyst_end_handle((adaptyst_handle*)handle); }

void c_handles(void (*on_another_thread)(void* handle, void (*end)(void*))) {
  adaptyst_handle first = ADAPTYST_HANDLE_BEGIN("first handle of C");
  adaptyst_handle second = ADAPTYST_HANDLE_BEGIN("second handle of C");
  adaptyst_handle none = {0};
  on_another_thread(&first, end_it);
  adaptyst_end_handle(&second);
  adaptyst_end_handle(&second); /* counted */
  adaptyst_end_handle(&none);
}

void c_instants(int times) {
  ADAPTYST_REGION("with instants");
  for (int at = 1; at <= times; ++at) {
    ADAPTYST_METRIC("residual of C", at);
    ADAPTYST_MARK("mark of C");
  }
}

void c_devices(void) {
  static const adaptyst_device gpu = ADAPTYST_DEVICE(ADAPTYST_DEVICE_GPU, 3, "GPU of C");
  {
    ADAPTYST_OFFLOAD("offload of C", gpu);
    ADAPTYST_METRIC("in offload of C", 1.5);
  }
  adaptyst_operation copy = ADAPTYST_SUBMIT_WORK("upload of C", gpu, 7, ADAPTYST_COPY_TO, 1000, 0);
  adaptyst_operation kernel = ADAPTYST_SUBMIT("kernel of C", gpu, 7, ADAPTYST_KERNEL);
  adaptyst_operation lost = ADAPTYST_SUBMIT("lost of C", gpu, 7, ADAPTYST_FILL);
  const uint64_t submitted_ns = kernel.submitted_ns;
  adaptyst_complete(&copy, submitted_ns + 1000, submitted_ns + 2000);
  adaptyst_complete(&copy, 1, 2); /* nothing */
  adaptyst_complete(&kernel, submitted_ns + 2000, submitted_ns + 5000);
  adaptyst_abandon(&lost, ADAPTYST_DEVICE_LOST);
  { ADAPTYST_WAIT("wait of C"); }
  adaptyst_metadata("written in", "C");
}

void c_phases(int times, void (*inside)(void)) {
  ADAPTYST_PHASES("first of C");
  for (int at = 0; at != times; ++at) {
    ADAPTYST_NEXT("second of C");
    inside();
    ADAPTYST_NEXT("third of C");
  }
}

void c_ends_without_begin(int times) {
  for (int at = 0; at != times; ++at) ADAPTYST_END();
}

void c_pairs_in_a_row(int times) {
  for (int at = 0; at != times; ++at) {
    ADAPTYST_BEGIN("outer pair");
    ADAPTYST_BEGIN("inner pair");
    ADAPTYST_END();
    ADAPTYST_END();
  }
}

void c_pair_begin(void) { ADAPTYST_BEGIN("half"); }
void c_pair_end(void) { ADAPTYST_END(); }

void c_nested_pairs(int depth) {
  ADAPTYST_BEGIN("level");
  if (depth > 1) c_nested_pairs(depth - 1);
  ADAPTYST_END();
}

void c_in_handler(void) {
  ADAPTYST_REGION("scope in handler");
  ADAPTYST_BEGIN("pair in handler");
  ADAPTYST_END();
}

void c_short_pairs(uint64_t times) {
  for (uint64_t at = 0; at != times; ++at) {
    ADAPTYST_BEGIN("short pair");
    ADAPTYST_BEGIN("shorter pair");
    ADAPTYST_END();
    ADAPTYST_END();
  }
}

void c_short_scopes(uint64_t times) {
  for (uint64_t at = 0; at != times; ++at) {
    ADAPTYST_REGION("short scope");
    { ADAPTYST_REGION("shorter scope"); }
  }
}

int c_counts_values(int times) {
  int evaluated = 0;
  for (int at = 0; at != times; ++at) ADAPTYST_METRIC("values of C", ++evaluated);
  return evaluated;
}
