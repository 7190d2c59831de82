/* scene_buttons.c: `buttons:`, places of two panels that are held together. */
#include "io/scene_garment_parts.h"

#include <math.h>

static const double OPEN = 1e-6; /* m: as in sim/stitches.c */

/* join: [{panel: front, at: [0, 10 cm]}, {panel: back, at: [0, 10 cm]}] */
static bool read_button(const garment_reader *t, const drape_i_node *node, button *out) {
    static const char *const keys[] = {"join", "close", "soft", NULL}, *const place[] = {"panel", "at", NULL};
    if (!drape_i_read_map(t->r, node, keys)) return false;
    const drape_i_node *join = drape_i_node_find(node, "join");
    if (!join || join->kind != DRAPE_I_LIST || drape_i_node_count(join) != 2) {
        drape_i_problem_at(
            &t->r->problems, join ? join : node, false,
            "a button needs join, a list of two places of the pattern, such as [{panel: front, at: [0, "
            "10 cm]}, {panel: back, at: [0, 10 cm]}]");
        return false;
    }
    out->node = node;
    drape_i_read_number(t->r, node, "close", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->close);
    drape_i_read_number(t->r, node, "soft", DRAPE_I_STIFFNESS, DRAPE_I_POSITIVE, &out->soft);
    int32_t k = 0;
    for (const drape_i_node *n = join->first; n; n = n->next, k++) {
        if (!drape_i_read_map(t->r, n, place)) return false;
        out->panel[k] = drape_i_read_panel_name(t, n);
        if (out->panel[k] < 0 || !drape_i_read_pattern_point(t, n, "at", out->at[k])) return false;
    }
    return true;
}

bool drape_i_read_buttons(const garment_reader *t, const drape_i_node *list) {
    bool good = t->mesh->uv && t->g->panel[0].mesh;
    if (!good)
        drape_i_problem_at(&t->r->problems, list, true,
                           "buttons are places in the pattern of panels; a piece without `panels:`, or without "
                           "texture coordinates, has none: use `stitches:`");
    t->g->button = drape_i_scene_get(t->r, drape_i_node_count(list), sizeof *t->g->button);
    for (const drape_i_node *n = list->first; n && good && t->g->button; n = n->next)
        good = read_button(t, n, &t->g->button[t->g->buttons++]);
    return good && t->g->button;
}

/* The vertex of a panel nearest to a point of its pattern. */
static int32_t nearest_in_pattern(const drape_i_mesh *m, const drape_i_mesh_group *panel, const double p[2]) {
    double least = INFINITY;
    int32_t best = -1;
    for (int32_t i = 0; i < panel->triangles; i++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t t = panel->triangle[i];
            const double *x = m->uv + 2 * (int64_t)m->uv_triangle[t][k];
            const double square = (x[0] - p[0]) * (x[0] - p[0]) + (x[1] - p[1]) * (x[1] - p[1]);
            if (square < least) least = square, best = m->triangle[t][k];
        }
    return best;
}

bool drape_i_sew_buttons(reader_t *r, const drape_i_garment *g, const drape_i_mesh *m, int32_t first,
                         drape_stitch *list, int32_t *count) {
    for (int32_t i = 0; i < g->buttons; i++) {
        const button *b = &g->button[i];
        int32_t v[2];
        for (int32_t k = 0; k < 2; k++)
            v[k] = nearest_in_pattern(m, drape_i_panel_group(g, m, b->panel[k]), b->at[k]);
        const double *p = m->position + 3 * (int64_t)v[0], *q = m->position + 3 * (int64_t)v[1];
        const double apart =
            sqrt(((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])) + (p[2] - q[2]) * (p[2] - q[2]));
        if (apart > OPEN && !(b->close > 0) && !(b->soft > 0)) {
            drape_i_problem_at(&r->problems, b->node, false,
                               "button %d: its two places are %.4g m apart at the start; give it a time to close in, "
                               "such as close: 0.3 s, or make it soft",
                               i, apart);
            return false;
        }
        const int32_t before = *count;
        drape_i_add_stitch(list, count, first, v[0], v[1], b->close);
        if (*count > before) list[before].stiffness = b->soft;
    }
    return true;
}
