// The markers of Python: adaptyst._markers, with the limited API of Python 3.9, so that one binary serves later versions.
//
// A region is an object that `with` enters and leaves; between, the thread has a callback_region. The place of a region is
// that of the frame that enters it. Places are cached by code object and name, because a frame's line number takes longer
// than the rest of the event.
//
// A function raises only for arguments of a wrong number, type or word. The interpreter's lock protects all
// data here. Such binaries cannot be loaded by interpreters without this lock.
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>

#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/operation.hpp>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

// The number is that of Python 3.7 and later. Headers have it since 3.10, which made it a part of the limited API.
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

namespace {

// The amount of work of an operation, with the values that the program gives.
struct given_work {
  adaptyst::detail::payload_values values;
};

}  // namespace

namespace adaptyst { inline namespace v1 { namespace detail {
template <>
struct payload_reader<given_work, true> {
  explicit payload_reader(const given_work& given) noexcept : values_(given.values) {}
  const payload_values& read() const noexcept { return values_; }

 private:
  const payload_values& values_;
};
}}}  // namespace adaptyst::v1::detail

namespace {

using adaptyst::callback_region;
using adaptyst::source_place;

PyObject* new_none() noexcept { return Py_INCREF(Py_None), Py_None; }

template <class Function>
PyCFunction as_method(Function* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// Bytes of a text, as a new reference. Another object is converted to a text first. Null if that fails, without an error.
PyObject* encode(PyObject* object) noexcept {
  if (object == nullptr) return nullptr;
  PyObject* const text = PyUnicode_Check(object) ? (Py_INCREF(object), object) : PyObject_Str(object);
  PyObject* const bytes = text != nullptr ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : nullptr;
  Py_XDECREF(text);
  if (bytes == nullptr) PyErr_Clear();
  return bytes;
}

const char* get_text(PyObject* bytes, const char* otherwise = "") noexcept {
  return bytes != nullptr ? PyBytes_AsString(bytes) : otherwise;
}

// ---- places ---------------------------------------------------------------------------------------------------------

struct site_object {
  PyObject_HEAD PyObject *name, *file, *function;  // bytes; null: unknown
  std::uint32_t line;

  source_place get_place() const noexcept { return {get_text(file), get_text(function), line}; }
  std::string_view get_name() const noexcept {
    if (name == nullptr) return "unnamed";
    return {PyBytes_AsString(name), static_cast<std::size_t>(PyBytes_Size(name))};
  }
};

PyTypeObject* site_type;
PyTypeObject* region_type;
PyTypeObject* phases_type;
PyTypeObject* device_type;
PyTypeObject* operation_type;
PyTypeObject* done_type;
PyObject* done;  // the awaitable that has a result at once

template <class Object>
Object* make(PyTypeObject* type) noexcept {
  return reinterpret_cast<Object*>(PyObject_New(PyObject, type));
}

void free_object(PyObject* object) noexcept {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

// Takes the references.
site_object* make_site(PyObject* name, PyObject* file, PyObject* function, std::uint32_t line) noexcept {
  site_object* const made = make<site_object>(site_type);
  if (made == nullptr) {
    Py_XDECREF(name);
    Py_XDECREF(file);
    Py_XDECREF(function);
    PyErr_Clear();
    return nullptr;
  }
  made->name = name;
  made->file = file;
  made->function = function;
  made->line = line;
  return made;
}

void free_site(PyObject* object) noexcept {
  auto* const site = reinterpret_cast<site_object*>(object);
  Py_XDECREF(site->name);
  Py_XDECREF(site->file);
  Py_XDECREF(site->function);
  free_object(object);
}

// Bounded: an entry with the same number is replaced. The entries own what they are recognised by, so that no other object
// has its address.
struct cached_code {
  PyObject *code, *file, *function;
};
struct cached_site {
  PyObject *code, *name;
  site_object* site;
};
constexpr std::size_t max_codes = 256, max_sites = 2048;
cached_code codes[max_codes];
cached_site sites[max_sites];

std::size_t hash(const void* a, const void* b = nullptr) noexcept {
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(a) * 0x9E3779B97F4A7C15 ^
                              reinterpret_cast<std::uintptr_t>(b) * 0xC2B2AE3D27D4EB4F;
  return static_cast<std::size_t>(mixed >> 40);
}

PyObject* encode_attribute(PyObject* object, const char* name) noexcept {
  PyObject* const value = PyObject_GetAttrString(object, name);
  if (value == nullptr) return PyErr_Clear(), nullptr;
  PyObject* const bytes = encode(value);
  Py_DECREF(value);
  return bytes;
}

const cached_code& find_code(PyObject* code) noexcept {
  cached_code& entry = codes[hash(code) % max_codes];
  if (entry.code == code) return entry;
  PyObject* function = encode_attribute(code, "co_qualname");  // since Python 3.11
  if (function == nullptr) function = encode_attribute(code, "co_name");
  const cached_code old = entry;
  Py_INCREF(code);
  entry = {code, encode_attribute(code, "co_filename"), function};
  Py_XDECREF(old.code);
  Py_XDECREF(old.file);
  Py_XDECREF(old.function);
  return entry;
}

// The site of an event with this name, in the frame that calls. A new reference; null without memory.
site_object* find_site(PyObject* name) noexcept {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return make_site(encode(name), nullptr, nullptr, 0);
  auto* const code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  cached_site& entry = sites[hash(code, name) % max_sites];
  if (entry.code == code && entry.name == name) {
    Py_DECREF(code);
    Py_INCREF(entry.site);
    return entry.site;
  }
  const int line = PyFrame_GetLineNumber(frame);
  PyObject* const text = encode(name);  // may run Python code, and change the tables
  const cached_code& in = find_code(code);
  Py_XINCREF(in.file);
  Py_XINCREF(in.function);
  site_object* const made = make_site(text, in.file, in.function, line > 0 ? static_cast<std::uint32_t>(line) : 0);
  // Texts cannot change; the text of another object can.
  if (made != nullptr && PyUnicode_Check(name)) {
    const cached_site old = entry;
    Py_INCREF(name);
    Py_INCREF(made);
    entry = {code, name, made};
    Py_XDECREF(old.code);
    Py_XDECREF(old.name);
    Py_XDECREF(reinterpret_cast<PyObject*>(old.site));
  } else {
    Py_DECREF(code);
  }
  return made;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

// NaN: not a number; the sum is then absent.
double to_number(PyObject* object) noexcept {
  const double value = PyFloat_AsDouble(object);
  if (value != -1.0 || PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return __builtin_nan("");
}

// Values that the program gives by name: numbers, and texts for the label.
struct named_values {
  PyObject* names;  // a tuple of texts; null: no values
  PyObject* values[ADAPTYST_ATTRIBUTES];
  std::uint32_t count;
};

void give_values(named_values& to, PyObject* names, PyObject* const* values) noexcept {
  to.names = nullptr;
  to.count = 0;
  if (names == nullptr) return;
  const Py_ssize_t count = PyTuple_Size(names);
  if (count == 0) return;
  Py_INCREF(names);
  to.names = names;
  for (; to.count != ADAPTYST_ATTRIBUTES && static_cast<Py_ssize_t>(to.count) != count; ++to.count) {
    Py_INCREF(values[to.count]);
    to.values[to.count] = values[to.count];
  }
}

void drop_values(const named_values& from) noexcept {
  Py_XDECREF(from.names);
  for (std::uint32_t at = 0; at != from.count; ++at) Py_DECREF(from.values[at]);
}

// The values of an event: texts are in the label, "shape=8x8, type=float", and the others are numbers.
struct event_values {
  char names_text[ADAPTYST_ATTRIBUTES][64];
  const char* names[ADAPTYST_ATTRIBUTES];
  double numbers[ADAPTYST_ATTRIBUTES];
  std::uint32_t count = 0;
  char label[ADAPTYST_TEXT_BYTES] = "";

  explicit event_values(const named_values& from) noexcept {
    std::size_t used = 0;
    for (std::uint32_t at = 0; at != from.count; ++at) {
      PyObject* const name = encode(PyTuple_GetItem(from.names, static_cast<Py_ssize_t>(at)));
      if (PyUnicode_Check(from.values[at])) {
        PyObject* const value = encode(from.values[at]);
        for (const char* const part : {used != 0 ? ", " : "", get_text(name), "=", get_text(value)})
          for (const char* byte = part; *byte != '\0' && used + 1 < sizeof label; ++byte) label[used++] = *byte;
        label[used] = '\0';
        Py_XDECREF(value);
      } else {
        char(&text)[64] = names_text[count];
        const std::size_t bytes = strnlen(get_text(name), sizeof text - 1);
        std::memcpy(text, get_text(name), bytes);
        text[bytes] = '\0';
        names[count] = text;
        numbers[count++] = to_number(from.values[at]);
      }
      Py_XDECREF(name);
    }
  }
  event_values(const event_values&) = delete;  // names point into the object
  event_values& operator=(const event_values&) = delete;
};

// ---- regions --------------------------------------------------------------------------------------------------------

enum class region_kind : std::uint32_t { region, wait, offload };

// An entry into a region object. An object has several if it is entered again before it is left: by a recursive function,
// by another thread, or by another coroutine. Threads find their entries by their number, coroutines by their frame.
struct entry {
  std::uint64_t thread = 0;
  const void* frame = nullptr;     // that has entered a handle; null: unknown. It may be dead: it is only compared.
  std::uint64_t number = 0;        // of the callback_region; 0: a handle
  event_values* values = nullptr;  // given at the end
  adaptyst::detail::pending* handle = nullptr;
  entry* next = nullptr;
};

struct region_object {
  PyObject_HEAD PyObject* name;  // null: that of the site
  site_object* site;             // null: of the frame that enters the region
  PyObject* device;              // null: none
  region_kind kind;
  std::uint32_t open;  // entries
  entry last;
  named_values values;
};

region_object* make_region(PyObject* name, PyObject* names, PyObject* const* values,
                           region_kind kind = region_kind::region) noexcept {
  region_object* const made = make<region_object>(region_type);
  if (made == nullptr) return nullptr;
  Py_XINCREF(name);
  made->name = name;
  made->site = nullptr;
  made->device = nullptr;
  made->kind = kind;
  made->open = 0;
  give_values(made->values, names, values);
  return made;
}

void free_entry(entry& of) noexcept {
  delete of.values;
  delete of.handle;
}

// An entry without an end stays open in the account.
void free_region(PyObject* object) noexcept {
  auto* const region = reinterpret_cast<region_object*>(object);
  if (region->open != 0) {
    free_entry(region->last);
    for (entry* at = region->last.next; at != nullptr;) {
      entry* const next = at->next;
      free_entry(*at);
      delete at;
      at = next;
    }
  }
  Py_XDECREF(region->name);
  Py_XDECREF(reinterpret_cast<PyObject*>(region->site));
  Py_XDECREF(region->device);
  drop_values(region->values);
  free_object(object);
}

// False: no memory; the entry is not kept.
bool push_entry(region_object& region, const entry& made) noexcept {
  if (region.open == 0) {
    region.last = made;
  } else {
    entry* const before = new (std::nothrow) entry(region.last);
    if (before == nullptr) return false;
    region.last = made;
    region.last.next = before;
  }
  ++region.open;
  return true;
}

// The last entry of this thread, or the last handle of this frame; null: of any frame. False: there is none.
bool pop_entry(region_object& region, bool is_handle, std::uint64_t thread, const void* frame, entry& popped) noexcept {
  entry* at = &region.last;
  entry* before = nullptr;
  for (std::uint32_t left = region.open; left != 0; --left, before = at, at = at->next) {
    if (is_handle != (at->handle != nullptr)) continue;
    if (is_handle ? frame != nullptr && at->frame != frame : at->thread != thread) continue;
    popped = *at;
    if (before != nullptr) {
      before->next = at->next;
      delete at;
    } else if (entry* const next = at->next) {
      region.last = *next;
      delete next;
    }
    --region.open;
    return true;
  }
  return false;
}

struct device_object {
  PyObject_HEAD adaptyst::device* device;
};

callback_region begin(const region_object& region, const site_object& site, event_values*& values) noexcept {
  const source_place place = site.get_place();
  const std::string_view name = site.get_name();
  if (region.kind == region_kind::wait) return callback_region::begin_wait(name, place);
  if (region.kind == region_kind::offload)
    return callback_region::begin_offload(name, *reinterpret_cast<device_object*>(region.device)->device, place);
  if (region.values.count != 0) values = new (std::nothrow) event_values(region.values);
  if (values == nullptr) return callback_region::begin(name, place);
  return callback_region::begin(name, {values->names, values->count, values->label}, place);
}

void enter(region_object& region) noexcept {
  if (!adaptyst::detail::is_enabled()) return;
  site_object* site = region.site;
  if (site != nullptr) Py_INCREF(site);
  else site = find_site(region.name);
  if (site == nullptr) return;
  entry made;
  made.thread = PyThread_get_thread_ident();
  callback_region begun = begin(region, *site, made.values);
  made.number = begun.number();
  if (made.number == 0 || !push_entry(region, made)) {
    begun.abandon();
    free_entry(made);
  }
  Py_DECREF(reinterpret_cast<PyObject*>(site));
}

// A generator that another thread finishes leaves its region there: this is counted as unmatched.
void leave(region_object& region) noexcept {
  if (region.open == 0) return;
  entry ended;
  if (!pop_entry(region, false, PyThread_get_thread_ident(), nullptr, ended)) {
    if (region.last.handle == nullptr) callback_region::count_unmatched_end();
    return;
  }
  callback_region begun = callback_region::of(ended.number);
  if (ended.values != nullptr) begun.end(ended.values->numbers);
  else begun.end();
  free_entry(ended);
}

PyObject* region_enter(PyObject* self, PyObject*) noexcept {
  enter(*reinterpret_cast<region_object*>(self));
  return Py_INCREF(self), self;
}

PyObject* region_exit(PyObject* self, PyObject* const*, Py_ssize_t) noexcept {
  leave(*reinterpret_cast<region_object*>(self));
  return new_none();
}

// Coroutines of a thread do not nest: their regions are handles, which have neither kind nor device.
PyObject* region_aenter(PyObject* self, PyObject*) noexcept {
  auto& region = *reinterpret_cast<region_object*>(self);
  if (region.kind != region_kind::region) {
    PyErr_SetString(
        PyExc_TypeError,
        "adaptyst.wait() and adaptyst.offload() need `with`: use `async with adaptyst.region()` in coroutines");
    return nullptr;
  }
  if (adaptyst::detail::is_enabled()) {
    site_object* site = region.site;
    if (site != nullptr) Py_INCREF(site);
    else site = find_site(region.name);
    entry made;
    if (region.site == nullptr) made.frame = PyEval_GetFrame();  // a decorator makes an object for each call
    made.handle = new (std::nothrow) adaptyst::detail::pending{};
    if (site != nullptr && made.handle != nullptr) {
      const source_place place = site->get_place();
      const event_values values(region.values);
      adaptyst::detail::payload_values payload{
          values.names, values.count, adaptyst::detail::to_text(adaptyst::detail::terminated(values.label)), {}};
      for (std::uint32_t at = 0; at != values.count; ++at) payload.numbers[at] = values.numbers[at];
      adaptyst::detail::site marker{nullptr, 0, place.file, place.function, place.line, ADAPTYST_SITE_HANDLE, nullptr};
      const std::string_view name = site->get_name();
      *made.handle = adaptyst::detail::begin_pending(marker, adaptyst::detail::to_text(name), 0,
                                                     region.values.count != 0 ? &payload : nullptr);
      if (push_entry(region, made)) made.handle = nullptr;
    }
    delete made.handle;
    Py_XDECREF(reinterpret_cast<PyObject*>(site));
  }
  return Py_INCREF(done), done;
}

// An object that several coroutines share, and leave in other functions than they enter it (an AsyncExitStack): which of
// the handles ends is unknown. One is dropped, which stays open in the account, and the end is counted as unmatched.
PyObject* region_aexit(PyObject* self, PyObject* const*, Py_ssize_t) noexcept {
  auto& region = *reinterpret_cast<region_object*>(self);
  const bool is_shared = region.open > 1;
  entry ended;
  if (region.open != 0 && pop_entry(region, true, 0, is_shared ? PyEval_GetFrame() : nullptr, ended)) {
    if (ended.handle->path != nullptr) adaptyst::detail::end_handle(*ended.handle);
    free_entry(ended);
  } else if (is_shared && pop_entry(region, true, 0, nullptr, ended)) {
    callback_region::count_unmatched_end();
    free_entry(ended);
  }
  return Py_INCREF(done), done;
}

PyObject* return_self(PyObject* self) noexcept { return Py_INCREF(self), self; }
PyObject* no_next(PyObject*) noexcept { return nullptr; }  // without an error: the end, with the result None

PyObject* make_named(const char* function, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                     region_kind kind) noexcept {
  if (count != 1) {
    PyErr_Format(PyExc_TypeError, "adaptyst.%s() needs one name, and numbers by keyword", function);
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(make_region(arguments[0], names, arguments + 1, kind));
}

PyObject* new_region(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) noexcept {
  return make_named("region", arguments, count, names, region_kind::region);
}

PyObject* new_wait(PyObject*, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return make_named("wait", arguments, count, nullptr, region_kind::wait);
}

PyObject* new_offload(PyObject*, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count != 2 || Py_TYPE(arguments[1]) != device_type) {
    PyErr_SetString(PyExc_TypeError, "adaptyst.offload() needs a name and an adaptyst.device");
    return nullptr;
  }
  region_object* const made = make_region(arguments[0], nullptr, nullptr, region_kind::offload);
  if (made == nullptr) return nullptr;
  Py_INCREF(arguments[1]);
  made->device = arguments[1];
  return reinterpret_cast<PyObject*>(made);
}

// For decorators: site(name, file, function, line), once for each function, and region_of(site) for each call.
PyObject* new_site(PyObject*, PyObject* arguments) noexcept {
  PyObject *name, *file, *function;
  unsigned line;
  if (!PyArg_ParseTuple(arguments, "OOOI", &name, &file, &function, &line)) return nullptr;
  return reinterpret_cast<PyObject*>(make_site(encode(name), encode(file), encode(function), line));
}

PyObject* region_of(PyObject*, PyObject* site) noexcept {
  if (Py_TYPE(site) != site_type) {
    PyErr_SetString(PyExc_TypeError, "region_of() needs a site");
    return nullptr;
  }
  region_object* const made = make_region(nullptr, nullptr, nullptr);
  if (made == nullptr) return nullptr;
  Py_INCREF(site);
  made->site = reinterpret_cast<site_object*>(site);
  return reinterpret_cast<PyObject*>(made);
}

// ---- phases ---------------------------------------------------------------------------------------------------------

struct phases_object {
  PyObject_HEAD region_object* open;  // null: none
};

PyObject* new_phases(PyObject*, PyObject*) noexcept {
  phases_object* const made = make<phases_object>(phases_type);
  if (made != nullptr) made->open = nullptr;
  return reinterpret_cast<PyObject*>(made);
}

void end_phase(phases_object& phases) noexcept {
  region_object* const last = phases.open;
  if (last == nullptr) return;
  phases.open = nullptr;
  leave(*last);
  Py_DECREF(reinterpret_cast<PyObject*>(last));
}

void free_phases(PyObject* object) noexcept {
  end_phase(*reinterpret_cast<phases_object*>(object));
  free_object(object);
}

PyObject* phases_next(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) noexcept {
  auto& phases = *reinterpret_cast<phases_object*>(self);
  auto* const next =
      reinterpret_cast<region_object*>(make_named("phases.next", arguments, count, names, region_kind::region));
  if (next == nullptr) return nullptr;
  end_phase(phases);
  phases.open = next;
  enter(*next);
  return new_none();
}

PyObject* phases_exit(PyObject* self, PyObject* const*, Py_ssize_t) noexcept {
  end_phase(*reinterpret_cast<phases_object*>(self));
  return new_none();
}

// ---- instant events -------------------------------------------------------------------------------------------------

void record(PyObject* name, std::uint32_t kind, double value) noexcept {
  site_object* const site = find_site(name);
  if (site == nullptr) return;
  const source_place place = site->get_place();
  adaptyst::detail::site marker{nullptr, 0, place.file, place.function, place.line, kind, nullptr};
  const std::string_view text = site->get_name();
  adaptyst::detail::record_instant(marker, adaptyst::detail::to_text(text), value);
  Py_DECREF(reinterpret_cast<PyObject*>(site));
}

PyObject* metric(PyObject*, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "adaptyst.metric() needs a name and a number");
    return nullptr;
  }
  if (adaptyst::detail::is_enabled()) record(arguments[0], ADAPTYST_SITE_METRIC, to_number(arguments[1]));
  return new_none();
}

PyObject* mark(PyObject*, PyObject* name) noexcept {
  if (adaptyst::detail::is_enabled()) record(name, ADAPTYST_SITE_MARK, 0);
  return new_none();
}

PyObject* metadata(PyObject*, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "adaptyst.metadata() needs a name and a value");
    return nullptr;
  }
  PyObject* const name = encode(arguments[0]);
  PyObject* const value = encode(arguments[1]);
  if (name != nullptr && value != nullptr) adaptyst::metadata(get_text(name), get_text(value));
  Py_XDECREF(name);
  Py_XDECREF(value);
  return new_none();
}

PyObject* is_enabled(PyObject*, PyObject*) noexcept { return PyBool_FromLong(adaptyst::detail::is_enabled() ? 1 : 0); }

// ---- devices --------------------------------------------------------------------------------------------------------

constexpr const char* device_kinds[] = {"cpu", "gpu", "fpga", "accelerator", "other"};
constexpr const char* operation_kinds[] = {"kernel", "copy_to", "copy_from", "fill", "other"};
constexpr const char* losses[] = {"no_times", "unknown_clock", "device_lost"};

template <std::size_t Count>
bool find_word(const char* const (&words)[Count], const char* word, const char* what, std::uint32_t& at) noexcept {
  for (at = 0; at != Count; ++at)
    if (std::strcmp(words[at], word) == 0) return true;
  char list[128] = "";  // longer than all words of a table
  for (const char* const expected : words) {
    if (list[0] != '\0') std::strcat(list, ", ");
    std::strcat(list, expected);
  }
  PyErr_Format(PyExc_ValueError, "'%s' is no %s; expected: %s", word, what, list);
  return false;
}

PyObject* new_device(PyObject*, PyObject* arguments, PyObject* by_name) noexcept {
  static char kind_key[] = "kind", index_key[] = "index", name_key[] = "name";
  static char* keys[] = {kind_key, index_key, name_key, nullptr};
  const char *kind, *name = "";
  unsigned index = 0;
  std::uint32_t number;
  if (!PyArg_ParseTupleAndKeywords(arguments, by_name, "s|Is", keys, &kind, &index, &name) ||
      !find_word(device_kinds, kind, "kind of device", number))
    return nullptr;
  device_object* const made = make<device_object>(device_type);
  if (made == nullptr) return nullptr;
  made->device = new (std::nothrow) adaptyst::device(static_cast<adaptyst::device_kind>(number), index, name);
  if (made->device == nullptr) {
    Py_DECREF(reinterpret_cast<PyObject*>(made));
    return PyErr_NoMemory();
  }
  return reinterpret_cast<PyObject*>(made);
}

void free_device(PyObject* object) noexcept {
  delete reinterpret_cast<device_object*>(object)->device;
  free_object(object);
}

struct operation_object {
  PyObject_HEAD adaptyst::operation* operation;  // null: not observed
};

PyObject* submit(PyObject*, PyObject* arguments, PyObject* by_name) noexcept {
  static char name_key[] = "name", device_key[] = "device", queue_key[] = "queue", kind_key[] = "kind",
              bytes_key[] = "bytes", flops_key[] = "flops";
  static char* keys[] = {name_key, device_key, queue_key, kind_key, bytes_key, flops_key, nullptr};
  PyObject *name, *on, *bytes = nullptr, *flops = nullptr;
  unsigned long long queue = 0;
  const char* kind = "kernel";
  std::uint32_t number;
  if (!PyArg_ParseTupleAndKeywords(arguments, by_name, "OO|KsOO", keys, &name, &on, &queue, &kind, &bytes, &flops) ||
      !find_word(operation_kinds, kind, "kind of operation", number))
    return nullptr;
  if (Py_TYPE(on) != device_type) {
    PyErr_SetString(PyExc_TypeError, "adaptyst.submit() needs an adaptyst.device");
    return nullptr;
  }
  operation_object* const made = make<operation_object>(operation_type);
  if (made == nullptr) return nullptr;
  made->operation = nullptr;
  if (!adaptyst::detail::is_enabled()) return reinterpret_cast<PyObject*>(made);
  static constexpr const char* amounts[] = {"bytes", "flops"};
  const bool has_bytes = bytes != nullptr && bytes != Py_None, has_flops = flops != nullptr && flops != Py_None;
  given_work amount{{has_bytes ? amounts : amounts + 1, 0, {nullptr, 0}, {}}};
  for (PyObject* const value : {has_bytes ? bytes : nullptr, has_flops ? flops : nullptr})
    if (value != nullptr) amount.values.numbers[amount.values.count++] = to_number(value);
  site_object* const site = find_site(name);
  if (site == nullptr) return reinterpret_cast<PyObject*>(made);
  const source_place place = site->get_place();
  const std::string_view text = site->get_name();
  const adaptyst::device& device = *reinterpret_cast<device_object*>(on)->device;
  const auto as = static_cast<adaptyst::operation_kind>(number);
  const std::uint64_t in = queue;
  made->operation = new (std::nothrow) adaptyst::operation(
      amount.values.count != 0 ? adaptyst::submit(text, device, in, as, amount, place.file, place.function, place.line)
                               : adaptyst::submit(text, device, in, as, place.file, place.function, place.line));
  Py_DECREF(reinterpret_cast<PyObject*>(site));
  return reinterpret_cast<PyObject*>(made);
}

PyObject* operation_complete(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "complete() needs the start and the end, in ns of time.monotonic_ns()");
    return nullptr;
  }
  adaptyst::operation* const submitted = reinterpret_cast<operation_object*>(self)->operation;
  if (submitted == nullptr) return new_none();
  std::uint64_t times[2];
  for (int at = 0; at != 2; ++at) {
    PyObject* const integer = PyNumber_Index(arguments[at]);  // also of numpy
    times[at] = integer != nullptr ? PyLong_AsUnsignedLongLong(integer) : 0;
    Py_XDECREF(integer);
    if (PyErr_Occurred() != nullptr) PyErr_Clear(), times[at] = 0;  // counted as lost: bad_times
  }
  submitted->complete(times[0], times[1]);
  return new_none();
}

