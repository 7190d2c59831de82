/* baraff_witkin.c: the model of Baraff and Witkin (1998) from materials: stretch and shear per triangle, bending per
 * interior edge. The formulas are in bw_triangle_simd.c and bw_hinge_simd.c, those of fabrics that stiffen in
 * bw_stiffened_simd.c.
 *
 * Bending rigidity B (N m) of the sheet becomes the hinge energy (B/2.4)/2 3 e^2/(A1 + A2) (theta - theta0)^2.
 * Weights 3 e^2/(A1+A2) with k give a strip of regular right triangles the rigidity 2.4 k. */
#include "cloth/baraff_witkin.h"

#include "cloth/nodal.h"
#include "cloth/pairs.h"

static const double RIGIDITY_OF_UNIT_HINGE = 2.4;
/* The share of stretch and shear that triangles of pairs keep, so that no shape of a pair is without resistance. */
static const double ALONE = 0.01;

/* Hinges that do something, with nodes of their own where they are not all of the cloth's. */
typedef struct hinge_set {
    int32_t count;
    int32_t *nodes; /* NULL: those of the cloth */
    drape_i_bw_data data;
} hinge_set;

/* Triangles whose material stiffens with strain. */
typedef struct stiffened_set {
    int32_t count;
    int32_t *nodes;
    drape_i_bw_data data;
} stiffened_set;

typedef struct model_state {
    int32_t triangles;
    drape_i_bw_data triangle;
    stiffened_set stiffened;
    hinge_set hinges;  /* those that bend, and are damped */
    hinge_set dampers; /* those whose bending is quadratic */
    int32_t pairs;     /* of triangles that stretch together */
    int32_t *pair_nodes;
    drape_i_bw_data pair;
} model_state;

static void clear_hinges(drape_context *ctx, hinge_set *h) {
    DRAPE_FREE(ctx, h->data.records, (int64_t)BW_HINGE_SIZE * h->count);
    DRAPE_FREE(ctx, h->nodes, 4 * (int64_t)h->count);
}

static void destroy(drape_context *ctx, void *state) {
    model_state *s = state;
    if (!s) return;
    DRAPE_FREE(ctx, s->triangle.records, (int64_t)BW_TRIANGLE_SIZE * s->triangles);
    DRAPE_FREE(ctx, s->stiffened.data.records, (int64_t)BW_STIFFENED_SIZE * s->stiffened.count);
    DRAPE_FREE(ctx, s->stiffened.nodes, 3 * (int64_t)s->stiffened.count);
    clear_hinges(ctx, &s->hinges);
    clear_hinges(ctx, &s->dampers);
    DRAPE_FREE(ctx, s->pair.records, (int64_t)BW_PAIR_SIZE * s->pairs);
    DRAPE_FREE(ctx, s->pair_nodes, 4 * (int64_t)s->pairs);
    DRAPE_FREE(ctx, s, 1);
}

static void fill_shape(const drape_i_rest_triangle *rest, double *r) {
    r[BW_AREA] = rest->area;
    r[BW_DU1] = rest->du[1], r[BW_DU2] = rest->du[2];
    r[BW_DV1] = rest->dv[1], r[BW_DV2] = rest->dv[2];
}

static void fill_triangle(const drape_i_rest_triangle *rest, const drape_material *m, double *r) {
    fill_shape(rest, r);
    r[BW_STRETCH_U] = m->stretch[0], r[BW_DAMP_U] = m->damping_stretch * m->stretch[0];
    r[BW_STRETCH_V] = m->stretch[1], r[BW_DAMP_V] = m->damping_stretch * m->stretch[1];
    r[BW_SHEAR] = m->shear, r[BW_DAMP_SHEAR] = m->damping_shear * m->shear;
}

/* From stiffness k to K around the knee; K 0: it stays k. */
static void fill_curve(double k, double K, double knee, double *r) {
    const bool rises = K > k && knee > 0;
    r[BW_CURVE_RISE] = rises ? (K - k) / knee : 0;
    r[BW_CURVE_BEGIN] = rises ? 0.5 * knee : 0;
    r[BW_CURVE_END] = rises ? 1.5 * knee : 0;
}

