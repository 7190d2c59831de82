/* Any bytes as a PLY file. */
#include "meshes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh(drape_i_ply_parse, data, size);
    return 0;
}