PyObject* operation_abandon(PyObject* self, PyObject* arguments) noexcept {
  const char* reason = losses[0];
  std::uint32_t number;
  if (!PyArg_ParseTuple(arguments, "|s", &reason) || !find_word(losses, reason, "reason", number)) return nullptr;
  if (adaptyst::operation* const lost = reinterpret_cast<operation_object*>(self)->operation)
    lost->abandon(static_cast<adaptyst::operation_loss>(number));
  return new_none();
}

void free_operation(PyObject* object) noexcept {
  delete reinterpret_cast<operation_object*>(object)->operation;
  free_object(object);
}

// ---- the module -----------------------------------------------------------------------------------------------------

PyMethodDef region_methods[] = {
    {"__enter__", region_enter, METH_NOARGS, nullptr},
    {"__exit__", as_method(region_exit), METH_FASTCALL, nullptr},
    {"__aenter__", region_aenter, METH_NOARGS, nullptr},
    {"__aexit__", as_method(region_aexit), METH_FASTCALL, nullptr},
    {},
};
PyMethodDef phases_methods[] = {
    {"__enter__", as_method(+[](PyObject* self, PyObject*) noexcept { return return_self(self); }), METH_NOARGS,
     nullptr},
    {"__exit__", as_method(phases_exit), METH_FASTCALL, nullptr},
    {"next", as_method(phases_next), METH_FASTCALL | METH_KEYWORDS,
     "next($self, name, /, **numbers)\n--\n\nEnds the open phase, and begins the next."},
    {},
};
PyMethodDef operation_methods[] = {
    {"complete", as_method(operation_complete), METH_FASTCALL,
     "complete($self, started_ns, ended_ns, /)\n--\n\nStart and end on the device, in ns of time.monotonic_ns(). A second "
     "call does nothing.\nTimes that do not fit, submitted <= started <= ended, count as lost (bad_times)."},
    {"abandon", operation_abandon, METH_VARARGS,
     "abandon($self, reason='no_times', /)\n--\n\nCounts the operation as lost: no_times, unknown_clock or device_lost."},
    {},
};

