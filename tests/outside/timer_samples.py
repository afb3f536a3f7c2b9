#!/usr/bin/env python3
"""Stack samples by timers, for users without privileges: timer_samples.py ADAPTYST SAMPLED TICKING [CASE …]

SAMPLED: tests/live/sampled.cpp; TICKING: ticking.cpp; both with frame pointers. As root, all runs are those of user nobody. A
filter refuses perf_event_open() in all of them.
"""
import ctypes
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import chance  # noqa: E402
from cases import run_cases  # noqa: E402
from compiling import AS_NOBODY, PLAIN, Failures, output, scratch, tool  # noqa: E402
from states import computes, find_child  # noqa: E402

ADAPTYST, SAMPLED, TICKING = sys.argv[1:4]
failures = Failures()
work = scratch(0o777)
started = []


def refuse_perf_event_open():
    """By a seccomp filter, as kernels of distributions and containers refuse it: EACCES."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 13), (0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(99)


def start(*command, options=("--stacks=frame-pointers", "--sample-frequency=250"), how=("--samples=timer",), variables=None, **more):
    for name in ("p.json", "p.folded"):
        (work / name).unlink(missing_ok=True)
    words = [*AS_NOBODY, ADAPTYST, "run", "--format=none", "--overhead=none", *how, f"--output={work}/p.json",
             f"--output={work}/p.folded", *options, "--", *map(str, command)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work,
                               env={**PLAIN, "HOME": str(work), **(variables or {})}, preexec_fn=refuse_perf_event_open, **more)
    started.append(running)
    return running


def observe(*command, **how):
    """The numbers that it printed, and the messages."""
    running = start(*command, **how)
    printed, messages = running.communicate(timeout=60)
    failures.equal(running.returncode, 0, f"the program ran: {messages}")
    return [int(word) for word in printed.split()], messages


def lines():
    """The folded file as (frames, weight in us), without what compilers add when they split a function."""
    made = []
    for line in (work / "p.folded").read_text().splitlines():
        frames, _, weight = line.rpartition(" ")
        made.append(([frame.split(" [clone")[0].split(".cold")[0] for frame in frames.split(";")], int(weight)))
    return made


def profile():
    return json.loads((work / "p.json").read_text())


def region(name):
    return next(row for row in profile()["regions"] if row["name"] == name)


def weight_of(stacks, *wanted):
    return sum(weight for frames, weight in stacks if all(frame in frames for frame in wanted))


def lost(reason):
    return profile()["samples"]["lost"].get(reason, 0)


def check_losses(cpu_us, what, most=8):
    """Samples and losses are the ticks of the CPU time. A virtual processor that the host stops has CPU time without ticks."""
    samples = profile()["samples"]
    ticks = samples["samples"] + samples["lost"].get("signal_in_use", 0) + samples["lost"].get("sample_ring_full", 0)
    failures.check(abs(ticks - cpu_us / 4000) <= most, what, f"{ticks} ticks in {cpu_us} us: {samples}")


def check_time(us, expected_us, what):
    """n samples have an error of √n, here of ticks of 4 ms."""
    failures.check(us > 0.5 * expected_us, f"{what}: not by losses alone", f"{us} us of {expected_us}")
    us += 4000 * (lost("signal_in_use") + lost("sample_ring_full"))
    ticks = expected_us / 4000
    failures.check(abs(us - expected_us) < (4 * ticks ** 0.5 + 0.1 * ticks) * 4000, what, f"{us} us, not {expected_us}: {profile()['samples']}")


def case_hot_function():
    (cpu_us,), messages = observe(SAMPLED, "chain", 1)
    stacks = lines()
    failures.check("include time in the kernel" in messages, "the message explains the samples", messages)
    hot = weight_of(stacks, "all", "computes", "outer(double)", "middle(double)", "inner(double)")
    failures.check(hot > 0.95 * weight_of(stacks, "computes") > 0.8 * weight_of(stacks) > 0,
                   "the planted function is found, in its region, with its callers", stacks)
    check_time(weight_of(stacks), cpu_us, "samples represent the CPU time")
    failures.check(weight_of(stacks, "sleeps") < 20_000, "a region that sleeps has hardly a sample", stacks)
    failures.check((region("computes")["samples"] or 0) > 0.5 * cpu_us / 4000, "they are counted by region", profile()["samples"])
    failures.equal(profile()["engine"], "inline", "the recorder provides the regions")


def case_unwound():
    """By unwinding tables, which is the default, and at the default frequency."""
    (cpu_us,), _ = observe(SAMPLED, "chain", 1.5, options=())
    stacks = lines()
    hot = weight_of(stacks, "all", "computes", "outer(double)", "middle(double)", "inner(double)")
    failures.check(hot > 0.9 * weight_of(stacks) > 0.5 * cpu_us, "the planted function is found with its callers", stacks)
    failures.check(any("main" in frames for frames, _ in stacks), "to the outermost", stacks)
    per_second = profile()["samples"]["samples"] / (cpu_us / 1e6)
    failures.check(70 < per_second < 130, "at 99 Hz", per_second)
    failures.check(lost("not_unwound") + lost("truncated") <= max(5, 0.05 * profile()["samples"]["samples"]), "whole stacks", profile()["samples"])


def case_shares():
    observe(SAMPLED, "random", 1.6)
    samples = [region(name)["samples"] for name in ("seventy", "thirty")]
    share = samples[0] / sum(samples)
    failures.check(sum(samples) > 150 and abs(share - 0.7) < chance.share_tolerance(0.7, sum(samples)) + 0.03,
                   "shares of samples are those of time", f"{share} of {sum(samples)}")


def case_short_regions():
    observe(SAMPLED, "short", 1.2)
    stacks = [(frames, weight) for frames, weight in lines() if "(unknown)" not in frames]
    failures.check(weight_of(stacks) > 0.5 * weight_of(lines()), "most regions are known", profile()["samples"])
    right = sum(weight_of(stacks, "around", name, f"in_{name}()") for name in ("first", "second"))
    either = sum(weight_of(stacks, f"in_{name}()") for name in ("first", "second"))
    print(f"wrong: {either - right} of {either} us")
    failures.check(right >= 0.99 * either > 0, "at most 1 % of samples are in a wrong region", f"{either - right} of {either} us")


def case_threads():
    (cpu_us, _), _ = observe(TICKING, "threads", 1.2)
    stacks = lines()
    check_time(weight_of(stacks, "threaded", "in_thread(double)"), 1.2e6, "threads are sampled, in their regions")
    # The kernel looks at timers when it ticks, so threads between two ticks have fewer samples.
    short_us = weight_of(stacks, "short", "in_short_thread(double)")
    failures.check(short_us < 300_000, "threads that are shorter than a tick have no more samples than time", f"{short_us} us of 200000")
    failures.check(weight_of(stacks) < 1.2 * cpu_us, "no thread is sampled twice", f"{weight_of(stacks)} of {cpu_us} us")
    # At its end, the program waits for the observer. Its markers are its own functions.
    of_run = [frames for frames, _ in stacks if "_dl_call_fini" not in frames]
    of_adapter = [frames for frames in of_run if any("adaptyst" in frame.replace("adaptyst::v1::detail::", "") for frame in frames)]
    failures.equal(of_adapter, [], "no function of the adapter is there")


def case_fork():
    observe(TICKING, "fork", 0.5)
    stacks = lines()
    check_time(weight_of(stacks, "parent", "in_parent(double)"), 0.5e6, "the parent is sampled")
    check_time(weight_of(stacks, "child", "in_child(double)"), 0.5e6, "and its child")
    failures.equal(weight_of(stacks, "child", "in_parent(double)") + weight_of(stacks, "parent", "in_child(double)"), 0, "each in its regions")


def case_children_and_exec():
    printed, _ = observe("sh", "-c", f"{SAMPLED} chain 0.5 & {SAMPLED} chain 0.5; wait; exec {SAMPLED} chain 0.5")
    stacks = lines()
    hot = weight_of(stacks, pathlib.Path(SAMPLED).name, "computes", "inner(double)")
    failures.check(hot > 0.8 * weight_of(stacks) > 0, "they are sampled in their regions", stacks)
    check_time(weight_of(stacks), sum(printed), "all three")


def case_ranks_of_a_machine():
    """One observer for two ranks, which a launcher has started: this script."""
    ranks = [start(SAMPLED, "chain", 1, how=("--samples=timer", "--engine=inline", "--node"),
                   variables={"PMI_RANK": str(rank), "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}) for rank in range(2)]
    done = [rank.communicate(timeout=60) for rank in ranks]
    failures.equal([rank.returncode for rank in ranks], [0, 0], f"the ranks ran: {done}")
    failures.equal(profile()["ranks"], 2, "there is one report")
    stacks = lines()
    check_time(weight_of(stacks, "computes", "inner(double)"), sum(int(printed) for printed, _ in done), "both ranks are sampled")


def case_killed():
    running = start(SAMPLED, "chain", 60)
    child = find_child(running.pid, SAMPLED)
    computes(child, 0.4)
    os.kill(child, signal.SIGKILL)
    failures.equal(running.wait(30), -signal.SIGKILL, "the program was killed")
    stacks = lines()
    failures.check(weight_of(stacks, "all", "computes", "inner(double)") > 0.8 * weight_of(stacks) > 0, "its samples are there", stacks)


def case_own_handler():
    (cpu_us, calls), _ = observe(TICKING, "handler", 0.6)
    failures.equal(calls, 1, "the handler of the program gets its own signal only")
    failures.check(lost("signal_in_use") > 0.9 * cpu_us / 4000, "missing samples are counted", profile()["samples"])
    check_losses(cpu_us, "all of them")


def case_blocked():
    (cpu_us, _), _ = observe(TICKING, "blocked", 0.6)
    failures.check(lost("signal_in_use") > 0.9 * cpu_us / 4000, "missing samples are counted", profile()["samples"])
    check_losses(cpu_us, "all of them")


def case_default_action():
    (cpu_us, different), _ = observe(TICKING, "ignored", 0.6)
    failures.equal(different, 0, "the program sees the default action")
    check_time(weight_of(lines(), "main", "in_main(double)"), cpu_us, "and is sampled")
    check_losses(cpu_us, "no loss is made up")
    failures.check(profile()["samples"]["samples"] > 0.5 * cpu_us / 4000, "most samples are there", profile()["samples"])


def case_restarted_reads():
    (_, failed), _ = observe(TICKING, "reading", 0.6)
    failures.equal(failed, 0, "no read fails")
    failures.check(profile()["samples"]["samples"] > 100, "while the kernel's time is sampled", profile()["samples"])


def case_sleeps():
    """Ticks come when the thread returns to user code, so hardly a sleep ends early."""
    (cpu_us, interrupted), _ = observe(TICKING, "sleeping", 0.5)
    print(f"interrupted sleeps: {interrupted}")
    failures.check(interrupted <= cpu_us / 4000, "no more sleeps are interrupted than there are ticks", interrupted)


def case_errno():
    (_, changes), _ = observe(TICKING, "errno", 0.6)
    failures.equal(changes, 0, "errno stays")


def case_deep_stacks():
    observe(TICKING, "deep", 0.6)
    failures.check(lost("truncated") > 50, "stacks beyond the copy are counted", profile()["samples"])
    failures.check(weight_of(lines(), "descend(unsigned int, double)") > 0.8 * weight_of(lines()), "the inner frames are there", lines())


def case_no_timers():
    """RLIMIT_SIGPENDING also limits timers."""
    observe("prlimit", "--sigpending=0", TICKING, "threads", 0.4)
    failures.check(lost("too_many_threads") > 200, "threads without a timer are counted", profile()["samples"])


COMPUTE = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void compute(double seconds) {
  struct timespec now;
  do {
    for (volatile int at = 0; at < 10000; ++at) {}
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec + now.tv_nsec * 1e-9 < seconds);
}
"""


