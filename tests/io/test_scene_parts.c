/* Windows of a scene: what is read has the same numbers, bit by bit, as it has in the whole scene. */
#include "support/folder.h"
#include "support/testing.h"

#include "io/scene_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/drape-parts-XXXXXX";

/* Pieces of every shape; the last one needs all of its vertices. */
static const char scene_text[] =
    "drape: 1\n"
    "cloth:\n"
    "  - grid: {width: 1 m, height: 0.7 m, resolution: [23, 17], diagonals: alternating}\n"
    "    place: {rotate: [20, 10, 0], scale: 1.2}\n"
    "    velocity: [1, 0, 0]\n"
    "    pins: [{where: [left-edge, center]}, {box: [[-2, -2, -2], [2, -0.1, 2]]}]\n"
    "    loads: [{where: all-edges, force: [0, 0, -1 N]}]\n"
    "  - name: l\n"
    "    grid: {resolution: 21, cut: [0.4, 0.6]}\n"
    "    mass: 2 g\n"
    "    pins: [{vertices: [0, 7, 280, 340], at: [[0.2, 1]]}, {where: cut-edges}]\n"
    "  - name: low\n"
    "    grid: {resolution: 9, cut: [0.05, 0.5]}\n"
    "    pins: [{vertices: [0, 44]}]\n"
    "  - name: narrow\n"
    "    grid: {resolution: 9, cut: [0.5, 0.05]}\n"
    "    pins: [{vertices: [0, 44]}]\n"
    "  - name: tube\n"
    "    grid: {resolution: 13, tube: true}\n"
    "    pins: [{vertices: [3, 40, 155]}, {where: top-edge}]\n"
    "  - name: curve\n"
    "    grid: {resolution: 11, curve: [[0, 0, 0], [0.2, 0, 0.1], [0.4, 0, -0.1]]}\n"
    "    pins: [{where: right-edge, move: {keys: [{time: 0 s, turn: [0, 0, 1]}], center: [0, 0, 0]}}]\n"
    "  - name: irregular\n"
    "    grid: {resolution: 9, irregular: true}\n"
    "    pins: [{where: left-edge}]\n"
    "  - name: irregular tube\n"
    "    grid: {resolution: 12, irregular: true, tube: true, seed: 3}\n"
    "  - name: irregular l\n"
    "    grid: {resolution: 10, irregular: true, cut: [0.4, 0.6], curve: [[0, 0, 0], [0.2, 0, 0.1], [0.4, 0, "
    "-0.1]]}\n"
    "  - name: nearest\n"
    "    grid: {resolution: 9}\n"
    "    pins: [{nearest: [[0.1, 0.1, 0]]}]\n";

enum { PIECES = 10, DIVIDED = 9 };

static drape_loaded_scene *load(drape_context *ctx, const drape_i_window *window, int32_t count) {
    const drape_scene_options options = {.jitter = 1e-3, .seed = 7};
    drape_i_irregular_plan plan[PIECES] = {{0}};
    const drape_i_windows windows = {
        .window = window, .count = count, .plan = plan, .irregular = drape_i_irregular_window};
    drape_loaded_scene *out;
    const char *path = test_path_in(folder, "scene.yaml");
    if (window) ASSERT_OK(ctx, drape_i_scene_load_part(ctx, path, &options, &windows, &out));
    else ASSERT_OK(ctx, drape_scene_load(ctx, path, &options, &out));
    return out;
}

static int set_up(void **state) {
    *state = test_context(1);
    if (!mkdtemp(folder)) return -1;
    FILE *to = fopen(test_path_in(folder, "scene.yaml"), "w");
    return !to || fputs(scene_text, to) < 0 || fclose(to) != 0;
}

static int tear_down(void **state) {
    drape_context_destroy(*state);
    test_folder_entries(folder, true);
    return rmdir(folder);
}

