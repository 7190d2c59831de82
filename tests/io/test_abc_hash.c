/* The checksums of Alembic's files, against values of their authors' programs, and for messages in parts. */
#include "io/abc_hash.h"
#include "support/testing.h"

#include <string.h>

/* Of the bytes 3, 10, 17, ... (each 7 more, modulo 256). */
static const struct {
    size_t bytes;
    drape_i_digest murmur, spooky;
} known[] = {
    {0,
     {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
     {{UINT64_C(0x232706fc6bf50919), UINT64_C(0x8b72ee65b4e851c7)}}},
    {1,
     {{UINT64_C(0x726ac6dd306a3e59), UINT64_C(0x4e711127c5b5a8e4)}},
     {{UINT64_C(0x4b87fa4c899cff30), UINT64_C(0x81b68b651a1176a5)}}},
    {8,
     {{UINT64_C(0xa5ee2a9a9132d3bd), UINT64_C(0x259e7f3a617e003a)}},
     {{UINT64_C(0x93fa88e896a3c5fd), UINT64_C(0xd5695d769aef7819)}}},
    {13,
     {{UINT64_C(0xd067c85b9518a027), UINT64_C(0x0fd77b52596e08ec)}},
     {{UINT64_C(0x711e5d011841c19c), UINT64_C(0xc5a1548a5c57ce39)}}},
    {15,
     {{UINT64_C(0xba6a4b5e80ade4f4), UINT64_C(0xe00e5a8ff7e8f26d)}},
     {{UINT64_C(0x80ff2557a5f3fce9), UINT64_C(0x9f9124303074ed55)}}},
    {16,
     {{UINT64_C(0xc4b099c52f8f4ea1), UINT64_C(0x7d670219d92afe48)}},
     {{UINT64_C(0x996b234d7cd0c4ed), UINT64_C(0x8a808f0f205dfad7)}}},
    {17,
     {{UINT64_C(0xd4ae4b39fe53b127), UINT64_C(0x6602453b6681dbe9)}},
     {{UINT64_C(0xe0fdf7e05d4532b1), UINT64_C(0x7eec84bc0a6d79fd)}}},
    {31,
     {{UINT64_C(0x9d91fedff00436fb), UINT64_C(0x7ea851ba737ebfd0)}},
     {{UINT64_C(0xb8cc43d889b92e0c), UINT64_C(0x833b8c390ccc43c5)}}},
    {32,
     {{UINT64_C(0x65bdb8dd080643ff), UINT64_C(0xbec31b8aa5f3910a)}},
     {{UINT64_C(0xe10b9985690e40f4), UINT64_C(0x28554cf193842d36)}}},
    {47,
     {{UINT64_C(0x1ae5d525c6171259), UINT64_C(0x831e560033fb7f91)}},
     {{UINT64_C(0xc3eb8b9737232ebd), UINT64_C(0x0bc3957d311ec26a)}}},
    {95,
     {{UINT64_C(0xf181a60515b2d7fd), UINT64_C(0xb2fce583b51cbbd4)}},
     {{UINT64_C(0x0a04c3f05543399d), UINT64_C(0xbbb50efe8502cfff)}}},
    {96,
     {{UINT64_C(0xbb81e0211d1edaed), UINT64_C(0x0db6696e77fa6bd2)}},
     {{UINT64_C(0x1f928ec4e1b51a12), UINT64_C(0x5a481a7089a84595)}}},
    {191,
     {{UINT64_C(0x1fe9f31966e1e391), UINT64_C(0xcd5de6960f030416)}},
     {{UINT64_C(0x5a8b556721e70004), UINT64_C(0xbfbe8ba61a7acb43)}}},
    {192,
     {{UINT64_C(0x3f0edf07f7957b3d), UINT64_C(0x697b2bf45b7eece5)}},
     {{UINT64_C(0x4bd5231fc1b3b9cf), UINT64_C(0xf70d440762d6f476)}}},
    {193,
     {{UINT64_C(0xcc66585d26945f31), UINT64_C(0x2dada7d7c8c63fdc)}},
     {{UINT64_C(0x898f9ebe5674b3c2), UINT64_C(0xe9529fbaf0941aa2)}}},
    {287,
     {{UINT64_C(0xb27d1fbd1cc64eb3), UINT64_C(0xd50dd9cec0f65a17)}},
     {{UINT64_C(0xef60b12696bcb0ec), UINT64_C(0x4b891c4440f99a7c)}}},
    {288,
     {{UINT64_C(0xb609aa1cd53fb648), UINT64_C(0x6b20e2942f564b6c)}},
     {{UINT64_C(0x70a2ef669478aefb), UINT64_C(0x338f2a05aa705160)}}},
    {383,
     {{UINT64_C(0xdf7778bd44012fc9), UINT64_C(0xd47110b86a21d1c6)}},
     {{UINT64_C(0x47ee214bcee6a16d), UINT64_C(0xe779095b19912d2e)}}},
    {384,
     {{UINT64_C(0x15b1d6e30aaf62d6), UINT64_C(0x70f90abdf5e58c79)}},
     {{UINT64_C(0x6ae62d3d99a56f77), UINT64_C(0xff469e686f266026)}}},
    {1000,
     {{UINT64_C(0x0af789efbadcaa49), UINT64_C(0x0bd8a1b9d9bb546b)}},
     {{UINT64_C(0x85072d3218a51b05), UINT64_C(0x2412672ca9b5bf48)}}},
};

enum { KNOWN = sizeof known / sizeof *known, MOST = 1000 };

static void fill(unsigned char *bytes) {
    for (int i = 0; i < MOST; i++) bytes[i] = (unsigned char)(7 * i + 3);
}

static void assert_digest(drape_i_digest got, drape_i_digest wanted) {
    assert_memory_equal(&got, &wanted, sizeof wanted);
}

static void known_values(void **state) {
    unsigned char bytes[MOST];
    (void)state;
    fill(bytes);
    for (int i = 0; i < KNOWN; i++) {
        drape_i_spooky h = {0};
        drape_i_spooky_add(&h, bytes, known[i].bytes);
        assert_digest(drape_i_spooky_end(&h), known[i].spooky);
        assert_digest(drape_i_murmur3(bytes, known[i].bytes), known[i].murmur);
    }
}

/* As Appleby's program has it. */
static void a_word(void **state) {
    (void)state;
    assert_digest(drape_i_murmur3("hello", 5),
                  (drape_i_digest){{UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19)}});
}

static void parts_make_the_whole(void **state) {
    unsigned char bytes[MOST];
    test_random r = {5};
    (void)state;
    fill(bytes);
    for (int trial = 0; trial < 500; trial++) {
        size_t length = known[trial % KNOWN].bytes, at = 0;
        drape_i_spooky h = {0};
        while (at < length) {
            size_t part = (size_t)test_random_between(&r, 0, 250);
            if (part > length - at) part = length - at;
            drape_i_spooky_add(&h, bytes + at, part);
            (void)drape_i_spooky_end(&h); /* changes nothing */
            at += part;
        }
        assert_digest(drape_i_spooky_end(&h), known[trial % KNOWN].spooky);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(a_word),
        cmocka_unit_test(parts_make_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
