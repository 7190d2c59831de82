/* scene_garment.c: `seams:` of a piece, and a garment as a whole, from its sewing pattern.
 *
 * Panels become one mesh (scene_panels.c); seams weld it (mesh_sew.c), or draw it together while the scene runs; then
 * it is refined (mesh_refine.c). Paths of seams and bands are found before that, on the boundaries that the files
 * have (scene_paths.c). */
#include "io/scene_garment_parts.h"

enum { MOST_SEAMS = 10000, MOST_BANDS = 1000, MOST_BUTTONS = 1000 };

static const double USUAL_GAP = 0.02; /* m */
static const double USUAL_EASE = 0.1; /* the longer path may be longer by so much */

/* ---- seams ---- */

static bool read_seam(const garment_reader *t, const drape_i_node *node, int32_t index, drape_i_seam *out) {
    static const char *const keys[] = {"join", "gather", "ease", "gap", "close", NULL};
    if (!drape_i_read_map(t->r, node, keys)) return false;
    const drape_i_node *join = drape_i_node_find(node, "join");
    double ease = USUAL_EASE;
    *out = (drape_i_seam){.gap = USUAL_GAP, .index = index};
    if (!join || join->kind != DRAPE_I_LIST || drape_i_node_count(join) != 2) {
        drape_i_problem_at(
            &t->r->problems, join ? join : node, false,
            "a seam needs join, a list of two paths, such as [{vertices: [0, 9]}, {vertices: [20, 29]}]; or sew and "
            "onto");
        return false;
    }
    drape_i_read_truth(t->r, node, "gather", &out->gather);
    drape_i_read_number(t->r, node, "ease", DRAPE_I_PLAIN, DRAPE_I_NOT_NEGATIVE, &ease);
    drape_i_read_number(t->r, node, "close", DRAPE_I_TIME, DRAPE_I_NOT_NEGATIVE, &out->close);
    drape_i_read_number(t->r, node, "gap", DRAPE_I_LENGTH, DRAPE_I_NOT_NEGATIVE, &out->gap);
    out->ease = 1 + ease;
    bool first = drape_i_read_path(t, join->first, "seam", index, &out->path[0]);
    return drape_i_read_path(t, join->first->next, "seam", index, &out->path[1]) && first;
}

static bool is_patch(const drape_i_node *seam) {
    return seam->kind == DRAPE_I_MAP && (drape_i_node_find(seam, "sew") || drape_i_node_find(seam, "onto"));
}

static bool sew(const garment_reader *t, const drape_i_node *list) {
    int32_t count = drape_i_node_count(list), index = 0, edges = drape_i_sewing_boundary_edges(t->sewing);
    int32_t before = t->r->problems.count;
    if (2 * (int64_t)count > edges) {
        drape_i_problem_at(&t->r->problems, list, true,
                           "%d seams join two edges each or more, but the boundary has only %d edges", count, edges);
        return false;
    }
    drape_i_seam *seam = drape_i_scene_get(t->r, count, sizeof *seam);
    t->g->patch = drape_i_scene_get(t->r, count, sizeof *t->g->patch);
    if (!seam || !t->g->patch) return false;
    /* All paths first: they follow the boundary as the files have it. */
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        if (!is_patch(n)) read_seam(t, n, index, &seam[index]);
        else if (drape_i_read_patch(t, n, index, &t->g->patch[t->g->patches])) t->g->patches++;
    }
    if (t->r->problems.count > before || t->r->problems.status == DRAPE_ERROR_MEMORY) return false;
    index = 0;
    int32_t patches = 0;
    for (const drape_i_node *n = list->first; n; n = n->next, index++) {
        if (is_patch(n)) {
            if (!drape_i_sew_patch(t, &t->g->patch[patches++])) return false;
            continue;
        }
        drape_status status = drape_i_sewing_weld(t->sewing, &seam[index]);
        if (status) return drape_i_garment_failed(t, n, status, "seam", index);
    }
    return true;
}

