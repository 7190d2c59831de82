/* Alembic archives of frames as programs give them: attributes, meshes beside the cloth, uneven times, frames that
 * repeat, names. They are read by tests/support/abc_read.py, which shares no code with the writer and computes every
 * hash again. */
#include "support/folder.h"
#include "support/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUBE_VERTICES = 8, CUBE_TRIANGLES = 4, CLOTH_MOST = 400 };

static const int32_t cube_triangle[3 * CUBE_TRIANGLES] = {0, 1, 3, 0, 3, 2, 4, 7, 5, 4, 6, 7};

/* Runs a script in the folder of the test; `a` is the archive a.abc. */
static void assert_python(const test_frames *t, const char *script) {
    char command[512];
    FILE *file = fopen(test_frames_path(t, "check.py"), "w");
    assert_non_null(file);
    fprintf(file, "import abc_check, abc_read\na = abc_read.Archive('a.abc')\n%s", script);
    fclose(file);
    snprintf(command, sizeof command, "cd '%s' && PYTHONPATH='%s/tests/support' python3 -B check.py", t->folder,
             DRAPE_SOURCE_DIR);
    if (system(command) != 0) fail_msg("the script failed:\n%s", script);
}

static drape_animation animation(test_frames *t, int32_t from, int32_t count) {
    drape_animation what = test_frames_animation(t, from, count);
    what.fps = 25;
    return what;
}

/* Writes the same frame into a.abc and a.obj. */
typedef struct twins {
    drape_writer *abc, *obj;
} twins;

static twins open_twins(test_frames *t, const drape_animation *what) {
    twins w;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.abc"), what, &w.abc));
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.obj"), what, &w.obj));
    return w;
}

static void write_twins(test_frames *t, twins w, const drape_frame *frame) {
    ASSERT_OK(t->ctx, drape_writer_frame(w.abc, frame));
    ASSERT_OK(t->ctx, drape_writer_frame(w.obj, frame));
}

static void close_twins(test_frames *t, twins w) {
    ASSERT_OK(t->ctx, drape_writer_close(w.abc));
    ASSERT_OK(t->ctx, drape_writer_close(w.obj));
}

static void pieces_with_and_without_seams(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 0, 3);
    twins w = open_twins(t, &what);
    for (int32_t i = 0; i < 5; i++) {
        test_frames_fill(t, i);
        write_twins(t, w, &(drape_frame){.positions = t->x});
    }
    close_twins(t, w);
    assert_python(t, "assert abc_check.check('a.abc', 'a')[1] == 5\n"
                     "assert sum(m.property('.geom').has('uv') for m in a.meshes()) == 2\n");
}

static void one_frame(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 0, 3);
    twins w = open_twins(t, &what);
    test_frames_fill(t, 0);
    write_twins(t, w, &(drape_frame){.positions = t->x});
    close_twins(t, w);
    assert_python(t, "assert abc_check.check('a.abc', 'a')[1] == 1\n"
                     "assert a.times[1] == (1, 0.04, [0.0])\n");
}

/* heat is x, velocity 2 x, strain the number of the triangle. */
static void attributes(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 0, 3);
    int64_t vertices = t->numbers / 3, triangles = drape_cloth_triangles(t->cloth);
    double heat[CLOTH_MOST], velocity[3 * CLOTH_MOST], strain[2 * CLOTH_MOST];
    assert_true(vertices <= CLOTH_MOST && triangles <= CLOTH_MOST);
    const drape_frame_attribute attribute[] = {{"heat", DRAPE_PER_VERTEX, 1, heat},
                                               {"velocity", DRAPE_PER_VERTEX, 3, velocity},
                                               {"strain", DRAPE_PER_TRIANGLE, 2, strain}};
    twins w = open_twins(t, &what);
    for (int32_t f = 0; f < 3; f++) {
        test_frames_fill(t, f);
        for (int64_t i = 0; i < vertices; i++) heat[i] = t->x[3 * i];
        for (int64_t i = 0; i < 3 * vertices; i++) velocity[i] = 2 * t->x[i];
        for (int64_t i = 0; i < 2 * triangles; i++) strain[i] = (double)(i / 2) * (i % 2 ? -1 : 1);
        write_twins(t, w, &(drape_frame){.positions = t->x, .attributes = attribute, .attribute_count = 3});
    }
    close_twins(t, w);
    assert_python(t, "abc_check.check('a.abc', 'a')\n"
                     "first = 0\n"
                     "for m in a.meshes():\n"
                     "    g, more = m.property('.geom'), m.property('.geom/.arbGeomParams')\n"
                     "    assert [p.name for p in more.children] == ['heat', 'strain']\n"
                     "    assert more.find('heat').metadata['geoScope'] == 'vtx'\n"
                     "    assert more.find('strain').metadata['geoScope'] == 'uni'\n"
                     "    for f in range(3):\n"
                     "        p = g.find('P').sample(f)\n"
                     "        assert more.find('heat').sample(f) == [x for x, _, _ in p]\n"
                     "        assert g.find('.velocities').sample(f) == [tuple(2 * c for c in x) for x in p]\n"
                     "        n = len(g.find('.faceCounts').sample(f))\n"
                     "        assert more.find('strain').sample(f) == [(k, -k) for k in range(first, first + n)]\n"
                     "    first += n\n");
}

