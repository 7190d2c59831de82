/* Pictures: the same bytes on any number of threads, what is in front and what is in the shadow, a camera that sees
 * everything, colors, sizes, lack of memory. The files are read again by the test's own decoders. */
#include "drape/io.h"
#include "sparse/counting_allocator.h"
#include "support/folder.h"
#include "support/testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const double PI = 3.14159265358979323846;

/* ---- Meshes and pictures ---- */

typedef struct soup {
    int32_t vertices, triangles;
    double *x;
    int32_t *triangle;
} soup;

static soup soup_new(int32_t vertices, int32_t triangles) {
    soup s = {vertices, triangles, calloc((size_t)vertices * 3, sizeof(double)),
              calloc((size_t)triangles * 3, sizeof(int32_t))};
    assert_true(s.x && s.triangle);
    return s;
}

static void soup_free(soup *s) { free(s->x), free(s->triangle); }

/* A square of n x n cells of side 1, about the origin, at z = 0. */
static soup make_sheet(int32_t n) {
    soup s = soup_new((n + 1) * (n + 1), 2 * n * n);
    for (int32_t i = 0; i < s.vertices; i++) {
        s.x[3 * i] = (double)(i % (n + 1)) / n - 0.5;
        s.x[3 * i + 1] = (double)(i / (n + 1)) / n - 0.5;
    }
    int32_t *t = s.triangle;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++, t += 6) {
            int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 2, d = a + n + 1;
            memcpy(t, (int32_t[]){a, b, c, a, c, d}, 6 * sizeof *t);
        }
    return s;
}

/* A sphere of radius r about c: rings of n vertices, poles are rings as well. */
static soup make_sphere(int32_t n, double r, const double c[3]) {
    int32_t rings = n / 2 + 1;
    soup s = soup_new(n * rings, 2 * n * (rings - 1));
    for (int32_t j = 0; j < rings; j++)
        for (int32_t i = 0; i < n; i++) {
            double theta = PI * j / (rings - 1), phi = 2 * PI * i / n;
            double *x = s.x + 3 * (j * n + i);
            x[0] = c[0] + r * sin(theta) * cos(phi);
            x[1] = c[1] + r * sin(theta) * sin(phi);
            x[2] = c[2] + r * cos(theta);
        }
    int32_t *t = s.triangle;
    for (int32_t j = 0; j + 1 < rings; j++)
        for (int32_t i = 0; i < n; i++, t += 6) {
            int32_t a = j * n + i, b = j * n + (i + 1) % n, d = a + n, e = b + n;
            memcpy(t, (int32_t[]){a, d, e, a, e, b}, 6 * sizeof *t);
        }
    return s;
}

static drape_render_cloth cloth_of(const soup *s) {
    return (drape_render_cloth){.vertices = s->vertices, .triangles = s->triangles, .triangle = s->triangle};
}

static uint8_t *new_picture(const drape_render_settings *s) {
    uint8_t *rgb = calloc(3 * (size_t)s->width * (size_t)s->height, 1);
    assert_non_null(rgb);
    return rgb;
}