def build(name, text, *options):
    made, source = work / name, work / f"{name}.c"
    source.write_text(COMPUTE + text)
    output([tool("cc"), "-O1", "-w", "-pthread", source, *options, "-o", made])
    return made


def case_small_signal_stack():
    """A frame of a signal may be larger, with the registers of new processors."""
    observe(build("small", """int main(void) {
  stack_t own = {.ss_sp = malloc(2048), .ss_size = 2048};
  if (sigaltstack(&own, NULL) != 0) return 1;
  compute(0.5);
}"""))
    failures.check(profile()["samples"]["samples"] > 60, "it is sampled", profile()["samples"])


def case_handler_that_jumps():
    """It is called at the ticks of the kernel, as those of samples are, and leaves no signal blocked but its own."""
    (blocked,), _ = observe(build("jumps", """static sigjmp_buf before;
static void jump(int number) { siglongjmp(before, 1); }
int main(void) {
  struct itimerval each = {{0, 4000}, {0, 4000}};
  signal(SIGPROF, jump);
  setitimer(ITIMER_PROF, &each, NULL);
  sigsetjmp(before, 1);
  compute(1);
  signal(SIGPROF, SIG_IGN);
  sigset_t all;
  sigprocmask(SIG_BLOCK, NULL, &all);
  printf("%d\\n", sigismember(&all, SIGURG));
}"""))
    failures.equal(blocked, 0, "SIGURG is not blocked")
    failures.check(profile()["samples"]["samples"] > 150, "it is sampled", profile()["samples"])


