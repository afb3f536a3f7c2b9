"""How far chance takes what is drawn: at five standard deviations, a test that is right fails once in 1.7 million times."""
import math


def share_tolerance(p, n):
    """Of the share of n draws that fall where one does with probability p."""
    return 5 * math.sqrt(p * (1 - p) / n)


def count_tolerance(n):
    """Of a number of events that come independently of one another, as a part of that number."""
    return 5 / math.sqrt(n)