/* ---- meshes beside the cloth ---- */

static void fill_cube(double *x, double angle, double shift, double bulge) {
    for (int i = 0; i < CUBE_VERTICES; i++) {
        double p[3] = {i & 1, i >> 1 & 1, (i >> 2) + (i == 7 ? bulge : 0)};
        x[3 * i] = cos(angle) * p[0] - sin(angle) * p[2] + shift;
        x[3 * i + 1] = p[1] - 2 * shift;
        x[3 * i + 2] = sin(angle) * p[0] + cos(angle) * p[2];
    }
}

/* It rests, moves as a whole, and changes its form from frame 4 on. */
static void meshes_that_move_and_change(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 2, 1);
    double still[3 * CUBE_VERTICES], turned[3 * CUBE_VERTICES], soft[3 * CUBE_VERTICES];
    const drape_frame_mesh mesh[] = {{"still", CUBE_VERTICES, CUBE_TRIANGLES, still, cube_triangle},
                                     {"turned", CUBE_VERTICES, CUBE_TRIANGLES, turned, cube_triangle},
                                     {"soft", CUBE_VERTICES, CUBE_TRIANGLES, soft, cube_triangle},
                                     {"empty", 0, 0, NULL, NULL}};
    twins w = open_twins(t, &what);
    for (int32_t f = 0; f < 7; f++) {
        test_frames_fill(t, f);
        fill_cube(still, 0.3, 5, 0);
        fill_cube(turned, 0.4 * f, 0.1 * f, 0);
        fill_cube(soft, 0.2 * f, 0.3 * f, f < 4 ? 0 : 0.1 * f);
        write_twins(t, w, &(drape_frame){.positions = t->x, .meshes = mesh, .mesh_count = 4});
    }
    close_twins(t, w);
    assert_python(t, "abc_check.check('a.abc', 'a')\n"
                     "P = lambda name: a.find('/%s/%sShape' % (name, name)).property('.geom/P')\n"
                     "vals = lambda name: a.find('/' + name).property('.xform/.vals')\n"
                     "assert P('still').constant and not a.find('/still').property('.xform').has('.vals')\n"
                     "assert P('turned').constant and (vals('turned').first, vals('turned').last) == (1, 6)\n"
                     "assert (P('soft').first, P('soft').last) == (4, 6)\n"
                     "assert (vals('soft').first, vals('soft').last) == (1, 3)\n"
                     "assert P('empty').sample(6) == [] and P('empty').constant\n");
}

static void names_are_identifiers_that_differ(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 2, 1);
    static const char *const name[] = {"a/b", "a b", "", "1", "\xc3\xa4;=", "\xff\n", NULL, "_1", "ABC"};
    enum { NAMES = sizeof name / sizeof *name };
    double x[3 * CUBE_VERTICES];
    drape_frame_mesh mesh[NAMES];
    drape_writer *writer;
    what.title = "a;b=c \xff\n\xc3\xa4";
    fill_cube(x, 0, 0, 0);
    test_frames_fill(t, 0);
    for (int i = 0; i < NAMES; i++)
        mesh[i] = (drape_frame_mesh){name[i], CUBE_VERTICES, CUBE_TRIANGLES, x, cube_triangle};
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.abc"), &what, &writer));
    ASSERT_OK(t->ctx,
              drape_writer_frame(writer, &(drape_frame){.positions = t->x, .meshes = mesh, .mesh_count = NAMES}));
    ASSERT_OK(t->ctx, drape_writer_close(writer));
    assert_python(t, "names = [o.name for o in a.top.children]\n"
                     "assert len(names) == 10 and len(set(names)) == 10, names\n"
                     "assert all(name.isidentifier() and name.isascii() for name in names), names\n"
                     "assert a.metadata['_ai_Description'] == 'a b c \\ufffd \\u00e4', a.metadata\n");
}

