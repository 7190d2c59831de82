/* The doctor about colliders: each mistake is found with its numbers, at its line, and what is right is not. */
#include "drape/io.h"
#include "support/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_KEPT = 16 };

typedef struct findings {
    int32_t count;
    struct {
        char code[40], message[300];
        drape_severity severity;
        int32_t line, vertex;
    } each[MOST_KEPT];
} findings;

static char folder[] = "/tmp/drape-doctor-XXXXXX";

static void keep(void *user, const drape_finding *f) {
    findings *all = user;
    if (all->count == MOST_KEPT) return;
    snprintf(all->each[all->count].code, sizeof all->each[0].code, "%s", f->code);
    snprintf(all->each[all->count].message, sizeof all->each[0].message, "%s", f->message);
    all->each[all->count].severity = f->severity;
    all->each[all->count].line = f->line;
    all->each[all->count++].vertex = f->vertex_count > 0 ? f->vertex[0] : -1;
}

static void write_file(const char *name, const char *text) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A sheet of 1 m x 1 m, 5 x 5 vertices, flat at z = 1 m; `rest` begins in line 4. */
static findings check(drape_context *ctx, const char *piece, const char *rest) {
    char text[1500], path[100];
    findings found = {0};
    const drape_check_options how = {.finding = keep, .user = &found};
    snprintf(text, sizeof text,
             "drape: 1\ncloth: [{name: sheet, grid: {resolution: 5}, place: {translate: [0, 0, 1]}%s}]\n"
             "time: {step: 2 ms, fps: 25, duration: 1 s}\n%s",
             piece, rest);
    write_file("scene.yaml", text);
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    ASSERT_OK(ctx, drape_check(ctx, path, &how, NULL));
    return found;
}

static void assert_found(const findings *f, const char *code, drape_severity severity, const char *words) {
    if (f->count == 0) fail_msg("nothing found, not \"%s\"", words);
    if (strcmp(f->each[0].code, code) != 0 || !strstr(f->each[0].message, words))
        fail_msg("%s: %s; not %s: \"%s\"", f->each[0].code, f->each[0].message, code, words);
    assert_int_equal(f->each[0].severity, severity);
}

static void what_is_right_is_left_alone(void **state) {
    drape_context *ctx = *state;
    static const char *const good[] = {
        "{shape: plane, place: {translate: [0, 0, 0.99]}}",
        "{shape: sphere, radius: 0.9}",
        "{shape: capsule, radius: 0.2, length: 1.5}",
        "{shape: box, size: [3, 3, 1.9]}",
        "{shape: box_with_hole, size: [3, 3, 3], hole: [1.1, 1.1]}", /* the sheet hangs in the hole */
        "{shape: cylinder, radius: 2, length: 1}",
        "{mesh: flat.obj}", /* open: nothing is inside */
    };
    write_file("flat.obj", "v -9 -9 2\nv 9 -9 2\nv 9 9 2\nv -9 9 2\nf 1 2 3\nf 1 3 4\n");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char rest[300];
        snprintf(rest, sizeof rest, "colliders:\n  - %s\n", good[i]);
        findings f = check(ctx, "", rest);
        if (f.count) fail_msg("%s: %s", good[i], f.each[0].message);
    }
}