/* One frame alone; to be freed. */
static uint8_t *picture_of(drape_context *ctx, const drape_render_cloth *cloth, const drape_render_settings *s,
                           const drape_frame *frame, drape_render_camera *camera) {
    drape_renderer *r;
    uint8_t *rgb = new_picture(s);
    ASSERT_OK(ctx, drape_renderer_create(ctx, cloth, s, &r));
    ASSERT_OK(ctx, drape_renderer_draw(r, frame, rgb));
    if (camera) ASSERT_OK(ctx, drape_renderer_camera(r, camera));
    drape_renderer_destroy(r);
    return rgb;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* As drape/io.h says it; the depth is returned. */
static double project(const drape_render_camera *c, const drape_render_settings *s, const double *p,
                      double pixel[2]) {
    double d[3] = {p[0] - c->eye[0], p[1] - c->eye[1], p[2] - c->eye[2]}, depth = -dot(c->back, d);
    pixel[0] = 0.5 * s->width + c->focal * dot(c->right, d) / depth;
    pixel[1] = 0.5 * s->height - c->focal * dot(c->up, d) / depth;
    return depth;
}

static const uint8_t *pixel_at(const drape_render_settings *s, const uint8_t *rgb, const double *place) {
    int32_t x = (int32_t)place[0], y = (int32_t)place[1];
    assert_true(x >= 0 && x < s->width && y >= 0 && y < s->height);
    return rgb + 3 * ((int64_t)y * s->width + x);
}

static drape_render_settings small(void) {
    drape_render_settings s = drape_render_defaults();
    s.width = 200, s.height = 150;
    return s;
}

static void crumple(soup *s, uint64_t seed, double by) {
    test_random random = {seed};
    for (int64_t i = 0; i < 3 * (int64_t)s->vertices; i++) s->x[i] += test_random_between(&random, -by, by);
}

/* ---- Bits ---- */

static void test_threads_change_no_byte(void **state) {
    (void)state;
    const double c[3] = {0.3, 0.1, -0.4};
    soup sheet = make_sheet(40), ball = make_sphere(32, 0.25, c);
    drape_frame_mesh mesh = {
        .vertices = ball.vertices, .triangles = ball.triangles, .positions = ball.x, .triangle = ball.triangle};
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    crumple(&sheet, 3, 0.03);
    drape_frame frame = {.positions = sheet.x, .meshes = &mesh, .mesh_count = 1};
    for (int32_t samples = 1; samples <= 64; samples += 63) {
        uint8_t *want = NULL;
        s.samples = samples;
        for (int32_t threads = 1; threads <= 5; threads += 2) {
            drape_context *ctx = test_context(threads);
            uint8_t *got = picture_of(ctx, &cloth, &s, &frame, NULL);
            if (want) assert_memory_equal(got, want, 3 * (size_t)s.width * (size_t)s.height);
            free(want);
            want = got;
            drape_context_destroy(ctx);
        }
        free(want);
    }
    soup_free(&sheet), soup_free(&ball);
}

/* ---- What is seen ---- */

static void set_background(drape_render_settings *s, double r, double g, double b) {
    s->has_background = true;
    for (int k = 0; k < 2; k++) memcpy(s->background[k], (double[]){r, g, b}, sizeof s->background[k]);
}

/* The picture of a sphere is an ellipse of area pi f^2 R^2 sqrt(d^2 - R^2) / (z^2 - R^2)^(3/2), z its depth, d its
 * distance. */
static void test_silhouette_of_a_sphere(void **state) {
    drape_context *ctx = *state;
    const double c[3] = {0.2, -0.1, 0.5}, R = 0.7;
    soup ball = make_sphere(256, R, c);
    /* a triangle far off, so small that it has no sample: the sphere is not in the middle of the picture then */
    soup both = soup_new(ball.vertices + 3, ball.triangles + 1);
    memcpy(both.x, ball.x, 3 * (size_t)ball.vertices * sizeof *ball.x);
    memcpy(both.triangle, ball.triangle, 3 * (size_t)ball.triangles * sizeof *ball.triangle);
    for (int k = 0; k < 3; k++) {
        memcpy(both.x + 3 * (ball.vertices + k), (double[]){2 + 1e-9 * k, 1, 1e-9 * k * k}, 3 * sizeof(double));
        both.triangle[3 * ball.triangles + k] = ball.vertices + k;
    }
    drape_render_settings s = drape_render_defaults();
    drape_render_cloth cloth = cloth_of(&both);
    drape_render_camera camera;
    s.width = 640, s.height = 480, s.samples = 1, s.no_floor = true;
    set_background(&s, 0, 0, 0);
    uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = both.x}, &camera);
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)s.width * s.height; i++) count += rgb[3 * i] > 0;
    double d[3] = {c[0] - camera.eye[0], c[1] - camera.eye[1], c[2] - camera.eye[2]}, z = -dot(camera.back, d);
    double want = PI * camera.focal * camera.focal * R * R * sqrt(dot(d, d) - R * R) / pow(z * z - R * R, 1.5);
    print_message("%lld pixels, %.1f wanted\n", (long long)count, want);
    ASSERT_NEAR((double)count / want, 1, 0.01);
    free(rgb);
    soup_free(&ball), soup_free(&both);
}

/* Red in front of blue, as the camera sees it from the direction y, whichever comes first in the list. */
static void test_what_is_in_front_hides(void **state) {
    drape_context *ctx = *state;
    static const double colors[2][3] = {{0.9, 0.05, 0.05}, {0.05, 0.05, 0.9}};
    drape_render_settings s = small();
    s.azimuth = 90, s.elevation = 0;
    for (int first = 0; first < 2; first++)
        for (int gap = 0; gap < 2; gap++) {
            soup two = soup_new(6, 2);
            double near = gap ? 1e-4 : 0.3; /* m */
            for (int k = 0; k < 6; k++) {
                double corner[3] = {k % 3 == 0 ? -1 : k % 3 == 1 ? 1 : 0, 0, k % 3 == 2 ? 1 : -0.5};
                corner[1] = (k / 3 == 0) == (first == 0) ? near : 0;
                memcpy(two.x + 3 * k, corner, sizeof corner);
                two.triangle[k] = k;
            }
            drape_render_cloth cloth = cloth_of(&two);
            drape_render_camera camera;
            double colored[2][3], middle[2];
            memcpy(colored[first], colors[0], sizeof colored[0]);
            memcpy(colored[1 - first], colors[1], sizeof colored[0]);
            cloth.piece_count = 2;
            cloth.piece_triangles = (int32_t[]){1, 1};
            cloth.piece_color = (const double(*)[3])colored;
            uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = two.x}, &camera);
            project(&camera, &s, (double[]){0, near, 0.1}, middle);
            const uint8_t *p = pixel_at(&s, rgb, middle);
            assert_true(p[0] > 2 * p[2]);
            free(rgb);
            soup_free(&two);
        }
}

/* Both sides are lit, and differ. */
static void test_sides_have_colors(void **state) {
    drape_context *ctx = *state;
    uint8_t seen[2][3];
    for (int turned = 0; turned < 2; turned++) {
        soup sheet = make_sheet(4);
        drape_render_settings s = small();
        drape_render_cloth cloth = cloth_of(&sheet);
        for (int32_t t = 0; turned && t < sheet.triangles; t++) {
            int32_t swapped = sheet.triangle[3 * t];
            sheet.triangle[3 * t] = sheet.triangle[3 * t + 1];
            sheet.triangle[3 * t + 1] = swapped;
        }
        uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL);
        memcpy(seen[turned], pixel_at(&s, rgb, (double[]){100, 75}), 3);
        free(rgb);
        soup_free(&sheet);
    }
    for (int turned = 0; turned < 2; turned++)
        assert_true(seen[turned][0] > 100 && seen[turned][0] > seen[turned][2]);
    assert_true(seen[1][2] > seen[0][2] + 20); /* the back is paler */
}