def case_plugin_that_waits():
    """Its constructor waits for a thread, which calls signal() while the loader is locked."""
    plugin = build("plugin.so", """static volatile int is_ready;
static void* run(void* none) {
  signal(SIGPIPE, SIG_IGN);
  is_ready = 1;
  return none;
}
__attribute__((constructor)) static void wait_for_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  while (!is_ready) usleep(1000);
  pthread_join(thread, NULL);
}""", "-shared", "-fPIC")
    (loaded,), _ = observe(build("host", f"""int main(void) {{
  alarm(20);
  printf("%d\\n", dlopen("{plugin}", RTLD_NOW) != NULL);
}}"""))
    failures.equal(loaded, 1, "it is loaded")


def case_threads_of_constructors():
    """Those of libraries begin before a preloaded library has its constructor called."""
    build("libearly.so", """static pthread_t early;
static void* run(void* none) {
  compute(1);
  return none;
}
__attribute__((constructor)) static void start(void) { pthread_create(&early, NULL, run, NULL); }
void finish(void) { pthread_join(early, NULL); }""", "-shared", "-fPIC")
    observe(build("late", "void finish(void); int main(void) { finish(); }", f"-L{work}", "-learly", f"-Wl,-rpath,{work}"))
    check_time(weight_of(lines()), 1e6, "they are sampled")