static void fill_stiffened(const drape_i_rest_triangle *rest, const drape_material *m, double *r) {
    fill_shape(rest, r);
    for (int32_t i = 0; i < 2; i++)
        fill_curve(m->stretch[i], m->stretch_stiff[i], m->stretch_knee[i], r + BW_CURVES + BW_CURVE_SIZE * i);
    fill_curve(m->shear, m->shear_stiff, m->shear_knee, r + BW_CURVES + 2 * BW_CURVE_SIZE);
}

static bool stiffens(const drape_material *m) {
    return m->stretch_stiff[0] > 0 || m->stretch_stiff[1] > 0 || m->shear_stiff > 0;
}

static drape_status make_stiffened(drape_context *ctx, const drape_i_model_input *in, stiffened_set *out) {
    for (int32_t t = 0; t < in->triangles; t++) out->count += stiffens(in->material[t]);
    if (!DRAPE_NEW(ctx, out->data.records, (int64_t)BW_STIFFENED_SIZE * out->count) ||
        !DRAPE_NEW(ctx, out->nodes, 3 * (int64_t)out->count))
        return DRAPE_ERROR_MEMORY;
    out->data.nodes = out->nodes;
    for (int32_t t = 0, next = 0; t < in->triangles; t++) {
        if (!stiffens(in->material[t])) continue;
        fill_stiffened(&in->rest_triangle[t], in->material[t], out->data.records + (int64_t)BW_STIFFENED_SIZE * next);
        for (int32_t k = 0; k < 3; k++) out->nodes[3 * (int64_t)next + k] = in->triangle[t][k];
        next++;
    }
    return DRAPE_OK;
}

static void fill_hinge(const drape_i_rest_hinge *rest, const drape_material *m, double *r) {
    double k = drape_i_mean_bend(m) / RIGIDITY_OF_UNIT_HINGE * 3 * rest->length2 / rest->area;
    if (m->bend_hinge > 0) k = m->bend_hinge;
    r[BW_BEND] = k;
    r[BW_DAMP_BEND] = m->damping_bend * k;
    r[BW_ANGLE] = rest->angle;
}

/* ---- pairs ---- */

static int32_t corner_of(const int32_t *triangle, int32_t vertex) {
    return triangle[0] == vertex ? 0 : triangle[1] == vertex ? 1 : 2;
}

static void fill_pair(const drape_i_model_input *in, int32_t hinge, double *r) {
    const int32_t *t = in->hinges->triangle[hinge], *node = in->hinges->node[hinge];
    const drape_i_rest_triangle *A = &in->rest_triangle[t[0]], *B = &in->rest_triangle[t[1]];
    const drape_material *m = in->material[t[0]];
    r[BW_PAIR_AREA] = A->area + B->area;
    r[BW_PAIR_SHARE] = A->area / r[BW_PAIR_AREA];
    for (int32_t i = 0; i < 2; i++) {
        const double *a = i == 0 ? A->du : A->dv, *b = i == 0 ? B->du : B->dv;
        double *to = r + BW_PAIR_THREADS + 6 * i;
        to[0] = a[corner_of(in->triangle[t[0]], node[1])], to[1] = a[corner_of(in->triangle[t[0]], node[2])];
        to[2] = b[corner_of(in->triangle[t[1]], node[1])], to[3] = b[corner_of(in->triangle[t[1]], node[3])];
        to[4] = (1 - ALONE) * m->stretch[i];
        to[5] = m->damping_stretch * to[4];
    }
    r[BW_PAIR_SHEAR] = (1 - ALONE) * m->shear;
    r[BW_PAIR_DAMP_SHEAR] = m->damping_shear * r[BW_PAIR_SHEAR];
}

