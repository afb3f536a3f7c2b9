// A histogram in a message: its level, and pairs of the distance to the bucket before and a count.
#ifndef ADAPTYST_LIB_MERGE_HISTOGRAM_WIRE_HPP
#define ADAPTYST_LIB_MERGE_HISTOGRAM_WIRE_HPP

#include <cstddef>

#include "sparse_histogram.hpp"
#include "wire.hpp"

namespace adaptyst::lib {

// With `buckets` of them at most; 0: all.
void put_histogram(message_writer& writer, sparse_histogram& histogram, std::size_t buckets);
void get_histogram(message_reader& from, sparse_histogram& histogram);

}  // namespace adaptyst::lib

#endif
