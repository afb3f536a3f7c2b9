/* The collector of Python: adaptyst._collector. It is a module of its own, because it contains the whole library, which
 * programs under `adaptyst run` do not need. The limited API is that of Python 3.9. */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <adaptyst/collector.h>

/* Starting and stopping wait for threads and files: other threads of the interpreter continue. */
static PyObject* start(PyObject* module, PyObject* arguments) {
  const char* options = "";
  int runs;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "|s", &options)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  runs = adaptyst_start(options);
  Py_END_ALLOW_THREADS;
  if (runs) Py_RETURN_NONE;
  {
    const char* const error = adaptyst_collector_error();
    return PyUnicode_DecodeFSDefault(error != NULL ? error : "the collector did not start");
  }
}

static PyObject* stop(PyObject* module, PyObject* none) {
  (void)module, (void)none;
  Py_BEGIN_ALLOW_THREADS;
  adaptyst_stop();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"start", start, METH_VARARGS, "start(options='', /)\n--\n\nNone, or the reason why no collector runs."},
    {"stop", stop, METH_NOARGS, "stop()\n--\n\nStops the collector and reports."},
    {NULL, NULL, 0, NULL},
};

/* Once for each interpreter that imports the module. */
static int execute(PyObject* module) {
  (void)module;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
  PyErr_SetString(PyExc_ImportError, "the collector of adaptyst is not supported in subinterpreters");
  return -1;
}

/* POSIX permits functions as void *; ISO C does not. */
__extension__ static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)execute}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "adaptyst._collector",
                                        "The collector: see adaptyst.",
                                        0,
                                        functions,
                                        slots,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__collector(void) { return PyModuleDef_Init(&definition); }