/* What others take over is no longer the triangle's. */
static void release_triangle(double share, double *r) {
    r[BW_STRETCH_U] *= share, r[BW_DAMP_U] *= share;
    r[BW_STRETCH_V] *= share, r[BW_DAMP_V] *= share;
    r[BW_SHEAR] *= share, r[BW_DAMP_SHEAR] *= share;
}

static drape_status make_pairs(drape_context *ctx, const drape_i_model_input *in, model_state *s) {
    int32_t *hinges;
    drape_status status = drape_i_pairs_find(ctx, in, &hinges, &s->pairs);
    if (status) return status;
    if (!DRAPE_NEW(ctx, s->pair.records, (int64_t)BW_PAIR_SIZE * s->pairs) ||
        !DRAPE_NEW(ctx, s->pair_nodes, 4 * (int64_t)s->pairs))
        status = DRAPE_ERROR_MEMORY;
    s->pair.nodes = s->pair_nodes;
    for (int32_t i = 0; i < s->pairs && !status; i++) {
        fill_pair(in, hinges[i], s->pair.records + (int64_t)BW_PAIR_SIZE * i);
        for (int32_t k = 0; k < 4; k++) s->pair_nodes[4 * (int64_t)i + k] = in->hinges->node[hinges[i]][k];
        for (int32_t k = 0; k < 2; k++)
            release_triangle(ALONE,
                             s->triangle.records + (int64_t)BW_TRIANGLE_SIZE * in->hinges->triangle[hinges[i]][k]);
    }
    DRAPE_FREE(ctx, hinges, in->hinges->count);
    return status;
}

/* ---- hinges ---- */

static const drape_material *material_of(const drape_i_model_input *in, int32_t hinge) {
    return in->material[in->hinges->triangle[hinge][0]];
}

static bool is_covered(const drape_i_model_input *in, int32_t hinge) { return in->covered && in->covered[hinge]; }

static bool bends(const drape_i_model_input *in, int32_t hinge) { return !is_covered(in, hinge); }

static bool only_damps(const drape_i_model_input *in, int32_t hinge) {
    return is_covered(in, hinge) && material_of(in, hinge)->damping_bend > 0;
}

static drape_status choose_hinges(drape_context *ctx, const drape_i_model_input *in,
                                  bool (*chosen)(const drape_i_model_input *in, int32_t hinge), hinge_set *out) {
    for (int32_t i = 0; i < in->hinges->count; i++) out->count += chosen(in, i);
    out->data.nodes = in->hinges->node[0];
    if (!DRAPE_NEW(ctx, out->data.records, (int64_t)BW_HINGE_SIZE * out->count)) return DRAPE_ERROR_MEMORY;
    if (out->count < in->hinges->count) {
        if (!DRAPE_NEW(ctx, out->nodes, 4 * (int64_t)out->count)) return DRAPE_ERROR_MEMORY;
        out->data.nodes = out->nodes;
    }
    for (int32_t i = 0, next = 0; i < in->hinges->count; i++) {
        if (!chosen(in, i)) continue;
        double *record = out->data.records + (int64_t)BW_HINGE_SIZE * next;
        for (int32_t k = 0; k < 4 && out->nodes; k++) out->nodes[4 * (int64_t)next + k] = in->hinges->node[i][k];
        fill_hinge(&in->rest_hinge[i], material_of(in, i), record);
        if (is_covered(in, i)) record[BW_BEND] = 0;
        next++;
    }
    return DRAPE_OK;
}