/* Motions that come near what is not allowed: fast ones, and pins that pass by a collider. */
static void motions_that_steps_can_follow_are_left_alone(void **state) {
    drape_context *ctx = *state;
    static const struct {
        const char *piece, *rest;
    } good[] = {
        /* 1 cm in a step */
        {"", "{shape: sphere, radius: 1 mm, move: {keys: [{time: 0}, {time: 1 s, offset: [5, 0, 0]}]}}"},
        /* Its own size in a step */
        {"", "{shape: sphere, radius: 20 cm, move: {keys: [{time: 0}, {time: 0.5 s, offset: [100, 0, 0]}]}}"},
        {"", "{shape: box, size: [1, 1, 0.1], move: {keys: [{time: 0}, {time: 1 s, turn: [0, 0, 44999]}]}}"},
        /* After the end of the scene */
        {"", "{shape: sphere, radius: 1 mm, move: {keys: [{time: 2 s}, {time: 2.001 s, offset: [5, 0, 0]}]}}"},
        {"", "{shape: plane, move: {keys: [{time: 0}, {time: 1 ms, offset: [0, 0, -900]}]}}"},
        {", pins: [{where: center, move: {linear: {velocity: [0, 0, -0.69]}}}]", "{shape: sphere, radius: 0.3}"},
        {", pins: [{where: center, move: {linear: {velocity: [0, 0, -0.99]}}}]", "{shape: plane}"},
        {", pins: [{where: left-edge, move: {linear: {velocity: [0, 0, -2]}}}]", /* past it */
         "{shape: box, size: [0.9, 3, 0.1]}"},
        /* Around a box, 40 degrees in a step: the circle clears its corners by 14 mm, the chords of the steps do not
         */
        {", pins: [{where: top-right, move: {turn: {axis: [0, 0, 1], center: [1, 1, 0], rate: 55 Hz}}}]",
         "{shape: box, size: [0.98, 0.98, 1], place: {translate: [1, 1, 1]}}"},
        {", pins: [{where: center, move: {linear: {velocity: [0, 0, 1]}}}]", /* both move alike */
         "{shape: sphere, radius: 0.9, move: {keys: [{time: 0}, {time: 1 s, offset: [0, 0, 1]}]}}"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char rest[300];
        snprintf(rest, sizeof rest, "colliders:\n  - %s\n", good[i].rest);
        findings f = check(ctx, good[i].piece, rest);
        if (f.count) fail_msg("%s: %s", good[i].rest, f.each[0].message);
    }
}

static void cloth_that_starts_inside_is_found(void **state) {
    drape_context *ctx = *state;
    static const char *const bad[] = {
        "{name: thing, shape: plane, place: {rotate: [0, 10, 0], translate: [0, 0, 1.01]}}",
        "{name: thing, shape: sphere, radius: 1.01}",
        "{name: thing, shape: capsule, radius: 0.3, length: 1.5}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char rest[300];
        snprintf(rest, sizeof rest, "colliders:\n  - %s\n", bad[i]);
        findings f = check(ctx, "", rest);
        assert_found(&f, "starts-inside", DRAPE_SEVERITY_ERROR, "of 'sheet' starts inside the collider 'thing'");
        assert_int_equal(f.each[0].line, 5);
        if (i == 1) assert_int_equal(f.each[0].vertex, 12); /* the middle one alone */
        if (i == 1) assert_int_equal(f.count, 1);
    }
    static const char *const around[] = {
        "{name: thing, shape: box, size: [3, 3, 3]}",
        "{name: thing, shape: cylinder, radius: 2, length: 3}",
        "{name: thing, shape: box_with_hole, size: [9, 9, 9], hole: [1, 1], place: {translate: [3, 0, 0]}}",
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        char rest[300];
        snprintf(rest, sizeof rest, "colliders:\n  - %s\n", around[i]);
        findings f = check(ctx, "", rest);
        assert_found(&f, "starts-inside", DRAPE_SEVERITY_ERROR, "everything connected with vertex 0 of 'sheet'");
        assert_int_equal(f.count, 1);
    }
}

static void cloth_that_starts_across_is_found(void **state) {
    drape_context *ctx = *state;
    findings f = check(ctx, "", "colliders:\n  - {name: box, shape: box, size: [0.1, 0.1, 4]}\n");
    assert_found(&f, "starts-crossing", DRAPE_SEVERITY_ERROR, "of the collider 'box'");
    f = check(ctx, "", "colliders:\n  - {name: box, shape: box, size: [0.7, 0.7, 4]}\n");
    assert_found(&f, "starts-crossing", DRAPE_SEVERITY_ERROR, "through triangle");
    f = check(ctx, "", /* pokes through a face between the vertices */
              "colliders:\n  - {name: pin, shape: sphere, radius: 0.05, place: {translate: [0.08, 0.14, 0.99]}}\n");
    assert_found(&f, "starts-crossing", DRAPE_SEVERITY_ERROR, "of the collider 'pin'");
    f = check(ctx, "",
              "colliders:\n  - {name: box, shape: box, size: [0.1, 0.1, 4]}\ncontact: {allow_crossings: true}\n");
    assert_found(&f, "starts-crossing", DRAPE_SEVERITY_WARNING, "of the collider 'box'");
}

static void other_mistakes_are_found(void **state) {
    drape_context *ctx = *state;
    findings f = check(ctx, ", thickness: 30 cm", "colliders: [{shape: plane}]\n");
    assert_found(&f, "too-thick", DRAPE_SEVERITY_ERROR,
                 "'sheet' is 0.3 m thick, but its shortest edge is 0.25 m long");
    f = check(ctx, ", thickness: 30 cm", "");
    assert_int_equal(f.count, 0); /* nothing to touch */
    f = check(
        ctx, "",
        "colliders:\n  - {name: ball, shape: sphere, radius: 10 cm, move: {keys: [{time: 0}, {time: 0.1 s, offset: "
        "[25, 0, 0]}]}}\n");
    assert_found(&f, "fast-collider", DRAPE_SEVERITY_ERROR,
                 "'ball' moves 0.5 m in the step at t = 0 s (250 m/s); a step of 0.002 s can resolve 0.3536 m");
    f = check(ctx, ", pins: [{where: center, move: {linear: {velocity: [0, 0, -1]}}}]",
              "colliders:\n  - {name: ball, shape: sphere, radius: 0.3}\n");
    assert_found(&f, "pin-in-collider", DRAPE_SEVERITY_ERROR,
                 "pin 0 moves vertex 12 of 'sheet' into the collider 'ball' at t = 0.7 s");
    assert_int_equal(f.each[0].line, 5);
    assert_int_equal(f.each[0].vertex, 12);
    f = check(ctx, ", pins: [{where: center, move: {linear: {velocity: [0, 0, -1]}}, until: 0.6 s}]",
              "colliders:\n  - {name: ball, shape: sphere, radius: 0.3}\n");
    assert_int_equal(f.count, 0);
    write_file("cross.obj", "v 0 0 -5\nv 1 0 -5\nv 0 1 -5\nv .2 .2 -6\nv .2 .3 -6\nv .2 .2 -4\nf 1 2 3\nf 4 5 6\n");
    f = check(ctx, "", "colliders:\n  - {name: body, mesh: cross.obj}\n");
    assert_found(&f, "self-crossing-collider", DRAPE_SEVERITY_WARNING, "'body' passes through itself: triangles");
}

static int set_up(void **state) {
    if (!mkdtemp(folder)) return -1;
    *state = test_context(1);
    return 0;
}

static int tear_down(void **state) {
    static const char *const files[] = {"scene.yaml", "flat.obj", "cross.obj"};
    char path[100];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    rmdir(folder);
    drape_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_is_left_alone),
        cmocka_unit_test(motions_that_steps_can_follow_are_left_alone),
        cmocka_unit_test(cloth_that_starts_inside_is_found),
        cmocka_unit_test(cloth_that_starts_across_is_found),
        cmocka_unit_test(other_mistakes_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
