/* Any bytes as the file of an image: refused with a message of one line, or of sides within the limits. Nothing is
 * allocated, and no byte after the last one is read. */
#include "io/appearance.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    drape_context *ctx = shared_context();
    int64_t before = drape_context_bytes(ctx);
    drape_i_image image;
    uint8_t *exact = malloc(size + (size == 0)); /* the sanitizer watches its end */
    demand(exact != NULL);
    if (size > 0) memcpy(exact, data, size);
    drape_status status = drape_i_image_check(ctx, "fuzz", exact, (int64_t)size, &image);
    demand(status == DRAPE_OK || status == DRAPE_ERROR_FORMAT);
    if (status) demand(strncmp(drape_message(ctx), "fuzz: ", 6) == 0 && !strchr(drape_message(ctx), '\n'));
    else demand(image.width >= 1 && image.width <= 8192 && image.height >= 1 && image.height <= 8192);
    demand(drape_context_bytes(ctx) == before);
    free(exact);
    return 0;
}
