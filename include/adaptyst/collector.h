/* Collects what the markers of this process tell, for programs in C: collector.hpp says all of it.
 *
 *   int main(void) {
 *     adaptyst_start("output=profile.json");
 *     simulate();
 *     adaptyst_stop();                     // prints the report; so does exit(), wherever it is called
 *   }
 *
 * Link with CMake's target adaptyst::collector, or what `pkg-config --static --libs adaptyst-collector` says. Options are those
 * of docs/options.md; the environment variable ADAPTYST overrides them. Nothing here stops the program. Thread-safe.
 *
 * With -DADAPTYST_DISABLE, markers are compiled away, and a collector finds none. */
#ifndef ADAPTYST_COLLECTOR_H
#define ADAPTYST_COLLECTOR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if this process is collected from now on. Otherwise 0, and adaptyst_collector_error() says why: permissions, a
 * collector that runs already, or `adaptyst run`, which makes the report then. `options`: text, "" or NULL for the defaults. */
int adaptyst_start(const char* options);

/* Ends the collection, and reports. Does nothing if none was started. */
void adaptyst_stop(void);

/* Why the last start collects nothing: valid until the next one. NULL if it does. */
const char* adaptyst_collector_error(void);

#ifdef __cplusplus
}
#endif

#endif