static drape_status create(drape_context *ctx, const drape_i_model_input *in, drape_i_term *terms,
                           int32_t *term_count, void **state) {
    model_state *s;
    *state = NULL;
    if (!DRAPE_NEW(ctx, s, 1)) return DRAPE_ERROR_MEMORY;
    s->triangles = in->triangles;
    s->triangle = (drape_i_bw_data){in->triangle[0], NULL};
    if (!DRAPE_NEW(ctx, s->triangle.records, (int64_t)BW_TRIANGLE_SIZE * s->triangles) ||
        make_stiffened(ctx, in, &s->stiffened) || choose_hinges(ctx, in, bends, &s->hinges) ||
        choose_hinges(ctx, in, only_damps, &s->dampers)) {
        destroy(ctx, s);
        return DRAPE_ERROR_MEMORY;
    }
    for (int64_t t = 0; t < s->triangles; t++)
        fill_triangle(&in->rest_triangle[t], in->material[t], s->triangle.records + BW_TRIANGLE_SIZE * t);
    terms[0] = (drape_i_term){.elements = {3, s->triangles, s->triangle.nodes},
                              .batch = drape_i_bw_triangle_at,
                              .potential = true,
                              .energy = drape_i_bw_triangle_energy_at,
                              .dissipation = drape_i_bw_triangle_dissipation_at,
                              .data = &s->triangle,
                              .damped = true};
    *term_count = 1;
    *state = s;
    if (s->stiffened.count > 0)
        terms[(*term_count)++] = (drape_i_term){.elements = {3, s->stiffened.count, s->stiffened.nodes},
                                                .batch = drape_i_bw_stiffened_at,
                                                .potential = true,
                                                .energy = drape_i_bw_stiffened_energy_at,
                                                .data = &s->stiffened.data};
    if (in->membrane == DRAPE_MEMBRANE_PAIRED) {
        drape_status status = make_pairs(ctx, in, s);
        if (status) return status; /* the caller destroys the state */
        terms[(*term_count)++] = (drape_i_term){.elements = {4, s->pairs, s->pair.nodes},
                                                .batch = drape_i_bw_pair_at,
                                                .potential = true,
                                                .energy = drape_i_bw_pair_energy_at,
                                                .dissipation = drape_i_bw_pair_dissipation_at,
                                                .data = &s->pair,
                                                .damped = true};
    }
    for (int64_t t = 0; t < s->triangles && in->membrane == DRAPE_MEMBRANE_NODAL; t++)
        release_triangle(DRAPE_I_NODAL_ALONE, s->triangle.records + BW_TRIANGLE_SIZE * t);
    if (s->hinges.count > 0 || !in->covered)
        terms[(*term_count)++] = (drape_i_term){.elements = {4, s->hinges.count, s->hinges.data.nodes},
                                                .batch = drape_i_bw_hinge_at,
                                                .potential = true,
                                                .energy = drape_i_bw_hinge_energy_at,
                                                .dissipation = drape_i_bw_hinge_dissipation_at,
                                                .data = &s->hinges.data,
                                                .damped = true};
    if (s->dampers.count > 0)
        terms[(*term_count)++] = (drape_i_term){.elements = {4, s->dampers.count, s->dampers.data.nodes},
                                                .batch = drape_i_bw_damper_at,
                                                .potential = true,
                                                .dissipation = drape_i_bw_hinge_dissipation_at,
                                                .data = &s->dampers.data,
                                                .damped = true};
    return DRAPE_OK;
}

static const drape_material_field fields[] = {
    DRAPE_I_SHEET_FIELDS,
    DRAPE_I_FIELD(stretch_stiff, 2, "N/m", 0, "stretch stiffness of straightened threads; 0: as stretch"),
    DRAPE_I_FIELD(stretch_knee, 2, "", 0, "elongation around which stretch stiffens"),
    DRAPE_I_FIELD(shear_stiff, 1, "N/m", 0, "shear stiffness of jammed threads; 0: as shear"),
    DRAPE_I_FIELD(shear_knee, 1, "", 0, "sine of the shear angle around which shear stiffens"),
    DRAPE_I_FIELD(bend_hinge, 1, "N m", 0, "stiffness of every hinge, in place of bend"),
    {0},
};

const drape_i_model drape_i_baraff_witkin = {
    .name = "baraff_witkin",
    .about = "stretch and shear of each triangle, the angle at each interior edge; right on any mesh",
    .fields = fields,
    .bending = DRAPE_BENDING_HINGE,
    .membrane = DRAPE_MEMBRANE_BARAFF_WITKIN,
    .create = create,
    .destroy = destroy,
};
