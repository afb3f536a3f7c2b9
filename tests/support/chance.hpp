// How far chance takes what is drawn: at five standard deviations, a test that is right fails once in 1.7 million times.
#ifndef ADAPTYST_TESTS_SUPPORT_CHANCE_HPP
#define ADAPTYST_TESTS_SUPPORT_CHANCE_HPP

#include <cmath>

namespace support {

// Of the share of n draws that fall where one does with probability p.
inline double share_tolerance(double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); }

// Of a number of events that come independently of one another, as a part of that number.
inline double count_tolerance(double n) { return 5 / std::sqrt(n); }

}  // namespace support

#endif
