/* fuzz.h: what all fuzzers share. */
#ifndef DRAPE_TESTS_FUZZ_FUZZ_H
#define DRAPE_TESTS_FUZZ_FUZZ_H

#include "drape/base.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int condition) {
    if (!condition) abort();
}

/* One for the process, one thread: inputs are small. */
static inline drape_context *shared_context(void) {
    static drape_context *ctx;
    drape_context_settings settings = drape_context_defaults();
    settings.threads = 1;
    if (!ctx) demand(drape_context_create(&settings, &ctx) == DRAPE_OK);
    return ctx;
}

#endif