/* A mesh beside the cloth has the color that it is given, and without one it is gray. */
static void test_meshes_have_colors(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(4), over = make_sheet(4);
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    static const drape_appearance blue = {.colored = true, .color = {20, 60, 220}};
    const drape_appearance *look[] = {&blue};
    drape_frame_mesh mesh = {NULL, over.vertices, over.triangles, over.x, over.triangle};
    s.has_view = true, s.elevation = 90;
    for (int32_t v = 0; v < over.vertices; v++) over.x[3 * v + 2] += 0.05;
    for (int colored = 0; colored < 2; colored++) {
        drape_frame frame = {.positions = sheet.x, .meshes = &mesh, .mesh_count = 1};
        if (colored) frame.mesh_appearance = look;
        uint8_t *rgb = picture_of(ctx, &cloth, &s, &frame, NULL);
        const uint8_t *p = pixel_at(&s, rgb, (double[]){100, 75});
        if (colored) assert_true(p[2] > 100 && p[2] > 2 * p[0]);
        else assert_true(abs(p[0] - p[2]) < 30);
        free(rgb);
    }
    soup_free(&over);
    soup_free(&sheet);
}

/* A fine sheet that fills the picture has no holes along the edges of its triangles. */
static void test_no_sample_falls_between_triangles(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(61);
    static const double red[1][3] = {{0.9, 0, 0}};
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    drape_renderer *r;
    cloth.piece_count = 1, cloth.piece_color = red;
    set_background(&s, 0, 1, 0);
    s.no_floor = true, s.elevation = 90;
    uint8_t *rgb = new_picture(&s);
    ASSERT_OK(ctx, drape_renderer_create(ctx, &cloth, &s, &r));
    ASSERT_OK(ctx, drape_renderer_include(r, &(drape_frame){.positions = sheet.x}));
    for (int64_t i = 0; i < 3 * (int64_t)sheet.vertices; i++) sheet.x[i] *= 4; /* far beyond the picture */
    crumple(&sheet, 5, 0.01);
    ASSERT_OK(ctx, drape_renderer_draw(r, &(drape_frame){.positions = sheet.x}, rgb));
    for (int64_t i = 0; i < (int64_t)s.width * s.height; i++) assert_true(rgb[3 * i] > rgb[3 * i + 1]);
    drape_renderer_destroy(r);
    free(rgb);
    soup_free(&sheet);
}

/* ---- The floor ---- */

static double brightness(const uint8_t *p) { return p[0] + p[1] + p[2]; }

/* With the cloth no place of the floor is brighter than without, and some that the cloth does not hide are much
 * darker. */
static void test_shadow_is_dark(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(20), none = make_sheet(20);
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    drape_renderer *r;
    uint8_t *with = new_picture(&s), *without = new_picture(&s);
    for (int32_t v = 0; v < sheet.vertices; v++) none.x[3 * v] = NAN;
    double below[3] = {0, 0, -0.6}; /* the camera sees the floor there */
    drape_frame_mesh mark = {.vertices = 1, .positions = below};
    ASSERT_OK(ctx, drape_renderer_create(ctx, &cloth, &s, &r));
    ASSERT_OK(ctx, drape_renderer_include(r, &(drape_frame){.positions = sheet.x, .meshes = &mark, .mesh_count = 1}));
    ASSERT_OK(ctx, drape_renderer_draw(r, &(drape_frame){.positions = sheet.x}, with));
    ASSERT_OK(ctx, drape_renderer_draw(r, &(drape_frame){.positions = none.x}, without));
    int64_t dark = 0, lit = 0;
    for (int64_t i = 0; i < (int64_t)s.width * s.height; i++) {
        const uint8_t *a = with + 3 * i, *b = without + 3 * i;
        if (a[0] > a[2] + 40) continue; /* the cloth itself */
        assert_true(brightness(a) <= brightness(b));
        dark += brightness(a) < 0.8 * brightness(b);
        lit += brightness(a) > 0.99 * brightness(b);
    }
    print_message("%lld pixels in the shadow, %lld in the light\n", (long long)dark, (long long)lit);
    assert_true(dark > 500 && lit > 500);
    drape_renderer_destroy(r);
    free(with), free(without);
    soup_free(&sheet), soup_free(&none);
}

/* The floor is at the height that was asked for: what is below it is hidden. */
static void test_floor_hides_what_is_below(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(10);
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    s.has_floor = true;
    for (int above = 0; above < 2; above++) {
        int64_t red = 0;
        s.floor = above ? 0.2 : -0.2;
        uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL);
        for (int64_t i = 0; i < (int64_t)s.width * s.height; i++) red += rgb[3 * i] > rgb[3 * i + 2] + 40;
        if (above) assert_int_equal(red, 0);
        else assert_true(red > 1000);
        free(rgb);
    }
    soup_free(&sheet);
}