def case_threads_at_the_end_of_the_program():
    program = build("stays", """static volatile int is_done;
static void* run(void* none) {
  compute(0.5);
  is_done = 1;
  for (;;) pause();
}
int main(int count, char** given) {
  pthread_t thread;
  sigset_t all;
  sigfillset(&all);
  if (count > 1) pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_create(&thread, NULL, run, NULL);
  while (!is_done) usleep(1000);
  printf("%ld\\n", (long)clock());
}""")
    (cpu_us,), _ = observe(program, "blocks")
    failures.equal(profile()["samples"]["samples"], 0, "it blocks the signal")
    check_losses(cpu_us, "samples are missing of a thread that has not ended")
    (cpu_us,), _ = observe(program)
    failures.check(profile()["samples"]["samples"] > 60, "it is sampled", profile()["samples"])
    check_losses(cpu_us, "and no loss is made up")


def case_ends_without_exit():
    """Destructors are not called. A child of vfork() calls _exit() in the memory of its parent, which goes on."""
    program = build("leaves", """int main(int count, char** given) {
  sigset_t all;
  sigfillset(&all);
  if (count > 2) sigprocmask(SIG_BLOCK, &all, NULL);
  compute(0.3);
  if (*given[1] == 'v' && vfork() == 0) _exit(0);
  if (*given[1] == 'v') compute(0.6);
  if (*given[1] == 'q') quick_exit(0);
  if (*given[1] == 'E') _Exit(0);
  _exit(0);
}""")
    for way, ticks in (("exit", 75), ("Exit", 75), ("quick", 75), ("vfork", 150)):
        observe(program, way, "blocks")
        failures.check(0.8 * ticks < lost("signal_in_use") < 1.2 * ticks, f"missing samples are counted: {way}", profile()["samples"])
        observe(program, way)
        failures.check(profile()["samples"]["samples"] > 0.5 * ticks, f"it is sampled: {way}", profile()["samples"])
        check_losses(4000 * ticks, f"and no loss is made up: {way}")