/* ---- times, and frames that repeat ---- */

static void write_at(test_frames *t, const drape_animation *what, int count, const int64_t *number,
                     const double *time) {
    drape_writer *writer;
    ASSERT_OK(t->ctx, drape_writer_open(t->ctx, test_frames_path(t, "a.abc"), what, &writer));
    for (int i = 0; i < count; i++) {
        test_frames_fill(t, i);
        ASSERT_OK(
            t->ctx,
            drape_writer_frame(
                writer, &(drape_frame){.positions = t->x, .has_time = true, .number = number[i], .time = time[i]}));
    }
    ASSERT_OK(t->ctx, drape_writer_close(writer));
}

static void times_even_and_uneven(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 2, 1);
    write_at(t, &what, 3, (int64_t[]){7, 9, 1234}, (double[]){0.25, 0.5, 3});
    assert_python(t, "assert a.times[1] == (3, abc_read.ACYCLIC, [0.25, 0.5, 3.0])\n");
    write_at(t, &what, 4, (int64_t[]){5, 7, 9, 11}, (double[]){0.2, 0.28, 0.36000000001, 0.44});
    assert_python(t, "assert a.times[1] == (4, 0.08, [0.2])\n"); /* by the numbers, 2/25 s */
    write_at(t, &what, 3, (int64_t[]){0, 1, 2}, (double[]){0, 0.5, 1});
    assert_python(t, "assert a.times[1] == (3, 0.5, [0.0])\n");
}

/* Of 300, so that numbers of headers take two bytes. */
static void frames_that_repeat_take_no_room(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 2, 1);
    drape_writer *writer;
    int64_t size, more;
    for (int32_t frames = 1; frames <= 300; frames += 299) {
        ASSERT_OK(t->ctx,
                  drape_writer_open(t->ctx, test_frames_path(t, frames == 1 ? "b.abc" : "a.abc"), &what, &writer));
        test_frames_fill(t, 0);
        for (int32_t i = 0; i < frames; i++)
            ASSERT_OK(t->ctx, drape_writer_frame(writer, &(drape_frame){.positions = t->x}));
        ASSERT_OK(t->ctx, drape_writer_close(writer));
    }
    free(test_frames_read(t, "a.abc", &more));
    free(test_frames_read(t, "b.abc", &size));
    assert_true(more < size + 100);
    assert_python(t, "p = a.meshes()[0].property('.geom/P')\n"
                     "assert p.constant and p.count == 300 and len(p.places) == 1\n");
}

static void changes_in_the_middle(void **state) {
    test_frames *t = *state;
    drape_animation what = animation(t, 0, 3);
    static const int32_t shown[] = {4, 4, 5, 5, 6, 4, 4, 4};
    twins w = open_twins(t, &what);
    for (int i = 0; i < 8; i++) {
        test_frames_fill(t, shown[i]);
        write_twins(t, w, &(drape_frame){.positions = t->x});
    }
    close_twins(t, w);
    assert_python(t, "abc_check.check('a.abc', 'a')\n"
                     "p = a.meshes()[0].property('.geom/P')\n"
                     "assert (p.count, p.first, p.last, len(p.places)) == (8, 2, 5, 5)\n"
                     "assert p.places[1] == p.places[2]\n");
}

#define WITH_FRAMES(test) cmocka_unit_test_setup_teardown(test, test_frames_begin, test_frames_end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FRAMES(pieces_with_and_without_seams),
        WITH_FRAMES(one_frame),
        WITH_FRAMES(attributes),
        WITH_FRAMES(meshes_that_move_and_change),
        WITH_FRAMES(names_are_identifiers_that_differ),
        WITH_FRAMES(times_even_and_uneven),
        WITH_FRAMES(frames_that_repeat_take_no_room),
        WITH_FRAMES(changes_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