static void same(const double *a, const double *b, int32_t count) {
    assert_true(!a == !b);
    if (a) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

/* Of a piece, whose vertices begin with `before` in the part. Its triangles are those of the whole scene that lie
 * between vertices that were read. */
static void check_piece(const drape_loaded_scene *part, const drape_loaded_scene *whole, int32_t p, int32_t before) {
    const drape_piece *a = &part->scene.pieces[p], *b = &whole->scene.pieces[p];
    const int32_t first = part->parts.piece[p].first, *number = part->parts.number + before;
    static int32_t here[1000];
    memset(here, -1, sizeof here);
    for (int32_t v = 0; v < a->vertices; v++) {
        const int32_t n = number[v] - first;
        assert_true(n >= 0 && n < b->vertices);
        if (v > 0) assert_true(number[v] > number[v - 1]);
        here[n] = v;
        same(a->rest + 3 * v, b->rest + 3 * n, 3);
        same(part->scene.velocity + 3 * (before + v), whole->scene.velocity + 3 * (first + n), 3);
        same(part->scene.forces.vertex + 3 * (before + v), whole->scene.forces.vertex + 3 * (first + n), 3);
        same(a->mass ? a->mass + v : NULL, b->mass ? b->mass + n : NULL, 1);
        if (!a->uv_triangle) same(a->uv + 2 * v, b->uv + 2 * n, 2);
    }
    int32_t t = 0;
    for (int32_t s = 0; s < b->triangles; s++) {
        const int32_t *corner = b->triangle + 3 * s;
        if (here[corner[0]] < 0 || here[corner[1]] < 0 || here[corner[2]] < 0) continue;
        for (int32_t k = 0; t < a->triangles && k < 3; k++) {
            assert_int_equal(a->triangle[3 * t + k], here[corner[k]]);
            if (a->uv_triangle) same(a->uv + 2 * a->uv_triangle[3 * t + k], b->uv + 2 * b->uv_triangle[3 * s + k], 2);
        }
        t++;
    }
    assert_int_equal(t, a->triangles);
}

static void check_pins(const drape_loaded_scene *part, const drape_loaded_scene *whole) {
    static uint8_t here[4000];
    int32_t vertices = 0;
    memset(here, 0, sizeof here);
    for (int32_t p = 0; p < PIECES; p++) vertices += part->scene.pieces[p].vertices;
    for (int32_t v = 0; v < vertices; v++) here[part->parts.number[v]] = 1;
    assert_int_equal(part->scene.pin_count, whole->scene.pin_count);
    for (int32_t p = 0; p < whole->scene.pin_count; p++) {
        const drape_pin *a = &part->scene.pins[p], *b = &whole->scene.pins[p];
        int32_t at = 0;
        for (int32_t i = 0; i < b->count; i++) {
            if (!here[b->vertices[i]]) continue;
            assert_true(at < a->count);
            assert_int_equal(part->parts.number[a->vertices[at++]], b->vertices[i]);
        }
        assert_int_equal(at, a->count);
    }
}

static void check_windows(drape_context *ctx, const drape_i_window *window, int32_t count) {
    drape_loaded_scene *whole = load(ctx, NULL, 0), *part = load(ctx, window, count);
    int32_t before = 0, all = 0;
    for (int32_t p = 0; p < PIECES; p++) {
        assert_int_equal(part->parts.piece[p].first, all);
        assert_int_equal(part->parts.piece[p].vertices, whole->scene.pieces[p].vertices);
        assert_true(!part->parts.piece[p].grid == (p >= DIVIDED));
        check_piece(part, whole, p, before);
        before += part->scene.pieces[p].vertices;
        all += whole->scene.pieces[p].vertices;
    }
    assert_int_equal(part->parts.vertices, all);
    check_pins(part, whole);
    drape_loaded_scene_destroy(part);
    drape_loaded_scene_destroy(whole);
}

static void windows_are_parts_of_the_whole(void **state) {
    const drape_i_window corner = {{0, 0}, {5, 4}}, inside = {{3, 2}, {8, 9}}, beyond = {{4, 5}, {100, 100}};
    const drape_i_window all[PIECES] = {corner, inside, beyond, inside, corner,
                                        beyond, inside, inside, beyond, inside};
    const drape_i_window more[PIECES] = {inside, beyond, inside, beyond, inside,
                                         corner, corner, corner, corner, corner};
    const drape_i_window wide[PIECES] = {
        beyond, {{0, 6}, {21, 16}}, corner, corner, beyond, inside, beyond, inside, beyond, inside};
    check_windows(*state, all, PIECES);
    check_windows(*state, more, PIECES);
    check_windows(*state, wide, PIECES);
}

static void without_windows_there_are_sizes_only(void **state) {
    const drape_i_window none = {{0, 0}, {0, 0}};
    check_windows(*state, &none, 0);
}

static void numbers_of_grids_have_places(void **state) {
    const drape_i_window none = {{0, 0}, {0, 0}};
    drape_loaded_scene *part = load(*state, &none, 0);
    for (int32_t p = 0; p < DIVIDED; p++) {
        const drape_i_whole_piece *piece = &part->parts.piece[p];
        for (int32_t v = 0; v < piece->vertices; v++) {
            int32_t i, j;
            drape_i_grid_find(piece->grid, piece->tube, v, &i, &j);
            assert_true(drape_i_grid_has(piece->grid, i, j));
            assert_int_equal(drape_i_grid_number(piece->grid, piece->tube, i, j), v);
        }
    }
    drape_loaded_scene_destroy(part);
}

static void picks_are_counted(void **state) {
    const drape_i_window none = {{0, 0}, {0, 0}};
    drape_loaded_scene *part = load(*state, &none, 0);
    int32_t picks = 0, empty = 0;
    for (const drape_i_pick *p = part->parts.last_pick; p; p = p->before) {
        picks++;
        empty += p->count == 0;
    }
    assert_int_equal(picks, 12);
    assert_int_equal(part->parts.picks, picks);
    assert_int_equal(empty, 11); /* all but that of the last piece */
    drape_loaded_scene_destroy(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_parts_of_the_whole), cmocka_unit_test(without_windows_there_are_sizes_only),
        cmocka_unit_test(numbers_of_grids_have_places), cmocka_unit_test(picks_are_counted)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
