"""same_picture.py A.png B.png: whether two pictures have the same pixels (8 bits per channel, not interlaced)."""
import struct
import sys
import zlib


def unfilter(kind, line, above, pixel):
    """PNG, third edition, section 9.2."""
    for i in range(len(line)):
        left = line[i - pixel] if i >= pixel else 0
        corner = above[i - pixel] if i >= pixel else 0
        up = above[i]
        if kind == 4:
            estimate = left + up - corner
            far = [(abs(estimate - p), n) for n, p in enumerate((left, up, corner))]
            guess = (left, up, corner)[min(far)[1]]
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        line[i] = (line[i] + guess) & 255


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    at, compressed, head = 8, b"", None
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IHDR":
            head = struct.unpack(">IIBBBBB", data[at + 8 : at + 21])
        elif name == b"IDAT":
            compressed += data[at + 8 : at + 8 + length]
        at += length + 12
    width, height, depth, color, _, _, interlaced = head
    if depth != 8 or interlaced or color not in (2, 6):
        sys.exit(f"{path}: not a picture of 8 bits per channel")
    pixel = 3 if color == 2 else 4
    raw, above, rows = zlib.decompress(compressed), bytearray(width * pixel), []
    for y in range(height):
        begin = y * (width * pixel + 1)
        line = bytearray(raw[begin + 1 : begin + 1 + width * pixel])
        unfilter(raw[begin], line, above, pixel)
        rows.append(bytes(line))
        above = line
    return (width, height, pixel), rows


def main():
    (size, a), (other, b) = read(sys.argv[1]), read(sys.argv[2])
    if size != other:
        sys.exit(f"{sys.argv[1]} and {sys.argv[2]} have different sizes")
    count = sum(
        a[y][x : x + size[2]] != b[y][x : x + size[2]] for y in range(size[1]) for x in range(0, size[0] * size[2], size[2])
    )
    if count:
        sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ in {count} of {size[0] * size[1]} pixels")


main()