def case_fork_without_handlers():
    observe(build("forks", """int main(void) {
  compute(0.1);
  const pid_t child = _Fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
}"""))
    failures.check(lost("signal_in_use") < 100, "no loss is made up", profile()["samples"])


def case_signal_of_system_v():
    (calls, different), _ = observe(build("sysv", """extern void (*__sysv_signal(int, void (*)(int)))(int);
static volatile int calls;
static void count(int number) { ++calls; }
int main(void) {
  const int different = __sysv_signal(SIGURG, count) != SIG_DFL;
  compute(0.5);
  printf("%d %d\\n", calls, different);
}"""))
    failures.equal((calls, different), (0, 0), "the handler of the program gets no ticks, and the action before is the default")


def case_static_program():
    """It cannot load the adapter: its samples are unknown, not 0."""
    _, messages = observe(build("static", "int main(void) { compute(0.3); }", "-static"))
    failures.check("samples" not in profile(), "there are no sums", profile().get("samples"))
    failures.check("no program has loaded the timer adapter" in " ".join(messages.split()), "a message gives the reason", messages)
    failures.check("is linked statically: it cannot be sampled" in " ".join(messages.split()), "a message names it", messages)
    failures.equal(lines(), [], "no stack is invented")


def case_hostile_program():
    """It fills the memory with any content, again and again."""
    code = """
import mmap, os, random, time
memory = mmap.mmap(os.open(os.environ["ADAPTYST_SAMPLES"], os.O_RDWR), 0)
noise = random.Random(5).randbytes(1 << 20)
end = time.monotonic() + 2
while time.monotonic() < end:
    for at in range(0, len(memory) - len(noise), len(noise)):
        memory[at:at + len(noise)] = noise
    memory[48:48 + 8192] = bytes([2, 0, 0, 0, 0, 0, 0, 0]) * 1024
    time.sleep(0.01)
print(1)
"""
    observe("/usr/bin/python3", "-c", code)
    failures.check(lost("unreadable") > 100, "damaged slots are counted", profile()["samples"])


def case_too_fast():
    _, messages = observe(SAMPLED, "chain", 0.5, options=("--sample-frequency=997",))
    failures.check("the sample frequency is 250 Hz" in messages, "the limit is reported", messages)


def case_refused_without_timers():
    """The hint names them."""
    _, messages = observe(SAMPLED, "chain", 0.2, how=("--engine=inline",))
    failures.check("--samples timer" in " ".join(messages.split()), "the message names the option", messages)
    done = subprocess.run([*AS_NOBODY, ADAPTYST, "doctor"], capture_output=True, text=True, timeout=60, check=False, cwd=work,
                          preexec_fn=refuse_perf_event_open, env={**PLAIN, "HOME": str(work)})
    failures.check("--samples timer" in " ".join(done.stdout.split()), "and so does the doctor", done.stdout)


def case_attach():
    done = subprocess.run([*AS_NOBODY, ADAPTYST, "attach", "--engine=inline", "--samples=timer", "--duration=0.1s", str(os.getpid())],
                          capture_output=True, text=True, timeout=60, check=False, cwd=work, env={**PLAIN, "HOME": str(work)})
    failures.check("must be loaded when a program starts" in done.stderr, "attach reports that it cannot", done.stderr)


run_cases(globals(), sys.argv[4:], failures, started)
