/* A step that is warm allocates nothing.
 *
 * The linker redirects every call of malloc and its kin from this program's own objects, the library's among them, to
 * the counting functions below (--wrap, see tests/CMakeLists.txt). What a shared library allocates inside, libc for
 * instance in strdup, is not seen that way: mallinfo2 shows whether anything of it stays. */
#include "support/contacts.h"

#include "drape/io.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(SANITIZED) && defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define HAVE_MALLINFO 1
#endif
#endif

enum { STEPS = 6, RESOLUTION = 33 };

static atomic_llong calls; /* of any of the functions, by any thread */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
void __real_free(void *memory);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t bytes) {
    calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size) {
    calls++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    calls++;
    return __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    calls++;
    return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes) {
    calls++;
    return __real_posix_memalign(out, alignment, bytes);
}

void __wrap_free(void *memory) {
    calls++;
    __real_free(memory);
}

/* Bytes in use as libc counts them, in all its arenas and mappings; 0 where it cannot be asked. */
static size_t bytes_in_use(void) {
#ifdef HAVE_MALLINFO
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* Calls are made through volatile pointers, or the compiler might leave out a malloc with its free. */
static void test_wrapper_sees_every_function(void **state) {
    (void)state;
    void *(*volatile do_malloc)(size_t) = malloc;
    void *(*volatile do_calloc)(size_t, size_t) = calloc;
    void *(*volatile do_realloc)(void *, size_t) = realloc;
    void *(*volatile do_aligned)(size_t, size_t) = aligned_alloc;
    int (*volatile do_posix)(void **, size_t, size_t) = posix_memalign;
    void (*volatile do_free)(void *) = free;
    void *memory;
    calls = 0;
    assert_non_null(memory = do_malloc(100));
    assert_int_equal(calls, 1);
    assert_non_null(memory = do_realloc(memory, 200));
    assert_int_equal(calls, 2);
    do_free(memory);
    assert_int_equal(calls, 3);
    assert_non_null(memory = do_calloc(10, 10));
    assert_int_equal(calls, 4);
    do_free(memory);
    assert_non_null(memory = do_aligned(64, 128));
    assert_int_equal(calls, 6);
    do_free(memory);
    assert_int_equal(do_posix(&memory, 64, 128), 0);
    assert_int_equal(calls, 8);
    do_free(memory);
    assert_int_equal(calls, 9);
}

static void test_wrapper_sees_the_library(void **state) {
    (void)state;
    calls = 0;
    drape_context *ctx = test_context(1);
    assert_true(calls >= 1);
    drape_context_destroy(ctx);
    assert_true(calls >= 2);
}

static void test_mallinfo_sees_what_libc_allocates(void **state) {
    (void)state;
#ifdef HAVE_MALLINFO
    char *(*volatile do_strdup)(const char *) = strdup;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    size_t before = bytes_in_use();
    calls = 0;
    char *volatile copy = do_strdup(text);
    assert_true(bytes_in_use() >= before + sizeof text);
    assert_int_equal(calls, 0); /* libc's own call is not redirected */
    free(copy);
#else
    print_message("no mallinfo2, or a sanitizer's malloc, which it does not count: skipped\n");
    skip();
#endif
}

/* The first step may allocate, and does, which shows that the steps are watched; the others must not, except for
 * steps with more contacts than any before. step 0: the scene's own, s. */
static void watch_steps(drape_context *ctx, const char *name, const drape_integration *integration, double step) {
    drape_loaded_scene *loaded;
    drape_sim *sim;
    drape_certificate certificate;
    ASSERT_OK(ctx, drape_scene_builtin(ctx, name, RESOLUTION, &loaded));
    drape_scene *scene = drape_loaded_scene_edit(loaded);
    scene->solve.precond = "block_diagonal"; /* "auto" may turn to another one, which allocates */
    scene->integration = *integration;
    if (step > 0) scene->step = step;
    bool solves = step == 0;
    int64_t most = 0, most_hits = 0;
    ASSERT_OK(ctx, drape_sim_create(ctx, scene, &sim));
    calls = 0;
    ASSERT_OK(ctx, drape_sim_step(sim, &certificate));
    if (solves) assert_true(calls > 0);
    for (int k = 2; k <= STEPS; k++) {
        int64_t held = drape_context_bytes(ctx);
        size_t before = bytes_in_use();
        calls = 0;
        drape_status status = drape_sim_step(sim, &certificate);
        long long made = calls;
        size_t after = bytes_in_use();
        ASSERT_OK(ctx, status);
        int64_t contacts = certificate.contact.springs + certificate.contact.pairs, hits = certificate.contact.hits;
        bool grew = contacts > most || hits > most_hits;
        if (contacts > most) most = contacts;
        if (hits > most_hits) most_hits = hits;
        if (!grew && (made || after != before || drape_context_bytes(ctx) != held))
            fail_msg("%s, %s, step %d: %lld calls, %lld bytes more", name, integration->ode.method, k, made,
                     (long long)after - (long long)before);
    }
    drape_sim_destroy(sim);
    drape_loaded_scene_destroy(loaded);
}

static void watch_scenes(int32_t threads) {
    drape_context *ctx = test_context(threads);
    const drape_integration usual = drape_integration_defaults();
    for (int32_t i = 0; drape_scene_name(i); i++)
        /* Their first steps find more pairs each time: as coarse as here the knot unbends, and the apron's flap
         * falls. */
        if (strcmp(drape_scene_name(i), "knot") != 0 && strcmp(drape_scene_name(i), "apron") != 0)
            watch_steps(ctx, drape_scene_name(i), &usual, 0);
    assert_int_equal(drape_context_bytes(ctx) > 0, threads > 1); /* the pool */
    drape_context_destroy(ctx);
}

static void test_warm_step_allocates_nothing(void **state) {
    (void)state;
    watch_scenes(1);
}

static void test_warm_step_on_threads_allocates_nothing(void **state) {
    (void)state;
    watch_scenes(3);
}

/* Every integrator, with steps of one length and with controlled ones. Explicit ones solve nothing, not even at
 * first.
 */
static void test_no_integrator_allocates_when_warm(void **state) {
    drape_context *ctx = test_context(1);
    (void)state;
    for (int32_t i = 0; drape_integrator_name(i); i++)
        for (int32_t control = DRAPE_ODE_FIXED; control <= DRAPE_ODE_ERROR; control++) {
            drape_integration s = drape_integration_defaults();
            s.ode.method = drape_integrator_name(i);
            s.ode.control = (drape_ode_control)control;
            bool solves = i == 0 || drape_ode_method_implicit(s.ode.method);
            watch_steps(ctx, "drooping", &s, solves ? 0 : 2e-5);
        }
    assert_int_equal(drape_context_bytes(ctx), 0);
    drape_context_destroy(ctx);
}

/* Once everything has touched that will: contacts that grow in number may take memory. */
static void test_cloth_at_rest_on_objects_allocates_nothing(void **state) {
    static const char *const methods[] = {DRAPE_LINEARISED_EULER, "bdf2"};
    static const drape_collider things[] = {
        {.shape = DRAPE_COLLIDER_PLANE, .friction = 0.3},
        {.shape = DRAPE_COLLIDER_BOX, .size = {0.1, 0.1, 0.004}, .friction = 0.3}};
    drape_context *ctx = test_context(2);
    (void)state;
    for (int i = 0; i < 2; i++) {
        test_drop d = {.cells = 12,
                       .width = 0.3,
                       .height = 3e-3,
                       .friction = 0.3,
                       .step = 4e-3,
                       .method = methods[i],
                       .self = true,
                       .colliders = things,
                       .collider_count = 2};
        test_drop_scene(ctx, &d);
        d.strip->scene.solve.precond = "block_diagonal";
        test_drop_start(&d);
        for (int k = 0; k < 100; k++) test_drop_step_unwatched(&d);
        assert_true(d.last.contact.count > 0);
        for (int k = 0; k < 20; k++) {
            size_t before = bytes_in_use();
            calls = 0;
            test_drop_step_unwatched(&d);
            long long made = calls;
            if (made || bytes_in_use() != before)
                fail_msg("%s, step %d: %lld calls", methods[i], (int)d.last.step, made);
        }
        test_drop_destroy(&d);
    }
    drape_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrapper_sees_every_function),
        cmocka_unit_test(test_wrapper_sees_the_library),
        cmocka_unit_test(test_mallinfo_sees_what_libc_allocates),
        cmocka_unit_test(test_warm_step_allocates_nothing),
        cmocka_unit_test(test_warm_step_on_threads_allocates_nothing),
        cmocka_unit_test(test_no_integrator_allocates_when_warm),
        cmocka_unit_test(test_cloth_at_rest_on_objects_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
