/* Collects the events of the markers in this process, for C programs. Details: collector.hpp.
 *
 *   int main(void) {
 *     adaptyst_start("output=profile.json");
 *     simulate();
 *     adaptyst_stop();                     // prints the report; so does exit(), wherever it is called
 *   }
 *
 * Link with CMake target adaptyst::collector, or with the flags of `pkg-config --static --libs adaptyst-collector`.
 * docs/options.md lists the options; the environment variable ADAPTYST overrides them. No function here ends the
 * program. Thread-safe.
 *
 * With -DADAPTYST_DISABLE, markers are compiled away, and the collector finds no markers. */
#ifndef ADAPTYST_COLLECTOR_H
#define ADAPTYST_COLLECTOR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if the collector runs. Returns 0 if permissions are missing, a collector runs already, or `adaptyst run`
 * reports instead; adaptyst_collector_error() contains the reason. `options`: text; "" or NULL for the defaults. */
int adaptyst_start(const char* options);

/* Stops the collector and reports. Without a collector, it does nothing. */
void adaptyst_stop(void);

/* Why the last start failed; NULL if it succeeded. The text is valid until the next start. */
const char* adaptyst_collector_error(void);

#ifdef __cplusplus
}
#endif

#endif
