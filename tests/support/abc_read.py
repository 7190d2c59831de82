"""Reads Alembic archives in the Ogawa container, from what the format says and nothing else: it shares no code with the
writer. Whatever is wrong with a file raises Wrong. Every digest and hash in it is computed again.

    archive = Archive("a.abc")
    mesh = archive.find("/flag/flagShape")
    mesh.property(".geom/P").sample(3)        # a list of tuples
"""
import struct

DATA = 1 << 63
MASK = (1 << 64) - 1
FORMATS = {0: "?", 1: "B", 2: "b", 3: "H", 4: "h", 5: "I", 6: "i", 7: "Q", 8: "q", 10: "f", 11: "d"}
ACYCLIC = 1.7976931348623157e308 / 32


class Wrong(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Wrong(what)


# ---- digests ----


def rotate(x, k):
    return (x << k | x >> (64 - k)) & MASK


def murmur3(data):
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for k1, k2 in struct.iter_unpack("<QQ", data[:whole]):
        h1 ^= rotate(k1 * c1 & MASK, 31) * c2 & MASK
        h1 = ((rotate(h1, 27) + h2) * 5 + 0x52DCE729) & MASK
        h2 ^= rotate(k2 * c2 & MASK, 33) * c1 & MASK
        h2 = ((rotate(h2, 31) + h1) * 5 + 0x38495AB5) & MASK
    tail = data[whole:]
    k1, k2 = int.from_bytes(tail[:8], "little"), int.from_bytes(tail[8:], "little")
    h2 ^= rotate(k2 * c2 & MASK, 33) * c1 & MASK
    h1 ^= rotate(k1 * c1 & MASK, 31) * c2 & MASK
    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = (h1 + h2) & MASK
    h2 = (h2 + h1) & MASK
    h1, h2 = final_mix(h1), final_mix(h2)
    h1 = (h1 + h2) & MASK
    return struct.pack("<QQ", h1, (h2 + h1) & MASK)


def final_mix(k):
    k = (k ^ k >> 33) * 0xFF51AFD7ED558CCD & MASK
    k = (k ^ k >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return k ^ k >> 33


CONSTANT = 0xDEADBEEFDEADBEEF


def short_mix(a, b, c, d):
    for i in range(3):
        r = ((50, 52, 30, 41), (54, 48, 38, 37), (62, 34, 5, 36))[i]
        c = (rotate(c, r[0]) + d) & MASK
        a ^= c
        d = (rotate(d, r[1]) + a) & MASK
        b ^= d
        a = (rotate(a, r[2]) + b) & MASK
        c ^= a
        b = (rotate(b, r[3]) + c) & MASK
        d ^= b
    return a, b, c, d


def short_end(a, b, c, d):
    h = [a, b, c, d]
    for i, r in enumerate((15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63)):
        x, y = (i + 3) % 4, (i + 2) % 4
        h[x] ^= h[y]
        h[y] = rotate(h[y], r)
        h[x] = (h[x] + h[y]) & MASK
    return h[0], h[1]


def spooky(message):
    """SpookyHash V2 with seeds 0, of a whole message."""
    if len(message) < 192:
        return spooky_short(message)
    s = [0, 0, CONSTANT] * 4
    turns = (11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46)
    whole = len(message) // 96 * 96
    for block in struct.iter_unpack("<12Q", message[:whole]):
        for i in range(12):
            s[i] = (s[i] + block[i]) & MASK
            s[(i + 2) % 12] ^= s[(i + 10) % 12]
            s[(i + 11) % 12] ^= s[i]
            s[i] = rotate(s[i], turns[i])
            s[(i + 11) % 12] = (s[(i + 11) % 12] + s[(i + 1) % 12]) & MASK
    rest = message[whole:]
    last = rest + bytes(95 - len(rest)) + bytes([len(rest)])
    s = [(x + y) & MASK for x, y in zip(s, struct.unpack("<12Q", last))]
    for _ in range(3):
        for i, r in enumerate((44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54)):
            x, y, z = (i + 11) % 12, (i + 1) % 12, (i + 2) % 12
            s[x] = (s[x] + s[y]) & MASK
            s[z] ^= s[x]
            s[y] = rotate(s[y], r)
    return struct.pack("<QQ", s[0], s[1])


def spooky_short(message):
    a, b, c, d = 0, 0, CONSTANT, CONSTANT
    at = 0
    while len(message) - at >= 16:
        c = (c + int.from_bytes(message[at : at + 8], "little")) & MASK
        d = (d + int.from_bytes(message[at + 8 : at + 16], "little")) & MASK
        a, b, c, d = short_mix(a, b, c, d)
        at += 16
        if len(message) - at >= 16:
            a = (a + int.from_bytes(message[at : at + 8], "little")) & MASK
            b = (b + int.from_bytes(message[at + 8 : at + 16], "little")) & MASK
            at += 16
    rest = message[at:]
    d = (d + (len(message) << 56)) & MASK
    if rest:
        c = (c + int.from_bytes(rest[:8], "little")) & MASK
        d = (d + int.from_bytes(rest[8:], "little")) & MASK
    else:
        c, d = (c + CONSTANT) & MASK, (d + CONSTANT) & MASK
    return struct.pack("<QQ", *short_end(a, b, c, d))


def fold(digests):
    """The sum of the digests of samples."""
    a, b = struct.unpack("<QQ", digests[0])
    for digest in digests[1:]:
        a, b = short_end(a, b, *struct.unpack("<QQ", digest))
    return struct.pack("<QQ", a, b)


# ---- the container ----


class Bytes:
    """A piece of data read from its beginning to its end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        require(self.left() >= count, "data ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def narrow(self, hint):
        return self.number("BHI"[hint])


class Archive:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        require(self.bytes[:5] == b"Ogawa", "does not begin as Ogawa does")
        require(self.bytes[5] == 255, "was not closed")
        require(self.bytes[6:8] == b"\0\1", "another version of Ogawa")
        self.seen = set()
        root = self.group(struct.unpack_from("<Q", self.bytes, 8)[0])
        require(len(root) == 6, "the root has %d children" % len(root))
        self.version = self.data_number(root[0])
        self.library = self.data_number(root[1])
        require(self.version == 0 and self.library >= 9999, "versions %d, %d" % (self.version, self.library))
        self.metadata = words(self.data(root[3]))
        self.times = self.read_times(Bytes(self.data(root[4])))
        self.listed = [""] + self.read_listed(Bytes(self.data(root[5])))
        self.top = Object(self, "", "", root[2])

    def group(self, place):
        """The places of its children."""
        if place == 0:
            return []
        require(place & DATA == 0 and 16 <= place <= len(self.bytes) - 8, "no group at %x" % place)
        count = struct.unpack_from("<Q", self.bytes, place)[0]
        require(count >= 1 and place + 8 + 8 * count <= len(self.bytes), "a group beyond the end")
        return list(struct.unpack_from("<%dQ" % count, self.bytes, place + 8))

    def data(self, place):
        require(place & DATA, "a group where data should be")
        place &= ~DATA
        if place == 0:
            return b""
        require(16 <= place <= len(self.bytes) - 8, "no data at %x" % place)
        size = struct.unpack_from("<Q", self.bytes, place)[0]
        require(place + 8 + size <= len(self.bytes), "data beyond the end")
        return self.bytes[place + 8 : place + 8 + size]

    def data_number(self, place):
        data = self.data(place)
        require(len(data) == 4, "a version of %d bytes" % len(data))
        return struct.unpack("<i", data)[0]

    def read_times(self, data):
        """(most samples, step, times) of every list."""
        lists = []
        while data.left():
            most, step, count = data.number("I"), data.number("d"), data.number("I")
            require(count >= 1, "a list without times")
            times = [data.number("d") for _ in range(count)]
            require(all(a < b for a, b in zip(times, times[1:])), "times that do not rise")
            require(step > 0 and (step == ACYCLIC or count == 1), "a step of %g for %d times" % (step, count))
            lists.append((most, step, times))
        require(lists[0][1:] == (1.0, [0.0]), "list 0 of the times is not the usual one")
        return lists

    def read_listed(self, data):
        listed = []
        while data.left():
            listed.append(data.take(data.number("B")).decode())
        require(len(set(listed)) == len(listed), "metadata that is listed twice")
        return listed

    def find(self, path):
        here = self.top
        for name in path.split("/")[1:]:
            here = here.child(name)
        return here

    def meshes(self):
        """Every PolyMesh, in order."""
        found, pending = [], [self.top]
        while pending:
            here = pending.pop(0)
            if here.metadata.get("schema") == "AbcGeom_PolyMesh_v1":
                found.append(here)
            pending = here.children + pending
        return found


def words(data):
    text = data.decode() if isinstance(data, bytes) else data
    pairs = [pair.split("=") for pair in text.split(";")] if text else []
    require(all(len(pair) == 2 for pair in pairs), "metadata '%s'" % text)
    keys = [key for key, _ in pairs]
    require(keys == sorted(set(keys)), "keys of '%s' do not ascend" % text)
    return dict(pairs)


class Object:
    def __init__(self, archive, path, text, place, name=""):
        self.archive, self.path, self.name = archive, path, name
        self.metadata = words(text)
        group = archive.group(place)
        require(len(group) >= 2, "object %s is empty" % path)
        self.properties = Compound(archive, path, group[0])
        data = Bytes(archive.data(group[-1]))
        self.children = []
        headers = []
        while data.left() > 32:
            name = data.take(data.number("I")).decode()
            require(name and "/" not in name, "an object called '%s'" % name)
            listed = data.number("B")
            headers.append((name, data.take(data.number("I")).decode() if listed == 255 else archive.listed[listed]))
        require(len(headers) == len(group) - 2, "headers of %s" % path)
        require(len(set(name for name, _ in headers)) == len(headers), "two children of %s are called alike" % path)
        for (child, child_text), child_place in zip(headers, group[1:-1]):
            self.children.append(Object(archive, path + "/" + child, child_text, child_place, child))
        own = spooky(b"".join(p.hash for p in self.properties.children))
        below = b"".join(c.hash for c in self.children)
        require(data.take(16) == own, "hash of the properties of %s" % path)
        require(data.take(16) == (spooky(below) if below else bytes(16)), "hash of the children of %s" % path)
        self.hash = spooky(below + own + text.encode() + self.name.encode())

    def child(self, name):
        for child in self.children:
            if child.name == name:
                return child
        raise Wrong("%s has no child %s" % (self.path or "/", name))

    def property(self, path):
        return self.properties.find(path)


class Compound:
    def __init__(self, archive, path, place, name="", text=""):
        self.name, self.metadata, self.children = name, words(text), []
        group = archive.group(place)
        if group:
            data = Bytes(archive.data(group[-1]))
            for child in group[:-1]:
                self.children.append(read_property(archive, path, data, child))
            require(data.left() == 0, "headers of %s/%s" % (path, name))
        names = [child.name for child in self.children]
        require(len(set(names)) == len(names), "two properties of %s are called alike" % path)
        self.hash = spooky(b"".join(c.hash for c in self.children) + name.encode() + text.encode())

    def find(self, path):
        first, _, rest = path.partition("/")
        for child in self.children:
            if child.name == first:
                return child.find(rest) if rest else child
        raise Wrong("no property %s" % path)

    def has(self, path):
        try:
            self.find(path)
        except Wrong:
            return False
        return True


def read_property(archive, path, data, place):
    info = data.number("I")
    kind, hint = info & 3, info >> 2 & 3
    count = first = last = times = 0
    if kind:
        count = data.narrow(hint)
        if info & 0x200:
            first, last = data.narrow(hint), data.narrow(hint)
        elif not info & 0x800:
            first, last = 1, count - 1
        times = data.narrow(hint) if info & 0x100 else 0
    name = data.take(data.narrow(hint)).decode()
    require(name and "/" not in name, "a property called '%s'" % name)
    listed = info >> 20 & 255
    text = data.take(data.narrow(hint)).decode() if listed == 255 else archive.listed[listed]
    if kind == 0:
        return Compound(archive, path, place, name, text)
    return Property(archive, path, place, name, text, info, (count, first, last), times)


class Property:
    def __init__(self, archive, path, place, name, text, info, counts, times):
        self.archive, self.name, self.metadata, self.text = archive, name, words(text), text
        self.path = path + "/" + name
        self.scalar = info & 3 == 1
        self.number, self.extent = info >> 4 & 15, info >> 12 & 255
        self.count, self.first, self.last = counts
        self.constant = self.last == 0
        self.list = times
        require(self.number in FORMATS and self.extent > 0, "type of %s" % self.path)
        require(times < len(archive.times), "times of %s" % self.path)
        require(0 <= self.first <= self.last < self.count, "changes of %s" % self.path)
        group = archive.group(place)
        stored = 1 if self.constant else self.last - self.first + 2
        require(len(group) == stored * (1 if self.scalar else 2), "%s has %d places" % (self.path, len(group)))
        self.places = group if self.scalar else group[::2]
        if not self.scalar:
            require(all(dims == DATA for dims in group[1::2]), "dimensions of %s" % self.path)
        self.check(info)

    def size(self):
        return self.extent * struct.calcsize("<" + FORMATS[self.number])

    def check(self, info):
        """Digests of all samples; sets the hash."""
        digests, points = [], set()
        for place in self.places:
            data = self.archive.data(place)
            digest = murmur3(data[16:])
            require(digest == (data[:16] or bytes(16)), "digest of a sample of %s" % self.path)
            count = max(len(data) - 16, 0) // self.size()
            require(max(len(data) - 16, 0) == count * self.size(), "size of a sample of %s" % self.path)
            points.add(count)
            digests.append(digest if self.scalar else spooky(struct.pack("<Q", count) + digest))
        if self.scalar:
            require(points == {1}, "%s has samples of %s" % (self.path, points))
        else:
            require(bool(info & 1) == (points == {1}), "%s is like a scalar, or not" % self.path)
        require(bool(info & 0x400) == (len(points) == 1), "sizes of %s" % self.path)
        if not self.constant:
            stored = [self.archive.data(place) for place in self.places]
            require(stored[0] != stored[1] and stored[-1] != stored[-2], "%s does not change" % self.path)
        _, step, times = self.archive.times[self.list]
        header = self.name.encode() + self.text.encode() + bytes([self.number, self.extent])
        header += b"\0" if self.scalar else b""
        header += struct.pack("<dI%dd" % len(times), step, len(times), *times)
        self.hash = spooky(header + fold([digests[self.index(i)] for i in range(self.count)]))

    def index(self, sample):
        require(0 <= sample < self.count, "%s has no sample %d" % (self.path, sample))
        if self.constant or sample < self.first:
            return 0
        return min(sample, self.last) - self.first + 1

    def sample(self, sample):
        data = self.archive.data(self.places[self.index(sample)])[16:]
        code = "<%d%s" % (self.extent, FORMATS[self.number])
        values = list(struct.iter_unpack(code, data))
        if self.extent == 1:
            values = [value for (value,) in values]
        return values[0] if self.scalar else values