/* The camera does not have to see what is far larger than the cloth, such as the ground. */
static void test_camera_looks_at_the_cloth(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(10), plate = make_sheet(1);
    drape_render_settings s = small();
    drape_render_cloth cloth = cloth_of(&sheet);
    drape_render_camera cameras[3];
    for (int i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 12; k++) plate.x[k] *= i == 1 ? 9 : i == 2 ? 2. / 9 : 1;
        drape_frame_mesh mesh = {.vertices = 4, .triangles = 2, .positions = plate.x, .triangle = plate.triangle};
        drape_frame frame = {.positions = sheet.x, .meshes = &mesh, .mesh_count = 1};
        free(picture_of(ctx, &cloth, &s, &frame, &cameras[i]));
    }
    assert_memory_equal(&cameras[0], &cameras[1], sizeof cameras[0]);
    assert_memory_not_equal(&cameras[0], &cameras[2], sizeof cameras[0]); /* twice as large as the cloth */
    soup_free(&sheet), soup_free(&plate);
}

/* ---- The camera ---- */

static void test_camera_sees_everything(void **state) {
    drape_context *ctx = *state;
    test_random random = {11};
    for (int trial = 0; trial < 60; trial++) {
        drape_render_settings s = drape_render_defaults();
        drape_renderer *r;
        drape_render_camera camera;
        soup points = soup_new(30, 1);
        drape_render_cloth cloth = cloth_of(&points);
        double size = pow(10, test_random_between(&random, -4, 4)), farthest = 0;
        s.width = trial % 5 == 0 ? 1 : 1 + test_random_below(&random, 2000);
        s.height = trial % 7 == 0 ? 1 : 1 + test_random_below(&random, 2000);
        s.azimuth = test_random_between(&random, -360, 360);
        s.elevation = test_random_between(&random, -90, 90);
        s.no_floor = trial % 2 == 0;
        ASSERT_OK(ctx, drape_renderer_create(ctx, &cloth, &s, &r));
        double all[3][90];
        for (int f = 0; f < 3; f++) {
            for (int i = 0; i < 90; i++) all[f][i] = size * test_random_between(&random, 1, 3) * (i % 3 + 1);
            ASSERT_OK(ctx, drape_renderer_include(r, &(drape_frame){.positions = all[f]}));
        }
        ASSERT_OK(ctx, drape_renderer_camera(r, &camera));
        for (int i = 0; i < 90; i++) {
            double p[2], depth = project(&camera, &s, all[i / 30] + 3 * (i % 30), p);
            assert_true(depth > 0 && p[0] >= 0 && p[0] <= s.width && p[1] >= 0 && p[1] <= s.height);
            farthest = fmax(farthest, fmax(fabs(2 * p[0] / s.width - 1), fabs(2 * p[1] / s.height - 1)));
        }
        assert_true(farthest > (s.no_floor ? 0.8 : 0.3)); /* and is not farther away than it has to be */
        drape_renderer_destroy(r);
        soup_free(&points);
    }
}

static void test_camera_does_not_follow_explosions(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(5);
    drape_render_cloth cloth = cloth_of(&sheet);
    drape_render_camera before, after;
    drape_renderer *r;
    ASSERT_OK(ctx, drape_renderer_create(ctx, &cloth, NULL, &r));
    for (int i = 0; i < 5; i++) ASSERT_OK(ctx, drape_renderer_include(r, &(drape_frame){.positions = sheet.x}));
    ASSERT_OK(ctx, drape_renderer_camera(r, &before));
    sheet.x[0] = 1e6, sheet.x[3] = INFINITY;
    ASSERT_OK(ctx, drape_renderer_include(r, &(drape_frame){.positions = sheet.x}));
    ASSERT_OK(ctx, drape_renderer_camera(r, &after));
    for (int k = 0; k < 3; k++) assert_true(before.eye[k] == after.eye[k]);
    drape_renderer_destroy(r);
    soup_free(&sheet);
}

/* ---- Sizes, colors, arguments ---- */

static void test_odd_sizes(void **state) {
    drape_context *ctx = *state;
    static const int32_t sizes[][2] = {{1, 1}, {1, 300}, {16384, 1}, {3, 2}, {65, 64}};
    soup sheet = make_sheet(6);
    drape_render_cloth cloth = cloth_of(&sheet);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        drape_render_settings s = drape_render_defaults();
        s.width = sizes[i][0], s.height = sizes[i][1];
        uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL);
        for (int64_t k = 0; k < 3 * (int64_t)s.width * s.height; k++) assert_true(rgb[k] > 0); /* all were drawn */
        free(rgb);
    }
    soup_free(&sheet);
}

/* Bytes of the background are those asked for: the curve of sRGB is that of picture files. */
static void test_background_is_exact(void **state) {
    drape_context *ctx = *state;
    soup point = soup_new(1, 0);
    drape_render_cloth cloth = cloth_of(&point);
    for (int level = 0; level < 256; level += 5) {
        drape_render_settings s = drape_render_defaults();
        s.width = s.height = 1, s.samples = 1, s.no_floor = true;
        set_background(&s, level / 255., level / 255., (255 - level) / 255.);
        uint8_t *rgb = picture_of(ctx, &cloth, &s, &(drape_frame){.positions = point.x}, NULL);
        assert_int_equal(rgb[0], level);
        assert_int_equal(rgb[2], 255 - level);
        free(rgb);
    }
    soup_free(&point);
}