PyMethodDef functions[] = {
    {"region", as_method(new_region), METH_FASTCALL | METH_KEYWORDS,
     "region(name, /, **values)\n--\n\n"
     "A region of the thread: `with adaptyst.region(\"solve\", bytes=n):`.\n\n"
     "Numbers are summed for the region; texts make one row for each value. In coroutines: `async with`, which\n"
     "is not nested. At most 8 values. Not measured until a collector or `adaptyst run` observes the program.\n"
     "The reported line is that of the first region with this name in its function."},
    {"wait", as_method(new_wait), METH_FASTCALL,
     "wait(name, /)\n--\n\nA region in which the host waits for submitted work: `with adaptyst.wait(\"sync\"):`."},
    {"offload", as_method(new_offload), METH_FASTCALL,
     "offload(name, device, /)\n--\n\nA region in which a device works and the host waits."},
    {"phases", new_phases, METH_NOARGS,
     "phases()\n--\n\n"
     "Consecutive regions: `with adaptyst.phases() as phase:`, then `phase.next(\"assemble\")`, `phase.next(\"solve\")`."},
    {"metric", as_method(metric), METH_FASTCALL,
     "metric(name, value, /)\n--\n\nA number of the open region: count, sum, minimum and maximum are kept."},
    {"mark", mark, METH_O, "mark(name, /)\n--\n\nAn instant event in the open region."},
    {"metadata", as_method(metadata), METH_FASTCALL,
     "metadata(name, value, /)\n--\n\nDescribes the run: metadata(\"mesh\", \"512^3\"). The first 64 calls are kept."},
    {"is_enabled", is_enabled, METH_NOARGS, "is_enabled()\n--\n\nTrue while something observes the program."},
    {"device", as_method(new_device), METH_VARARGS | METH_KEYWORDS,
     "device(kind, index=0, name='')\n--\n\nA device: kind is cpu, gpu, fpga, accelerator or other."},
    {"submit", as_method(submit), METH_VARARGS | METH_KEYWORDS,
     "submit(name, device, queue=0, kind='kernel', bytes=None, flops=None)\n--\n\n"
     "Asynchronous work of a device; kind is kernel, copy_to, copy_from, fill or other. End it with complete()."},
    {"site", new_site, METH_VARARGS, nullptr},
    {"region_of", region_of, METH_O, nullptr},
    {},
};

