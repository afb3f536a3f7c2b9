"""System calls that are refused to a started program: for preexec_fn of subprocess."""
import ctypes
import errno
import os
import platform
import struct


def refuse_memory():
    """Nothing can be opened to be read and written from here on, as memory of others cannot under Yama."""
    number = {"x86_64": 257, "aarch64": 56}[platform.machine()]  # openat
    steps = [(0x20, 0, 0, 0), (0x15, 0, 4, number), (0x20, 0, 0, 32), (0x54, 0, 0, os.O_ACCMODE), (0x15, 0, 1, os.O_RDWR),
             (0x06, 0, 0, 0x00050000 | errno.EACCES), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    c = ctypes.CDLL(None)
    if c.prctl(38, 1, 0, 0, 0) != 0 or c.prctl(22, 2, program) != 0:
        os._exit(99)
