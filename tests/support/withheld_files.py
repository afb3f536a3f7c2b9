"""A file system in user space (FUSE), by the kernel's protocol alone: what it delivers, and what it never does.

    python3 withheld_files.py DIRECTORY [FILE …]    mounts; DIRECTORY/withheld is never read to the end, each FILE is there with its
                                                    contents until SIGUSR1 comes; prints "mounted". Root only.
"""
import ctypes
import os
import signal
import stat
import struct
import sys

INIT, LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH = 26, 1, 2, 3, 14, 15, 17, 18, 25
INTERRUPT, BATCH_FORGET = 36, 42
HEADER = struct.Struct("=IIQQIIII")
ENOENT, ENOSYS, ENODEV = 2, 38, 19
VALID = 1000  # seconds


def attributes(number, content):
    mode = stat.S_IFDIR | 0o755 if number == 1 else stat.S_IFREG | 0o755
    size = 0 if number == 1 else 1 << 20 if content is None else len(content)
    return struct.pack("=6Q10I", number, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def serve(place, files):
    """`files`: contents by name; None: never delivered."""
    names = list(files)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if ctypes.CDLL(None, use_errno=True).mount(b"withheld", os.fsencode(place), b"fuse", 6, options) != 0:
        sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")
    withholds = []
    signal.signal(signal.SIGUSR1, lambda *_: withholds.append(True))
    print("mounted", flush=True)

    def reply(unique, data=b"", error=0):
        os.write(device, struct.pack("=IiQ", 16 + len(data), -error, unique) + data)

    while True:
        try:
            message = os.read(device, 1 << 20)
        except OSError as failed:
            if failed.errno == ENODEV:
                return
            continue
        _, label, unique, node, *_ = HEADER.unpack_from(message)
        body = message[HEADER.size:]
        content = files[names[node - 2]] if node >= 2 else b""
        if label == INIT:
            minor = min(31, struct.unpack_from("=II", body)[1])
            reply(unique, struct.pack("=IIIIHHIIHHI7I", 7, minor, 4096, 0, 0, 0, 65536, 1, 0, 0, 0, *[0] * 7))
        elif label == LOOKUP:
            name = body.rstrip(b"\0").decode()
            if name in files:
                number = names.index(name) + 2
                reply(unique, struct.pack("=4Q2I", number, 0, VALID, VALID, 0, 0) + attributes(number, files[name]))
            else:
                reply(unique, error=ENOENT)
        elif label == GETATTR:
            reply(unique, struct.pack("=QII", VALID, 0, 0) + attributes(node, content))
        elif label == OPEN:
            reply(unique, struct.pack("=QII", 0, 0, 0))
        elif label == READ:
            if content is not None and not withholds:
                _, offset, size = struct.unpack_from("=QQI", body)
                reply(unique, content[offset:offset + size])
        elif label == STATFS:
            reply(unique, bytes(80))
        elif label in (RELEASE, FLUSH):
            reply(unique)
        elif label not in (FORGET, BATCH_FORGET, INTERRUPT):
            reply(unique, error=ENOSYS)


if __name__ == "__main__":
    wanted = {"withheld": None}
    for file in sys.argv[2:]:
        with open(file, "rb") as opened:
            wanted[os.path.basename(file)] = opened.read()
    serve(sys.argv[1], wanted)