// Objects are made by functions of the module only.
PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) noexcept {
  PyErr_SetString(PyExc_TypeError, "this type has no constructor; use the functions of adaptyst");
  return nullptr;
}

PyTypeObject* make_type(const char* name, std::size_t bytes, void (*free)(PyObject*) noexcept, PyMethodDef* methods,
                        bool is_awaitable = false) noexcept {
  PyType_Slot parts[6] = {{Py_tp_dealloc, reinterpret_cast<void*>(free)},
                          {Py_tp_new, reinterpret_cast<void*>(refuse_new)}};
  if (methods != nullptr) parts[2] = {Py_tp_methods, methods};
  if (is_awaitable) {
    parts[2] = {Py_am_await, reinterpret_cast<void*>(return_self)};
    parts[3] = {Py_tp_iter, reinterpret_cast<void*>(return_self)};
    parts[4] = {Py_tp_iternext, reinterpret_cast<void*>(no_next)};
  }
  PyType_Spec spec = {name, static_cast<int>(bytes), 0, Py_TPFLAGS_DEFAULT, parts};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// Once for each interpreter that imports the module.
int execute(PyObject*) noexcept {
  // The tables belong to the main interpreter.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "markers of adaptyst are not supported in subinterpreters");
    return -1;
  }
  if (done != nullptr) return 0;  // imported again: objects of the first time have the first types
  site_type = make_type("adaptyst._markers.site", sizeof(site_object), free_site, nullptr);
  region_type = make_type("adaptyst._markers.region", sizeof(region_object), free_region, region_methods);
  phases_type = make_type("adaptyst._markers.phases", sizeof(phases_object), free_phases, phases_methods);
  device_type = make_type("adaptyst._markers.device", sizeof(device_object), free_device, nullptr);
  operation_type =
      make_type("adaptyst._markers.operation", sizeof(operation_object), free_operation, operation_methods);
  done_type = make_type("adaptyst._markers.done", sizeof(PyObject), free_object, nullptr, true);
  for (const PyTypeObject* const type : {site_type, region_type, phases_type, device_type, operation_type, done_type})
    if (type == nullptr) return -1;
  done = make<PyObject>(done_type);
  return done != nullptr ? 0 : -1;
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)}, {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "adaptyst._markers",
                          "Markers: see adaptyst.",
                          0,
                          functions,
                          slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__markers() { return PyModuleDef_Init(&definition); }
