// A program with NVTX: each case is named by the first argument. It prints what NVTX returned, where that matters.
#include <adaptyst/region.hpp>

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <stdexcept>
#include <string>
#include <thread>

#include "nvtx_host.hpp"

namespace {

nvtxEventAttributes_t ascii(const char* message) {
  nvtxEventAttributes_t event;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}
nvtxEventAttributes_t wide(const wchar_t* message) {
  nvtxEventAttributes_t event;
  event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = message;
  return event;
}
nvtxEventAttributes_t registered(nvtxStringHandle_t string) {
  nvtxEventAttributes_t event;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = string;
  return event;
}

std::uint32_t own_number() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

void every_call(const char*) {
  nvtxInitialize(nullptr);
  errno = 77;
  const nvtxEventAttributes_t pushed = ascii("pushed with attributes");
  const nvtxEventAttributes_t begun = ascii("started with attributes");
  const nvtxEventAttributes_t marked = ascii("marked with attributes");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("physics");
  const nvtxDomainHandle_t other = nvtxDomainCreateW(L"Wärme");
  const nvtxEventAttributes_t first = registered(nvtxDomainRegisterStringA(domain, "registered"));
  const nvtxEventAttributes_t second = registered(nvtxDomainRegisterStringW(other, L"größer"));
  for (int at = 0; at != 3; ++at) {
    nvtxRangePushA("pushed");
    nvtxMarkA("marked");
    nvtxMarkW(L"markiert: ä");
    nvtxMarkEx(&marked);
    nvtxDomainMarkEx(domain, &marked);
    nvtxRangePop();
    nvtxRangePushW(L"\u00fcber \u20ac \U0001F680");
    nvtxRangePop();
    nvtxRangePushEx(&pushed);
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartA("started"));
    nvtxRangeEnd(nvtxRangeStartW(L"begonnen: ß"));
    nvtxRangeEnd(nvtxRangeStartEx(&begun));
    nvtxDomainRangePushEx(domain, &first);
    nvtxDomainRangePushEx(other, &second);
    nvtxDomainRangePop(other);
    nvtxDomainRangePop(domain);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &begun));
  }
  const wchar_t odd[] = {L'o', L'd', L'd', static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x7FFFFFFF), 0};
  const nvtxEventAttributes_t no_characters = wide(odd);
  nvtxRangePushEx(&no_characters);
  nvtxRangePop();
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, nullptr));
  nvtxDomainDestroy(domain);
  std::printf("errno %d\n", errno);
}

void nesting(const char*) {
  const auto work = [](const char* outer) {
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("inner");
    const nvtxEventAttributes_t event = ascii("step");
    for (int at = 0; at != 1000; ++at) {
      nvtxRangePushA(outer);
      nvtxDomainRangePushEx(domain, &event);
      {
        ADAPTYST_REGION("own");
        nvtxRangePushA("leaf");
        nvtxRangePop();
      }
      nvtxDomainRangePop(domain);
      nvtxRangePop();
    }
  };
  std::thread threads[] = {std::thread(work, "first"), std::thread(work, "second"), std::thread(work, "third")};
  for (std::thread& thread : threads) thread.join();
}

void levels(const char*) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("inner");
  const nvtxEventAttributes_t event = ascii("step");
  std::printf("%d ", nvtxRangePushA("a"));
  std::printf("%d ", nvtxDomainRangePushEx(domain, &event));
  std::printf("%d ", nvtxRangePushA("b"));
  std::printf("%d ", nvtxRangePop());
  std::printf("%d ", nvtxDomainRangePop(domain));
  std::printf("%d ", nvtxDomainRangePop(domain));
  std::printf("%d ", nvtxRangePop());
  std::printf("%d\n", nvtxRangePop());
}

void unbalanced(const char*) {
  nvtxRangePop();
  nvtxRangePushA("balanced");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(0x123456789);
  const nvtxRangeId_t ended = nvtxRangeStartA("ended twice");
  nvtxRangeEnd(ended);
  nvtxRangeEnd(ended);
  nvtxRangePushA("on another thread");
  std::thread([] { nvtxRangePop(); }).join();
  {
    ADAPTYST_REGION("own");
    nvtxRangePushA("left open");
  }
}

// A range that ends before a region of the program which began in it: the region is the one to be kept.
void crossing(const char*) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("other");
  const nvtxEventAttributes_t event = ascii("range");
  for (int at = 0; at != 10; ++at) {
    nvtxRangePushA("crossed by a region");
    {
      ADAPTYST_REGION("own");
      nvtxRangePop();
    }
    nvtxRangePushA("crossed by a domain");
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePop();
    nvtxDomainRangePop(domain);
    nvtxRangePushA("after");
    nvtxRangePop();
  }
}

void across_threads(const char*) {
  nvtxRangePushA("request");
  for (int at = 0; at != 100; ++at) {
    const nvtxRangeId_t first = nvtxRangeStartA("transfer");
    const nvtxRangeId_t second = nvtxRangeStartA("overlapping");
    std::thread([=] {
      nvtxRangeEnd(first);
      nvtxRangeEnd(second);
    }).join();
  }
  nvtxRangePop();
}

