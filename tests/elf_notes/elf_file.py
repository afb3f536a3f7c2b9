"""The output of readelf and objdump for an ELF file, as data."""
import re
import sys
from dataclasses import dataclass

from compiling import output, tool


@dataclass
class Section:
    name: str
    kind: str
    address: int
    offset: int
    size: int
    flags: str
    alignment: int


@dataclass
class Segment:
    kind: str
    offset: int
    address: int
    file_size: int
    size: int
    flags: str


@dataclass
class Probe:
    provider: str
    name: str
    location: int
    base: int
    semaphore: int
    arguments: str


@dataclass
class Symbol:
    value: int
    kind: str
    binding: str
    visibility: str
    index: str
    name: str


class ElfFile:
    def __init__(self, path, prefix=""):
        self.path = path
        self.readelf = tool(prefix + "readelf")
        self.objdump = tool(prefix + "objdump")
        with open(path, "rb") as file:
            self.bytes = file.read()
        pattern = r"^\s*\[\s*\d+\] (\S*)\s+(\S+)\s+([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) [0-9a-f]+\s+([A-Za-z]*)\s+\d+\s+\d+\s+(\d+)$"
        self.sections = [Section(name, kind, int(address, 16), int(offset, 16), int(size, 16), flags, int(alignment))
                         for name, kind, address, offset, size, flags, alignment
                         in re.findall(pattern, output([self.readelf, "-SW", path]), re.MULTILINE)]
        pattern = r"^\s+([A-Z_0-9]+)\s+0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) 0x([0-9a-f]+) ([RWE ]{3}) 0x[0-9a-f]+$"
        self.segments = [Segment(kind, int(offset, 16), int(address, 16), int(file_size, 16), int(size, 16), flags.replace(" ", ""))
                         for kind, offset, address, file_size, size, flags
                         in re.findall(pattern, output([self.readelf, "-lW", path]), re.MULTILINE)]
        pattern = (r"Provider: (.*)\n\s+Name: (.*)\n\s+Location: 0x([0-9a-f]+), Base: 0x([0-9a-f]+), "
                   r"Semaphore: 0x([0-9a-f]+)\n\s+Arguments: ?(.*)$")
        self.probes = [Probe(provider, name, int(location, 16), int(base, 16), int(semaphore, 16), arguments.strip())
                       for provider, name, location, base, semaphore, arguments
                       in re.findall(pattern, output([self.readelf, "-nW", path]), re.MULTILINE)]

    def named(self, name):
        return [section for section in self.sections if section.name == name]

    def load_segment(self, address):
        for segment in self.segments:
            if segment.kind == "LOAD" and 0 <= address - segment.address < segment.file_size:
                return segment
        return None

    def offset(self, address):
        segment = self.load_segment(address)
        return address - segment.address + segment.offset if segment else None

    def at(self, address, size):
        offset = self.offset(address)
        return self.bytes[offset:offset + size] if offset is not None else b""

    def number_at(self, address, size=8):
        return int.from_bytes(self.at(address, size), "little")

    def symbols(self, dynamic=False):
        text = output([self.readelf, "--dyn-syms" if dynamic else "-s", "-W", self.path])
        pattern = r"^\s*\d+: ([0-9a-f]+)\s+\S+ (\S+)\s+(\S+)\s+(\S+)\s+(\S+) (\S+)"
        return [Symbol(int(value, 16), *rest) for value, *rest in re.findall(pattern, text, re.MULTILINE)]

    def init_functions(self):
        """Names of what .init_array leads to."""
        pattern = r"^([0-9a-f]{16})\s+[0-9a-f]+ R_\w+_RELATIV\w*\s+([0-9a-f]+)$"
        moved = {int(place, 16): int(target, 16)
                 for place, target in re.findall(pattern, output([self.readelf, "-rW", self.path]), re.MULTILINE)}
        names = {}
        for symbol in self.symbols():
            if symbol.kind == "FUNC":
                names.setdefault(symbol.value, symbol.name)
        found = []
        for section in self.named(".init_array"):
            for place in range(section.address, section.address + section.size, 8):
                target = moved.get(place) or self.number_at(place)
                found.append(names.get(target, hex(target)))
        return found

    def instructions(self, address, size):
        """As objdump prints them, without operands' comments."""
        text = output([self.objdump, "-d", "--no-show-raw-insn", f"--start-address={address}", f"--stop-address={address + size}",
                       self.path])
        found = re.findall(r"^\s*[0-9a-f]+:\s+(.*)$", text, re.MULTILINE)
        return [" ".join(re.sub(r"[#<].*", "", line).split()) for line in found]