static void test_numbers_that_are_none(void **state) {
    drape_context *ctx = *state;
    drape_render_settings s = small();
    soup sheet = make_sheet(8);
    drape_render_cloth cloth = cloth_of(&sheet);
    sheet.x[0] = NAN, sheet.x[10] = INFINITY, sheet.x[20] = -1e300, sheet.x[31] = 1e308;
    free(picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL));
    for (int64_t i = 0; i < 3 * (int64_t)sheet.vertices; i++) sheet.x[i] = NAN;
    free(picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL));
    for (int64_t i = 0; i < 3 * (int64_t)sheet.vertices; i++) sheet.x[i] = 7; /* all in one place */
    free(picture_of(ctx, &cloth, &s, &(drape_frame){.positions = sheet.x}, NULL));
    soup_free(&sheet);
}

static void refuse(drape_context *ctx, const drape_render_cloth *cloth, const drape_render_settings *s,
                   const char *word) {
    drape_renderer *r;
    assert_int_equal(drape_renderer_create(ctx, cloth, s, &r), DRAPE_ERROR_ARGUMENT);
    assert_null(r);
    if (!strstr(drape_message(ctx), word)) fail_msg("should have named '%s': %s", word, drape_message(ctx));
}

static void test_wrong_arguments(void **state) {
    drape_context *ctx = *state;
    soup sheet = make_sheet(2);
    const drape_render_cloth cloth = cloth_of(&sheet);
    const drape_render_settings good = drape_render_defaults();
    drape_render_settings s = good;
    drape_render_cloth c = cloth;
    s.width = -1, refuse(ctx, &cloth, &s, "-1 x 540"), s = good;
    s.height = 20000, refuse(ctx, &cloth, &s, "960 x 20000"), s = good;
    s.samples = 5, refuse(ctx, &cloth, &s, "5 samples"), s = good;
    s.elevation = 91, refuse(ctx, &cloth, &s, "91"), s = good;
    s.azimuth = NAN, refuse(ctx, &cloth, &s, "view"), s = good;
    s.background[1][2] = 1.5, refuse(ctx, &cloth, &s, "background"), s = good;
    s.reserved[3] = 1, refuse(ctx, &cloth, &s, "drape_render_settings"), s = good;
    c.vertices = 3, refuse(ctx, &c, &s, "triangle 0"), c = cloth;
    c.piece_count = 1, c.piece_triangles = (int32_t[]){7}, refuse(ctx, &c, &s, "7 triangles"), c = cloth;
    c.piece_count = 1, c.piece_color = (const double[1][3]){{0, 0, 2}}, refuse(ctx, &c, &s, "piece 0"), c = cloth;
    c.triangle = NULL, refuse(ctx, &c, &s, "triangles"), c = cloth;
    drape_renderer *r;
    ASSERT_OK(ctx, drape_renderer_create(ctx, &cloth, NULL, &r));
    uint8_t byte = 0;
    drape_render_camera camera;
    drape_frame_mesh mesh = {
        .name = "pole", .vertices = 1, .positions = sheet.x, .triangles = 1, .triangle = (int32_t[]){0, 0, 1}};
    assert_int_equal(drape_renderer_camera(r, &camera), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_renderer_draw(r, &(drape_frame){0}, &byte), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(
        drape_renderer_include(r, &(drape_frame){.positions = sheet.x, .meshes = &mesh, .mesh_count = 1}),
        DRAPE_ERROR_ARGUMENT);
    assert_non_null(strstr(drape_message(ctx), "pole"));
    drape_renderer_destroy(r);
    drape_renderer_destroy(NULL);
    soup_free(&sheet);
}

/* ---- Files ---- */

static char folder[] = "/tmp/drape-render-XXXXXX";

static uint8_t *read_file(const char *name, size_t *size) {
    FILE *file = fopen(test_path_in(folder, name), "rb");
    assert_non_null(file);
    uint8_t *data = malloc(1 << 22);
    *size = fread(data, 1, 1 << 22, file);
    fclose(file);
    return data;
}

static uint32_t big32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Gathers the compressed data of all chunks at the front of `data`, after a look at their sums; how many bytes. */
static size_t gather_chunks(uint8_t *data, size_t size) {
    size_t at = 8, packed = 0;
    bool ended = false;
    while (at < size) {
        uint32_t length = big32(data + at);
        const uint8_t *type = data + at + 4;
        assert_true(at + 12 + length <= size && !ended);
        assert_int_equal(crc32(0, type, length + 4), big32(type + 4 + length));
        ended = memcmp(type, "IEND", 4) == 0;
        at += 12 + length;
        if (memcmp(type, "IDAT", 4) != 0) continue;
        memmove(data + packed, type + 4, length);
        packed += length;
    }
    assert_true(ended);
    return packed;
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static void unfilter(const uint8_t *from, int32_t width, int32_t height, uint8_t *rgb) {
    int64_t row = 3 * (int64_t)width;
    for (int32_t y = 0; y < height; y++) {
        const uint8_t filter = *from++;
        uint8_t *to = rgb + y * row;
        for (int64_t i = 0; i < row; i++) {
            int a = i < 3 ? 0 : to[i - 3], b = y ? to[i - row] : 0, c = i < 3 || !y ? 0 : to[i - 3 - row];
            int guess[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
            assert_true(filter < 5);
            to[i] = (uint8_t)(*from++ + guess[filter]);
        }
    }
}

static void fill_random(uint8_t *rgb, int64_t bytes, uint64_t seed) {
    test_random random = {seed};
    for (int64_t i = 0; i < bytes; i++) rgb[i] = (uint8_t)(i % 97 < 50 ? i / 30 : test_random_below(&random, 256));
}

static void test_png_is_read_again(void **state) {
    drape_context *ctx = *state;
    static const int32_t sizes[][2] = {{1, 1}, {640, 360}, {7, 500}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int32_t width = sizes[i][0], height = sizes[i][1];
        int64_t bytes = 3 * (int64_t)width * height;
        uint8_t *rgb = malloc((size_t)bytes), *got = malloc((size_t)bytes), *raw = malloc((size_t)(bytes + height));
        uLongf unpacked = (uLongf)(bytes + height);
        size_t size;
        fill_random(rgb, bytes, 17 + i);
        ASSERT_OK(ctx, drape_png_write(ctx, test_path_in(folder, "a.png"), width, height, rgb));
        uint8_t *data = read_file("a.png", &size);
        assert_memory_equal(data, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
        assert_int_equal(big32(data + 16), width);
        assert_int_equal(big32(data + 20), height);
        size_t packed = gather_chunks(data, size);
        assert_int_equal(uncompress(raw, &unpacked, data, packed), Z_OK);
        assert_int_equal(unpacked, bytes + height);
        unfilter(raw, width, height, got);
        assert_memory_equal(got, rgb, (size_t)bytes);
        free(rgb), free(got), free(raw), free(data);
    }
    assert_int_equal(drape_png_write(ctx, test_path_in(folder, "no/a.png"), 1, 1, (uint8_t[3]){0}), DRAPE_ERROR_IO);
    assert_int_equal(drape_png_write(ctx, test_path_in(folder, "b.png"), 0, 1, (uint8_t[3]){0}),
                     DRAPE_ERROR_ARGUMENT);
    assert_int_equal(test_folder_entries(folder, true), 1);
}

/* ---- A decoder of GIF ---- */

typedef struct gif_reader {
    const uint8_t *at, *end;
    const uint8_t *palette;
    int32_t width, height;
    uint8_t *shown;        /* numbers of colors */
    int32_t frames, delay; /* hundredths of a second, of all together */
    bool repeats;
} gif_reader;

static uint8_t byte_of(gif_reader *g) {
    assert_true(g->at < g->end);
    return *g->at++;
}

static int32_t word_of(gif_reader *g) {
    int32_t low = byte_of(g);
    return low | byte_of(g) << 8;
}

/* Blocks of data joined; to be freed. */
static uint8_t *join_blocks(gif_reader *g, size_t *size) {
    uint8_t *data = malloc((size_t)(g->end - g->at) + 1);
    *size = 0;
    for (uint8_t length = byte_of(g); length; length = byte_of(g))
        for (; length; length--) data[(*size)++] = byte_of(g);
    return data;
}

typedef struct bit_reader {
    const uint8_t *data;
    size_t size, at; /* bits */
} bit_reader;

static int32_t take_bits(bit_reader *b, int32_t count) {
    int32_t value = 0;
    for (int32_t k = 0; k < count; k++, b->at++) {
        assert_true(b->at / 8 < b->size);
        value |= (b->data[b->at / 8] >> b->at % 8 & 1) << k;
    }
    return value;
}

/* Strings by their code: what comes before the last pixel, and that. */
typedef struct string_table {
    int32_t prefix[4096], next, bits;
    uint8_t last[4096];
} string_table;

/* Writes the string of a code backwards before `end`; its length. */
static int32_t spell(const string_table *t, int32_t code, uint8_t *end) {
    int32_t length = 0;
    for (; code >= 258; code = t->prefix[code], length++) *--end = t->last[code];
    assert_true(code < 256);
    *--end = (uint8_t)code;
    return length + 1;
}

static void unpack(bit_reader *bits, uint8_t *out, int64_t pixels) {
    static string_table t;
    uint8_t text[4100];
    int64_t done = 0;
    int32_t before = -1;
    t.bits = 9, t.next = 258;
    for (;;) {
        int32_t code = take_bits(bits, t.bits);
        if (code == 257) break;
        if (code == 256) {
            t.bits = 9, t.next = 258, before = -1;
            continue;
        }
        assert_true(code < t.next || (code == t.next && before >= 0));
        uint8_t *end = text + sizeof text - 1;
        int32_t length;
        if (code < t.next) length = spell(&t, code, end);
        else { /* the string before, and its own first pixel again */ length = spell(&t, before, end - 1) + 1;
            end[-1] = end[-length];
        }
        if (before >= 0 && t.next < 4096) {
            t.prefix[t.next] = before;
            t.last[t.next++] = end[-length];
            if (t.next == 1 << t.bits && t.bits < 12) t.bits++;
        }
        assert_true(done + length <= pixels);
        memcpy(out + done, end - length, (size_t)length);
        done += length;
        before = code;
    }
    assert_int_equal(done, pixels);
    assert_true(bits->size * 8 - bits->at < 8); /* nothing after the end */
}

static void read_frame(gif_reader *g, int32_t transparent) {
    int32_t x0 = word_of(g), y0 = word_of(g), width = word_of(g), height = word_of(g);
    assert_true(x0 + width <= g->width && y0 + height <= g->height && width > 0 && height > 0);
    assert_int_equal(byte_of(g), 0); /* no palette of its own */
    assert_int_equal(byte_of(g), 8);
    size_t size;
    uint8_t *packed = join_blocks(g, &size), *pixel = malloc((size_t)width * (size_t)height);
    unpack(&(bit_reader){.data = packed, .size = size}, pixel, (int64_t)width * height);
    for (int32_t i = 0; i < width * height; i++)
        if (pixel[i] != transparent) g->shown[(y0 + i / width) * g->width + x0 + i % width] = pixel[i];
    free(packed), free(pixel);
    g->frames++;
}

/* Reads on to the next frame, which is in `shown` then; false at the end. */
static bool next_frame(gif_reader *g) {
    int32_t transparent = -1;
    for (;;) {
        uint8_t what = byte_of(g);
        if (what == 0x3b) {
            assert_true(g->at == g->end);
            return false;
        }
        if (what == 0x2c) {
            read_frame(g, transparent);
            return true;
        }
        assert_int_equal(what, 0x21);
        uint8_t kind = byte_of(g);
        size_t size;
        uint8_t *data = join_blocks(g, &size);
        if (kind == 0xf9) {
            g->delay += data[1] | data[2] << 8;
            transparent = data[0] & 1 ? data[3] : -1;
        }
        g->repeats |= kind == 0xff && memcmp(data, "NETSCAPE2.0\1\0\0", 14) == 0;
        free(data);
    }
}

static gif_reader open_gif(const uint8_t *data, size_t size) {
    gif_reader g = {.at = data + 6, .end = data + size};
    assert_memory_equal(data, "GIF89a", 6);
    g.width = word_of(&g), g.height = word_of(&g);
    assert_int_equal(byte_of(&g) & 0x87, 0x87);
    g.palette = g.at + 2;
    g.at += 2 + 768;
    g.shown = malloc((size_t)g.width * (size_t)g.height);
    memset(g.shown, 255, (size_t)g.width * (size_t)g.height); /* must be written over */
    return g;
}

/* A picture of smooth colors in which a patch moves. */
static void paint(int32_t width, int32_t height, int frame, uint8_t *rgb) {
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++, rgb += 3) {
            bool patch = x / 20 == frame % 5 && y / 20 == 1;
            rgb[0] = (uint8_t)(patch ? 200 : 120 + x % 100);
            rgb[1] = (uint8_t)(patch ? 40 : 180);
            rgb[2] = (uint8_t)(patch ? 40 : 150 + y % 50);
        }
}

/* Means over 8 x 8 pixels, in which the pattern of dithering cancels. */
static void assert_looks_alike(const gif_reader *g, const uint8_t *rgb) {
    for (int32_t y = 0; y + 8 <= g->height; y += 8)
        for (int32_t x = 0; x + 8 <= g->width; x += 8)
            for (int k = 0; k < 3; k++) {
                double got = 0, want = 0;
                for (int32_t i = 0; i < 64; i++) {
                    int32_t pixel = (y + i / 8) * g->width + x + i % 8;
                    assert_true(g->shown[pixel] != 255);
                    got += g->palette[3 * g->shown[pixel] + k];
                    want += rgb[3 * pixel + k];
                }
                ASSERT_NEAR(got / 64, want / 64, 8);
            }
}

static void film(drape_context *ctx, int32_t width, int32_t height, double fps, int frames) {
    drape_gif *gif;
    size_t size;
    uint8_t *rgb = malloc(3 * (size_t)width * (size_t)height);
    ASSERT_OK(ctx, drape_gif_open(ctx, test_path_in(folder, "a.gif"), width, height, fps, &gif));
    for (int f = 0; f < frames; f++) {
        paint(width, height, f / 2, rgb); /* every second one is as that before */
        ASSERT_OK(ctx, drape_gif_frame(gif, rgb));
    }
    ASSERT_OK(ctx, drape_gif_finish(gif));
    drape_gif_destroy(gif);
    uint8_t *data = read_file("a.gif", &size);
    gif_reader g = open_gif(data, size);
    for (int f = 0; f < frames; f++) {
        assert_true(next_frame(&g));
        paint(width, height, f / 2, rgb);
        assert_looks_alike(&g, rgb);
    }
    assert_false(next_frame(&g));
    assert_true(g.repeats && g.frames == frames && g.width == width && g.height == height);
    assert_int_equal(g.delay, llround(100 * frames / fps));
    free(rgb), free(data), free(g.shown);
}

static void test_gif_is_read_again(void **state) {
    drape_context *ctx = *state;
    film(ctx, 160, 120, 25, 12);
    film(ctx, 1, 1, 30, 7);
    film(ctx, 333, 41, 50, 3);
    film(ctx, 20, 500, 23.976, 9);
    assert_int_equal(test_folder_entries(folder, true), 1);
}

/* Strings of all lengths and a table that overflows: noise of many colors, and a large area of one. */
static void test_gif_of_noise(void **state) {
    drape_context *ctx = *state;
    enum { WIDTH = 301, HEIGHT = 203 };
    uint8_t *rgb = malloc(3 * WIDTH * HEIGHT);
    for (int32_t rows = 1; rows < HEIGHT; rows += 67) {
        drape_gif *gif;
        size_t size;
        memset(rgb, 80, 3 * WIDTH * HEIGHT);
        fill_random(rgb, (int64_t)3 * WIDTH * rows, (uint64_t)rows);
        ASSERT_OK(ctx, drape_gif_open(ctx, test_path_in(folder, "a.gif"), WIDTH, HEIGHT, 10, &gif));
        ASSERT_OK(ctx, drape_gif_frame(gif, rgb));
        ASSERT_OK(ctx, drape_gif_finish(gif));
        drape_gif_destroy(gif);
        uint8_t *data = read_file("a.gif", &size);
        gif_reader g = open_gif(data, size);
        assert_true(next_frame(&g) && !next_frame(&g));
        free(data), free(g.shown);
    }
    free(rgb);
    test_folder_entries(folder, true);
}

static void test_gif_that_is_not_finished(void **state) {
    drape_context *ctx = *state;
    drape_gif *gif;
    const uint8_t pixel[3] = {1, 2, 3};
    ASSERT_OK(ctx, drape_gif_open(ctx, test_path_in(folder, "a.gif"), 1, 1, 25, &gif));
    assert_int_equal(drape_gif_finish(gif), DRAPE_ERROR_ARGUMENT);
    ASSERT_OK(ctx, drape_gif_sample(gif, pixel));
    ASSERT_OK(ctx, drape_gif_frame(gif, pixel));
    assert_int_equal(drape_gif_sample(gif, pixel), DRAPE_ERROR_ARGUMENT);
    drape_gif_destroy(gif);
    assert_int_equal(drape_gif_open(ctx, test_path_in(folder, "a.gif"), 1, 1, 60, &gif), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_gif_open(ctx, test_path_in(folder, "a.gif"), 0, 1, 25, &gif), DRAPE_ERROR_ARGUMENT);
    assert_int_equal(drape_gif_open(ctx, test_path_in(folder, "no/a.gif"), 1, 1, 25, &gif), DRAPE_ERROR_IO);
    drape_gif_destroy(NULL);
    assert_int_equal(test_folder_entries(folder, true), 0);
}

/* ---- Memory that runs out ---- */

static drape_status draw_and_write(drape_context *ctx, const soup *sheet, drape_renderer **r, drape_gif **gif) {
    drape_render_cloth cloth = cloth_of(sheet);
    drape_render_settings s = {.width = 16, .height = 9, .samples = 1};
    drape_frame frame = {.positions = sheet->x};
    uint8_t rgb[3 * 16 * 9];
    *gif = NULL;
    drape_status status = drape_renderer_create(ctx, &cloth, &s, r);
    for (int i = 0; i < 20 && !status; i++) status = drape_renderer_include(*r, &frame);
    if (!status) status = drape_renderer_draw(*r, &frame, rgb);
    if (!status) status = drape_png_write(ctx, test_path_in(folder, "a.png"), s.width, s.height, rgb);
    if (!status) status = drape_gif_open(ctx, test_path_in(folder, "a.gif"), s.width, s.height, 25, gif);
    if (!status) status = drape_gif_frame(*gif, rgb);
    return status;
}

static void test_every_request_may_fail(void **state) {
    (void)state;
    soup sheet = make_sheet(3);
    int64_t n = 0;
    for (bool failed = true; failed; n++) {
        counting_allocator memory = {.left = n};
        drape_context *ctx = counting_context(&memory);
        drape_renderer *r = NULL;
        drape_gif *gif;
        drape_status status = draw_and_write(ctx, &sheet, &r, &gif);
        failed = memory.failed;
        assert_int_equal(status, failed ? DRAPE_ERROR_MEMORY : DRAPE_OK);
        if (failed) assert_non_null(strstr(drape_message(ctx), "memory"));
        drape_renderer_destroy(r);
        drape_gif_destroy(gif);
        assert_int_equal(drape_context_bytes(ctx), 0);
        drape_context_destroy(ctx);
        assert_int_equal(memory.live, 0);
        assert_in_range(test_folder_entries(folder, true), 0, 1); /* the .png, where it was done */
    }
    print_message("%lld requests\n", (long long)n);
    assert_in_range(n, 15, 500);
    soup_free(&sheet);
}

static int set_up(void **state) { return mkdtemp(folder) ? test_set_up(state) : -1; }

static int tear_down(void **state) {
    test_folder_entries(folder, true);
    return remove(folder) || test_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_change_no_byte),
        cmocka_unit_test(test_silhouette_of_a_sphere),
        cmocka_unit_test(test_what_is_in_front_hides),
        cmocka_unit_test(test_sides_have_colors),
        cmocka_unit_test(test_meshes_have_colors),
        cmocka_unit_test(test_no_sample_falls_between_triangles),
        cmocka_unit_test(test_shadow_is_dark),
        cmocka_unit_test(test_floor_hides_what_is_below),
        cmocka_unit_test(test_camera_looks_at_the_cloth),
        cmocka_unit_test(test_camera_sees_everything),
        cmocka_unit_test(test_camera_does_not_follow_explosions),
        cmocka_unit_test(test_odd_sizes),
        cmocka_unit_test(test_background_is_exact),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_png_is_read_again),
        cmocka_unit_test(test_gif_is_read_again),
        cmocka_unit_test(test_gif_of_noise),
        cmocka_unit_test(test_gif_that_is_not_finished),
        cmocka_unit_test(test_every_request_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
