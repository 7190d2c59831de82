/* scene_options.c: options that say how a scene is read, and the context to read it in. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RESOLUTION = 8192, MOST_THREADS = 256 };

void scene_option_table(scene_arguments *a, option *table) {
    a->integrator_choice = (word_choice){.value = &a->integrator, .kind = WORDS_INTEGRATORS, .checked_later = true};
    const option options[SCENE_OPTIONS] = {
        {"--set", NULL, "PATH=VALUE", "override a key, as in --set time.step=1ms; may be repeated", OPTION_LIST,
         &a->set, 0, 0},
        {"--irregular", NULL, NULL, "turn every grid into an irregular mesh", OPTION_FLAG, &a->irregular, 0, 0},
        {"--resolution", NULL, "N", "vertices along the width of every grid; default: the scene's", OPTION_NUMBER,
         &a->resolution, 2, MOST_RESOLUTION},
        {"--trust-paths", NULL, NULL,
         "meshes and outputs that the scene names may lie outside its folder and this one", OPTION_FLAG,
         &a->trust_paths, 0, 0},
        {"--integrator", NULL, "NAME", "default: the scene's", OPTION_WORD, &a->integrator_choice, 0, 0},
        {"--threads", NULL, "T", "default: as many as processors; results do not depend on it", OPTION_NUMBER,
         &a->threads, 1, MOST_THREADS},
    };
    memcpy(table, options, sizeof options);
}

drape_scene_options scene_options(const scene_arguments *a) {
    return (drape_scene_options){.resolution = a->resolution,
                                 .irregular = a->irregular,
                                 .set = a->set.words,
                                 .set_count = a->set.count,
                                 .trust_paths = a->trust_paths,
                                 .integrator = a->integrator};
}

static bool choose_simd(drape_simd *simd) {
    const char *wanted = getenv("DRAPE_SIMD");
    if (!wanted || !*wanted) return true;
    for (int level = DRAPE_SIMD_BASELINE; drape_simd_name((drape_simd)level); level++)
        if (strcmp(wanted, drape_simd_name((drape_simd)level)) == 0) {
            *simd = (drape_simd)level;
            return true;
        }
    complain("DRAPE_SIMD=%s: sse2 (neon on arm64), avx2 or avx512 is wanted", wanted);
    return false;
}

drape_context *make_context(int32_t threads) {
    drape_context_settings settings = drape_context_defaults();
    drape_context *ctx = NULL;
    settings.threads = threads;
    if (!choose_simd(&settings.simd)) return NULL;
    drape_status status = drape_context_create(&settings, &ctx);
    if (status == DRAPE_ERROR_ARGUMENT) complain("this processor has no %s", drape_simd_name(settings.simd));
    else if (status) complain("cannot start %d threads: %s", threads, drape_status_name(status));
    return ctx;
}