void many_open(const char*) {
  nvtxRangeId_t open[1100];
  for (nvtxRangeId_t& range : open) range = nvtxRangeStartA("open");
  for (const nvtxRangeId_t range : open) nvtxRangeEnd(range);
}

void reused_buffer(const char*) {
  char name[32];
  wchar_t wide_name[32];
  for (int at = 0; at != 60; ++at) {
    std::snprintf(name, sizeof name, "step %d", at % 3);
    nvtxRangePushA(name);
    std::memset(name, '?', sizeof name - 1);
    nvtxRangePop();
    std::swprintf(wide_name, 32, L"wide %d", at % 2);
    nvtxRangeEnd(nvtxRangeStartW(wide_name));
  }
}

void many_different_names(const char*) {
  char name[32];
  for (int at = 0; at != 3000; ++at) {
    std::snprintf(name, sizeof name, "step %d of 3000", at);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("io7");
  for (int at = 0; at != 2500; ++at) {
    std::snprintf(name, sizeof name, "file %c%c%c", 'a' + at / 676, 'a' + at / 26 % 26, 'a' + at % 26);
    const nvtxEventAttributes_t event = ascii(name);
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainMarkEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
}

void attributes(const char*) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("io");
  nvtxNameCategoryA(7, "checkpoint");
  nvtxNameCategoryW(8, L"Prüfung");
  nvtxDomainNameCategoryA(domain, 7, "read");
  nvtxDomainNameCategoryW(domain, 9, L"schreiben ü");
  const auto push = [](nvtxDomainHandle_t in, std::uint32_t category) {
    nvtxEventAttributes_t event = ascii("file");
    event.category = category;
    event.colorType = 1;
    event.color = 0xFF00FF00;
    nvtxDomainRangePushEx(in, &event);
    nvtxDomainRangePop(in);
    nvtxDomainRangeEnd(in, nvtxDomainRangeStartEx(in, &event));
  };
  for (int at = 0; at != 4; ++at)
    for (const std::uint32_t category : {0U, 7U, 8U, 9U, 10U}) {
      push(nullptr, category);
      push(domain, category);
    }
  nvtxEventAttributes_t number = ascii("numbered");
  const auto with_number = [&](int type) {
    number.payloadType = type;
    nvtxRangePushEx(&number);
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartEx(&number));
    nvtxMarkEx(&number);
  };
  number.payload.ullValue = 1;
  with_number(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
  number.payload.llValue = -20;
  with_number(NVTX_PAYLOAD_TYPE_INT64);
  number.payload.dValue = 300.5;
  with_number(NVTX_PAYLOAD_TYPE_DOUBLE);
  number.payload.ullValue = ~std::uint64_t{0};
  number.payload.uiValue = 4000;
  with_number(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
  number.payload.iValue = -50000;
  with_number(NVTX_PAYLOAD_TYPE_INT32);
  number.payload.fValue = 600000.5F;
  with_number(NVTX_PAYLOAD_TYPE_FLOAT);
  with_number(99);  // of a later NVTX
}

// The name of a range is its colour.
void colors(const char*) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("io");
  const auto with_color = [](const char* name, std::uint32_t color, std::int32_t type = 1) {
    nvtxEventAttributes_t made = ascii(name);
    made.colorType = type;
    made.color = color;
    return made;
  };
  const nvtxEventAttributes_t green = with_color("#76b900", 0xFF76B900), black = with_color("#000000", 0);
  const nvtxEventAttributes_t blue = with_color("#0000ff", 0x800000FF), red = with_color("#ff0000", 0xFFFF0000);
  const nvtxEventAttributes_t none = with_color("none", 0xFF123456, 0), unknown = with_color("none too", 0xFF123456, 7);
  nvtxEventAttributes_t changed = with_color("#111111", 0xFF111111);
  const nvtxEventAttributes_t* const ranges[] = {&green, &black, &none, &unknown, &changed};
  for (int at = 0; at != 3; ++at) {
    for (const nvtxEventAttributes_t* const range : ranges) {
      nvtxRangePushEx(range);
      nvtxRangePushA("plain");
      nvtxRangePop();
      nvtxRangePop();
    }
    changed.color = 0xFF222222;
    nvtxDomainRangePushEx(domain, &green);
    nvtxDomainRangePop(domain);
    nvtxRangeEnd(nvtxRangeStartEx(&blue));
    nvtxMarkEx(&red);
  }
}

void odd_arguments(const char*) {
  nvtxEventAttributes_t event;  // no message
  const auto forged = reinterpret_cast<nvtxStringHandle_t>(0x10);
  for (int at = 0; at != 2; ++at) {
    nvtxRangePushA(nullptr);
    nvtxRangePushW(nullptr);
    nvtxRangePushEx(nullptr);
    nvtxRangePushA("");
    for (int depth = 0; depth != 4; ++depth) nvtxRangePop();
    nvtxMarkA(nullptr);
    event = registered(forged);
    nvtxRangePushEx(&event);
    nvtxRangePop();
    event.size = 16;
    nvtxRangePushEx(&event);
    nvtxRangePop();
  }
  event = ascii("in no domain");
  nvtxDomainRangePushEx(reinterpret_cast<nvtxDomainHandle_t>(0x18), &event);
  nvtxDomainRangePop(reinterpret_cast<nvtxDomainHandle_t>(0x18));
  nvtxDomainNameCategoryA(nullptr, 3, nullptr);
  nvtxNameOsThreadA(own_number(), nullptr);
  nvtxDomainCreateA(nullptr);
}

void long_names(const char*) {
  const std::string name(10'000, 'n');
  const std::wstring wide_name(10'000, L'\u20ac');
  const nvtxDomainHandle_t domain = nvtxDomainCreateA(name.c_str());
  nvtxEventAttributes_t event = ascii("range");
  for (int at = 0; at != 5; ++at) {
    nvtxRangePushA(name.c_str());
    nvtxRangePop();
    nvtxRangePushW(wide_name.c_str());
    nvtxRangePop();
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
}

void deep(const char*) {
  for (int at = 0; at != 300; ++at) nvtxRangePushA("deep");
  for (int at = 0; at != 300; ++at) nvtxRangePop();
  nvtxRangePushA("after");
  nvtxRangePop();
}

void many_names(const char*) {
  for (int at = 0; at != 5000; ++at) {
    const nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(nullptr, std::to_string(at).c_str()));
    nvtxRangePushEx(&event);
    nvtxRangePop();
  }
}

void two_objects(const char* plugin) {
  nvtxRangePushA("in the program");
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  else reinterpret_cast<void (*)(int)>(dlsym(library, "annotate_in_plugin"))(50);
  nvtxRangePop();
}

void forking(const char*) {
  nvtxRangePushA("parent");
  for (int child = 0; child != 3; ++child) {
    const pid_t forked = fork();
    if (forked != 0) {
      waitpid(forked, nullptr, 0);
      continue;
    }
    for (int at = 0; at != 10; ++at) {
      nvtxRangePushA("child");
      nvtxRangePop();
      nvtxRangeEnd(nvtxRangeStartA("handle of a child"));
    }
    _exit(0);
  }
  nvtxRangePop();
}

struct scoped_range {
  explicit scoped_range(const char* name) { nvtxRangePushA(name); }
  ~scoped_range() { nvtxRangePop(); }
  scoped_range(const scoped_range&) = delete;
  scoped_range& operator=(const scoped_range&) = delete;
};

void exceptions(const char*) {
  for (int at = 0; at != 20; ++at) try {
      const scoped_range outer("outer");
      const scoped_range inner("inner");
      throw std::runtime_error("thrown");
    } catch (const std::exception&) {
      const scoped_range handler("handler");
    }
}

void thread_names(const char*) {
  nvtxNameOsThreadA(own_number(), "not the process");
  const auto name = [](const char* kept) {
    if (kept != nullptr) pthread_setname_np(pthread_self(), kept);
    nvtxNameOsThreadA(own_number(), "a worker with a long name");
    char found[32] = {};
    pthread_getname_np(pthread_self(), found, sizeof found);
    std::printf("%s,", found);
    nvtxRangePushA("work");
    nvtxRangePop();
  };
  std::thread(name, nullptr).join();
  std::thread(name, "given").join();
  std::thread([] { nvtxNameOsThreadW(own_number(), L"wide"); }).join();
  char found[32] = {};
  pthread_getname_np(pthread_self(), found, sizeof found);
  std::printf("%s\n", found);
}

// NVTX's functions are noexcept: a cancellation in them would end the process.
void cancelled(const char*) {
  std::thread([] {
    pthread_cancel(pthread_self());
    nvtxNameOsThreadA(own_number(), "cancelled");
    for (int at = 0; at != 5000; ++at) nvtxDomainRegisterStringA(nullptr, std::to_string(at).c_str());
    nvtxRangePushA("work");
    nvtxRangePop();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    std::puts("reached");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    pthread_testcancel();
    std::puts("the cancellation is lost");
  }).join();
}

}  // namespace

int main(int count, char** arguments) {
  constexpr struct {
    const char* name;
    void (*run)(const char*);
  } cases[] = {
      {"every_call", every_call},
      {"nesting", nesting},
      {"levels", levels},
      {"unbalanced", unbalanced},
      {"crossing", crossing},
      {"across_threads", across_threads},
      {"many_open", many_open},
      {"reused_buffer", reused_buffer},
      {"many_different_names", many_different_names},
      {"attributes", attributes},
      {"colors", colors},
      {"odd_arguments", odd_arguments},
      {"long_names", long_names},
      {"deep", deep},
      {"many_names", many_names},
      {"two_objects", two_objects},
      {"forking", forking},
      {"exceptions", exceptions},
      {"thread_names", thread_names},
      {"cancelled", cancelled},
  };
  for (const auto& test_case : cases)
    if (count > 1 && std::strcmp(arguments[1], test_case.name) == 0)
      return test_case.run(count > 2 ? arguments[2] : ""), 0;
  return std::fputs("no such case\n", stderr), 2;
}
