/* Any bytes as an OBJ file. */
#include "meshes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh(drape_i_obj_parse, data, size);
    return 0;
}