bool drape_i_sew_garment(reader_t *r, const drape_i_node *piece, drape_i_mesh_source *source,
                         drape_i_garment **garment) {
    bool wants_seams = drape_i_node_find(piece, "seams"), wants_bands = drape_i_node_find(piece, "bands"),
         wants_buttons = drape_i_node_find(piece, "buttons");
    if (!wants_seams && !wants_bands && !wants_buttons) return true;
    const drape_i_node *seams = drape_i_find_garment_list(r, piece, "seams", MOST_SEAMS);
    const drape_i_node *bands = drape_i_find_garment_list(r, piece, "bands", MOST_BANDS);
    const drape_i_node *buttons = drape_i_find_garment_list(r, piece, "buttons", MOST_BUTTONS);
    if ((wants_seams && !seams) || (wants_bands && !bands) || (wants_buttons && !buttons)) return false;
    drape_i_mesh *m = source->mesh;
    if (!*garment) {
        *garment = drape_i_make_garment(r, 1);
        if (!*garment) return false;
        (*garment)->first[1] = m->vertices;
        if (!source->use_uv) m->uv = NULL, m->uv_triangle = NULL, m->uv_vertices = 0;
    }
    garment_reader t = {.r = r, .g = *garment, .mesh = m};
    drape_status status =
        drape_i_sewing_begin(r->ctx, &r->out->arena, m, t.g->panels, t.g->name, t.g->first, &t.sewing);
    if (status) return drape_i_scene_failed(r, seams ? seams : bands ? bands : buttons, status);
    if (bands && !drape_i_lay_bands(&t, bands)) return false;
    if (buttons && !drape_i_read_buttons(&t, buttons)) return false;
    if (!seams) return true;
    if (!sew(&t, seams)) return false;
    status = drape_i_sewing_end(t.sewing);
    t.g->drawn = drape_i_sewing_drawn(t.sewing, &t.g->pair);
    return status ? drape_i_scene_failed(r, seams, status) : true;
}

/* ---- seams that are drawn together ---- */

void drape_i_add_stitch(drape_stitch *out, int32_t *count, int32_t first, int32_t a, int32_t b, double close) {
    if (a == b) return; /* both sides of a dart begin there */
    drape_stitch *s = &out[(*count)++];
    *s = (drape_stitch){.a = {.count = 1, .vertex = {first + a}}, .b = {.count = 1, .vertex = {first + b}}};
    s->directions = 3;
    s->close = close;
}

/* Vertices of the files and those that refining put between them. A loop comes back to where it began. */
static void stitch_seams(const drape_i_garment *g, const drape_i_mesh *m, int32_t first, drape_stitch *list,
                         int32_t *count) {
    int32_t parts = m->parts > 1 ? m->parts : 1, begin = 0;
    for (int32_t i = 0; i < g->drawn; i++) {
        const drape_i_drawn *d = &g->pair[i];
        if (d->begins) begin = i;
        for (int32_t k = 1; k < parts && !d->begins; k++)
            drape_i_add_stitch(list, count, first, drape_i_mesh_on_edge(m, d[-1].a, d->a, k),
                               drape_i_mesh_on_edge(m, d[-1].b, d->b, k), d->close);
        bool again = i > begin && d->a == g->pair[begin].a && d->b == g->pair[begin].b;
        if (!again && !d->known) drape_i_add_stitch(list, count, first, d->a, d->b, d->close);
    }
}

bool drape_i_stitch_garment(reader_t *r, const drape_i_garment *g, drape_i_mesh *m, int32_t first, double thickness) {
    if (!g || (g->drawn == 0 && g->buttons == 0)) return true;
    int32_t parts = m->parts > 1 ? m->parts : 1;
    drape_i_seam_stitches *made = drape_i_scene_get(r, 1, sizeof *made);
    drape_stitch *list = drape_i_scene_get(r, (int64_t)g->drawn * parts + g->buttons, sizeof *list);
    if (!made || !list) return false;
    stitch_seams(g, m, first, list, &made->count);
    if (g->patches > 0 && !drape_i_lay_patches(r, g, m, thickness, first, list, made->count)) return false;
    if (!drape_i_sew_buttons(r, g, m, first, list, &made->count)) return false;
    made->stitch = list;
    made->before = r->seam_stitches;
    r->seam_stitches = made;
    return true;
}
