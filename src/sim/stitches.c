/* stitches.c: see stitches.h. */
#include "sim/stitches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double OPEN = 1e-6;       /* m: a stitch that starts farther open than this has to be closed */
static const double SAME_PLACE = 1e-9; /* m: as in pins.c */
static const double KEPT = 0.5, SMALL_LAG = 1e-6; /* of what contact left open, in a step; m: made up at once */
static const double ONE_POINT = 1e-9;             /* m: vertices that are no farther apart */
static const double WEIGHTS = 1e-9;               /* how far the weights of a point may be from a sum of 1 */
static const double CHANGED = 1e-13;              /* of a velocity, relative: more than rounding */
enum { CONTACTS = 4, SWEEPS = 50 };

/* ---- Checking ---- */

static drape_status check_point(drape_context *ctx, int32_t number, const char *name, const drape_cloth_point *p,
                                int32_t vertices) {
    double sum = 0;
    if (p->count < 1 || p->count > 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: point %s has %d vertices; it must have 1 to 3",
                            number, name, p->count);
    for (int32_t a = 0; a < p->count; a++) {
        if (p->vertex[a] < 0 || p->vertex[a] >= vertices)
            return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: point %s names vertex %d; there are %d",
                                number, name, p->vertex[a], vertices);
        for (int32_t b = 0; b < a; b++)
            if (p->vertex[a] == p->vertex[b])
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: point %s names vertex %d twice", number,
                                    name, p->vertex[a]);
        sum += p->w[a];
    }
    if (p->count > 1 && !(fabs(sum - 1) <= WEIGHTS))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "stitch %d: the weights of point %s, of vertex %d and others, add up to %g; they must add "
            "up to 1",
            number, name, p->vertex[0], sum);
    return DRAPE_OK;
}

static drape_status check_stitch(drape_context *ctx, int32_t number, const drape_stitch *s, int32_t vertices) {
    drape_status status = drape_i_check_reserved(ctx, "drape_stitch", s->reserved, 4);
    if (!status) status = check_point(ctx, number, "a", &s->a, vertices);
    if (!status) status = check_point(ctx, number, "b", &s->b, vertices);
    if (status) return status;
    if (s->directions < 0 || s->directions > 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: %d directions; it must be 1..3", number,
                            s->directions);
    if (!isfinite(s->stiffness) || s->stiffness < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: its stiffness is %g N/m; it must be 0 or more",
                            number, s->stiffness);
    if (!isfinite(s->close) || s->close < 0)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: it closes within %g s; it must be 0 or more",
                            number, s->close);
    return DRAPE_OK;
}

/* ---- From the scene ---- */

static bool add_vertex(drape_i_stitch *s, int32_t vertex, double w, int32_t side) {
    int32_t a = 0;
    if (w == 0) return true;
    while (a < s->count && s->vertex[a] != vertex) a++;
    if (a == DRAPE_EQUALITY_VERTICES) return false;
    if (a == s->count) s->vertex[s->count] = vertex, s->w[s->count] = 0, s->sides[s->count++] = 0;
    s->w[a] += w;
    s->sides[a] |= side;
    return true;
}

/* Gram and Schmidt; false: a direction has no length, or lies in the span of those before it. */
static bool project_onto(const drape_i_stitch *s, double P[9]) {
    double q[3][3];
    memset(P, 0, 9 * sizeof *P);
    for (int32_t i = 0; i < s->directions; i++) {
        double largest = 0, square = 0;
        for (int32_t k = 0; k < 3; k++) largest = fmax(largest, fabs(s->direction[i][k]));
        if (!(largest > 0) || !isfinite(largest)) return false;
        for (int32_t k = 0; k < 3; k++) q[i][k] = s->direction[i][k] / largest;
        for (int32_t j = 0; j < i; j++) {
            double along = (q[i][0] * q[j][0] + q[i][1] * q[j][1]) + q[i][2] * q[j][2];
            for (int32_t k = 0; k < 3; k++) q[i][k] -= along * q[j][k];
        }
        for (int32_t k = 0; k < 3; k++) square += q[i][k] * q[i][k];
        if (!(square > 1e-12)) return false;
        for (int32_t k = 0; k < 3; k++) q[i][k] /= sqrt(square);
        for (int32_t k = 0; k < 9; k++) P[k] += q[i][k / 3] * q[i][k % 3];
    }
    return true;
}

static drape_status copy_stitch(drape_context *ctx, int32_t number, const drape_stitch *from, drape_i_stitch *to) {
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    bool fits = true;
    *to = (drape_i_stitch){.number = number, .stiffness = from->stiffness, .close = from->close};
    to->directions = from->directions > 0 ? from->directions : 3;
    memcpy(to->direction, to->directions == 3 ? axes : from->direction, sizeof to->direction);
    for (int32_t a = 0; a < from->a.count; a++)
        fits &= add_vertex(to, from->a.vertex[a], from->a.count > 1 ? from->a.w[a] : 1, 1);
    for (int32_t a = 0; a < from->b.count; a++)
        fits &= add_vertex(to, from->b.vertex[a], from->b.count > 1 ? -from->b.w[a] : -1, 2);
    if (!fits)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                            "stitch %d, of vertices %d and %d: its points have more than %d vertices together",
                            number, from->a.vertex[0], from->b.vertex[0], DRAPE_EQUALITY_VERTICES);
    double most = 0;
    for (int32_t a = 0; a < to->count; a++) most = fmax(most, fabs(to->w[a]));
    if (!(most > WEIGHTS))
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "stitch %d: both of its points are the same, at vertex %d",
                            number, from->a.vertex[0]);
    if (!project_onto(to, to->P))
        return drape_i_fail(
            ctx, DRAPE_ERROR_ARGUMENT,
            "stitch %d, of vertices %d and %d: a direction has no length or lies in the span of those "
            "before it",
            number, from->a.vertex[0], from->b.vertex[0]);
    return DRAPE_OK;
}

/* Exact ones first, each kind in the order of the scene. */
static drape_status copy_all(drape_sim *sim, const drape_scene *scene) {
    drape_i_stitches *t = sim->stitches;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; i < scene->stitch_count && !status; i++) {
        status = check_stitch(sim->ctx, i, &scene->stitches[i], sim->vertices);
        t->exact += !(scene->stitches[i].stiffness > 0);
    }
    for (int32_t i = 0, exact = 0, soft = t->exact; i < scene->stitch_count && !status; i++)
        status = copy_stitch(sim->ctx, i, &scene->stitches[i],
                             &t->item[scene->stitches[i].stiffness > 0 ? soft++ : exact++]);
    return status;
}

/* ---- Springs ---- */

/* What is left of the gap. */
static double rest_of(const drape_i_stitch *s, double t) {
    if (!(t < s->close)) return 0;
    double share = t > 0 ? t / s->close : 0;
    return (1 - share) * (1 - share) * (1 + 2 * share);
}

static void offset_of(const drape_i_stitch *s, const double *x, double out[3]) {
    for (int32_t k = 0; k < 3; k++) {
        out[k] = 0;
        for (int32_t a = 0; a < s->count; a++) out[k] += s->w[a] * x[3 * (int64_t)s->vertex[a] + k];
    }
}

/* P (D x - g) */
static void stretch_of(const drape_i_stitch *s, double t, const double *x, double out[3]) {
    double d[3], rest = rest_of(s, t);
    offset_of(s, x, d);
    for (int32_t k = 0; k < 3; k++) d[k] -= rest * s->gap[k];
    for (int32_t k = 0; k < 3; k++) out[k] = (s->P[3 * k] * d[0] + s->P[3 * k + 1] * d[1]) + s->P[3 * k + 2] * d[2];
}

static const drape_i_stitch *spring_of(const drape_i_springs *s, int32_t element) {
    return &s->sim->stitches->item[s->stitch[element]];
}

static void spring_force(void *user, const drape_force_point *at, int32_t element, const int32_t *node,
                         drape_element_force *out) {
    const drape_i_stitch *s = spring_of(user, element);
    double d[3];
    (void)node;
    stretch_of(s, at->time, at->x, d);
    for (int32_t a = 0; a < s->count; a++) {
        for (int32_t k = 0; k < 3; k++) out->force[a][k] = -(s->stiffness * s->w[a]) * d[k];
        for (int32_t b = 0; b < s->count && at->jacobians; b++)
            for (int32_t k = 0; k < 9; k++) out->stiffness[a][b][k] = s->stiffness * (s->w[a] * s->w[b]) * s->P[k];
    }
}

static double spring_energy(void *user, const drape_force_point *at, int32_t element, const int32_t *node) {
    const drape_i_stitch *s = spring_of(user, element);
    double d[3];
    (void)node;
    stretch_of(s, at->time, at->x, d);
    return 0.5 * s->stiffness * ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
}

static drape_status add_springs(drape_sim *sim) {
    static const char *const names[] = {"", "stitches_1", "stitches", "stitches_3", "stitches_4"};
    drape_i_stitches *t = sim->stitches;
    for (int32_t i = t->exact; i < t->count; i++) t->springs[t->item[i].count].count++;
    for (int32_t n = 1; n <= DRAPE_EQUALITY_VERTICES; n++) {
        drape_i_springs *s = &t->springs[n];
        int32_t room = s->count;
        if (room == 0) continue;
        s->sim = sim;
        if (!DRAPE_NEW(sim->ctx, s->node, n * (int64_t)room) || !DRAPE_NEW(sim->ctx, s->stitch, room))
            return DRAPE_ERROR_MEMORY;
        for (int32_t i = t->exact, at = 0; i < t->count; i++) {
            if (t->item[i].count != n) continue;
            memcpy(s->node + (int64_t)n * at, t->item[i].vertex, (size_t)n * sizeof *s->node);
            s->stitch[at++] = i;
        }
        drape_force force = {.name = names[n],
                             .user = s,
                             .elements = {n, room, s->node},
                             .element = spring_force,
                             .element_energy = spring_energy};
        drape_status status = drape_i_assembler_add(sim->forces, &force, NULL, 0);
        if (status) return status;
    }
    return DRAPE_OK;
}

double drape_i_stitches_work(const drape_sim *sim, double t0, double t1) {
    const drape_i_stitches *t = sim->stitches;
    double work = 0;
    for (int32_t i = t ? t->exact : 0; t && i < t->count; i++) {
        const drape_i_stitch *s = &t->item[i];
        double from = rest_of(s, t0), to = rest_of(s, t1), d[3], Pd;
        offset_of(s, sim->mean_x, d);
        for (int32_t k = 0; k < 3; k++) d[k] = 0.5 * (from + to) * s->gap[k] - d[k];
        for (int32_t k = 0; k < 3; k++) {
            Pd = (s->P[3 * k] * d[0] + s->P[3 * k + 1] * d[1]) + s->P[3 * k + 2] * d[2];
            work += s->stiffness * Pd * ((to - from) * s->gap[k]);
        }
    }
    return work;
}

/* ---- Which vertices are coupled ---- */

static int32_t root_of(int32_t *of, int32_t v) {
    while (of[v] != v) {
        of[v] = of[of[v]];
        v = of[v];
    }
    return v;
}

static void join(drape_i_stitches *t, const drape_i_stitch *s) {
    int32_t root = -1;
    for (int32_t a = 0; a < s->count; a++) {
        int32_t v = s->vertex[a];
        if (t->group[v] < 0) t->group[v] = v, t->members++;
        v = root_of(t->group, v);
        if (root < 0) root = v;
        else if (v < root) t->group[root] = v, root = v;
        else t->group[v] = root;
    }
}

static drape_status find_groups(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    int32_t *number = NULL;
    if (!DRAPE_NEW(sim->ctx, t->group, sim->vertices) || !DRAPE_NEW(sim->ctx, t->same, sim->vertices) ||
        !DRAPE_NEW(sim->ctx, t->tight, sim->vertices))
        return DRAPE_ERROR_MEMORY;
    for (int32_t v = 0; v < sim->vertices; v++) t->same[v] = v, t->tight[v] = -1;
    for (int32_t v = 0; v < sim->vertices; v++) t->group[v] = -1;
    for (int32_t i = 0; i < t->exact; i++) join(t, &t->item[i]);
    for (int32_t v = 0; v < sim->vertices; v++)
        if (t->group[v] >= 0) t->groups += root_of(t->group, v) == v;
    if (!DRAPE_NEW(sim->ctx, t->first, (int64_t)t->groups + 1) || !DRAPE_NEW(sim->ctx, t->member, t->members) ||
        !DRAPE_NEW(sim->ctx, number, sim->vertices))
        return DRAPE_ERROR_MEMORY;
    for (int32_t v = 0, next = 0; v < sim->vertices; v++) {
        if (t->group[v] < 0) continue;
        int32_t root = root_of(t->group, v);
        number[v] = root == v ? next++ : number[root]; /* roots are the smallest of their groups */
        t->first[number[v] + 1]++;
    }
    for (int32_t g = 0; g < t->groups; g++) t->first[g + 1] += t->first[g];
    for (int32_t v = 0; v < sim->vertices; v++)
        if (t->group[v] >= 0) t->member[t->first[number[v]]++] = v;
    for (int32_t g = t->groups; g > 0; g--) t->first[g] = t->first[g - 1];
    t->first[0] = 0;
    for (int32_t v = 0; v < sim->vertices; v++) t->group[v] = t->group[v] < 0 ? -1 : number[v];
    DRAPE_FREE(sim->ctx, number, sim->vertices);
    return DRAPE_OK;
}

/* Vertices of its two points are joined with each other. */
static bool are_joined(const drape_i_stitch *s, int32_t a, int32_t b) {
    return a != b && (s->sides[a] | s->sides[b]) == 3 && !(s->sides[a] == s->sides[b] && s->sides[a] < 3);
}

static drape_status find_joined(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    int32_t *first;
    if (!DRAPE_NEW(sim->ctx, t->joined_first, (int64_t)sim->vertices + 1)) return DRAPE_ERROR_MEMORY;
    first = t->joined_first;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < t->count; i++)
            for (int32_t a = 0; a < t->item[i].count; a++)
                for (int32_t b = 0; b < t->item[i].count; b++) {
                    if (!are_joined(&t->item[i], a, b)) continue;
                    if (pass == 0) first[t->item[i].vertex[a] + 1]++;
                    else t->joined[first[t->item[i].vertex[a]]++] = t->item[i].vertex[b];
                }
        if (pass == 1) break;
        for (int32_t v = 0; v < sim->vertices; v++) first[v + 1] += first[v];
        t->joins = first[sim->vertices];
        if (!DRAPE_NEW(sim->ctx, t->joined, t->joins)) return DRAPE_ERROR_MEMORY;
    }
    for (int32_t v = sim->vertices; v > 0; v--) first[v] = first[v - 1];
    first[0] = 0;
    return DRAPE_OK;
}

/* ---- Creating ---- */

drape_status drape_i_stitches_create(drape_sim *sim, const drape_scene *scene) {
    drape_i_stitches *t;
    if (scene->stitch_count < 0 || (scene->stitch_count > 0 && !scene->stitches))
        return drape_i_fail(sim->ctx, DRAPE_ERROR_ARGUMENT, "no list of %d stitches", scene->stitch_count);
    if (scene->stitch_count == 0) return DRAPE_OK;
    if (!DRAPE_NEW(sim->ctx, t, 1)) return DRAPE_ERROR_MEMORY;
    sim->stitches = t;
    t->count = scene->stitch_count;
    if (!DRAPE_NEW(sim->ctx, t->item, t->count)) return DRAPE_ERROR_MEMORY;
    drape_status status = copy_all(sim, scene);
    if (!status) status = find_groups(sim);
    if (!status) status = find_joined(sim);
    if (!status) status = add_springs(sim);
    if (status) return status;
    t->room = t->exact + CONTACTS * t->members;
    bool good = DRAPE_NEW(sim->ctx, t->list, t->room) &&
                DRAPE_NEW(sim->ctx, t->before, 3 * DRAPE_EQUALITY_VERTICES * (int64_t)t->exact);
    return good ? DRAPE_OK : DRAPE_ERROR_MEMORY;
}

void drape_i_stitches_destroy(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    drape_context *ctx = sim->ctx;
    if (!t) return;
    for (int32_t n = 0; n <= DRAPE_EQUALITY_VERTICES; n++) {
        DRAPE_FREE(ctx, t->springs[n].node, n * (int64_t)t->springs[n].count);
        DRAPE_FREE(ctx, t->springs[n].stitch, t->springs[n].count);
    }
    DRAPE_FREE(ctx, t->item, t->count);
    DRAPE_FREE(ctx, t->list, t->room);
    DRAPE_FREE(ctx, t->before, 3 * DRAPE_EQUALITY_VERTICES * (int64_t)t->exact);
    DRAPE_FREE(ctx, t->group, sim->vertices);
    DRAPE_FREE(ctx, t->same, sim->vertices);
    DRAPE_FREE(ctx, t->tight, sim->vertices);
    DRAPE_FREE(ctx, t->first, (int64_t)t->groups + 1);
    DRAPE_FREE(ctx, t->member, t->members);
    DRAPE_FREE(ctx, t->joined_first, (int64_t)sim->vertices + 1);
    DRAPE_FREE(ctx, t->joined, t->joins);
    DRAPE_FREE(ctx, t, 1);
    sim->stitches = NULL;
}

/* "stitch 3, of vertices 1, 2 and 17" */
static void name_stitch(const drape_i_stitch *s, char *out, size_t size) {
    int used = snprintf(out, size, "stitch %d, of vertices %d", s->number, s->vertex[0]);
    for (int32_t a = 1; a < s->count && used > 0 && (size_t)used < size; a++)
        used += snprintf(out + used, size - (size_t)used, "%s%d", a + 1 < s->count ? ", " : " and ", s->vertex[a]);
}

static drape_status check_gap(drape_context *ctx, const drape_i_stitch *s) {
    double d[3], name_size = 0;
    char name[120];
    for (int32_t k = 0; k < 3; k++)
        d[k] = (s->P[3 * k] * s->gap[0] + s->P[3 * k + 1] * s->gap[1]) + s->P[3 * k + 2] * s->gap[2];
    name_size = sqrt((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
    if (s->close > 0 || s->stiffness > 0 || name_size <= OPEN) return DRAPE_OK;
    name_stitch(s, name, sizeof name);
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT,
                        "%s: its points are %g m apart at the start; give it a time to close in, or make it soft",
                        name, name_size);
}

/* The solver's message. */
static drape_status explain(drape_sim *sim, drape_status status) {
    static const char before[] = "constraints: ";
    const char *said = drape_message(sim->ctx);
    char text[400];
    snprintf(text, sizeof text, "%s", strncmp(said, before, sizeof before - 1) ? said : said + sizeof before - 1);
    return drape_i_fail(sim->ctx, status, "stitches: %s", text);
}

static drape_equality equality_of(const drape_i_stitch *s) {
    drape_equality e = {.count = s->count, .directions = s->directions};
    memcpy(e.vertex, s->vertex, sizeof e.vertex);
    memcpy(e.w, s->w, sizeof e.w);
    memcpy(e.direction, s->direction, sizeof e.direction);
    return e;
}

/* The constraints are those of all pins that are not springs, at rest (drape_i_sim_hold). */
drape_status drape_i_stitches_place(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    drape_status status = DRAPE_OK;
    for (int32_t i = 0; t && i < t->count && !status; i++) {
        offset_of(&t->item[i], sim->x, t->item[i].gap);
        status = check_gap(sim->ctx, &t->item[i]);
    }
    if (!t || status || t->exact == 0) return status;
    for (int32_t i = 0; i < t->exact; i++) {
        t->list[i] = equality_of(&t->item[i]);
        for (int32_t k = 0; k < 3 && t->item[i].close > 0; k++) t->list[i].value[k] = -t->item[i].gap[k];
    }
    t->listed = t->exact;
    status = drape_constraints_couple(sim->constraints, t->list, t->listed, OPEN);
    return status == DRAPE_ERROR_ARGUMENT ? explain(sim, status) : status;
}

/* ---- In a step ---- */

static drape_status couple(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    drape_status status = drape_constraints_couple(sim->constraints, t->list, t->listed, t->tolerance);
    return status == DRAPE_ERROR_ARGUMENT ? explain(sim, status) : status;
}

/* Beyond what rounding leaves. */
void drape_i_stitches_begin(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    for (int32_t i = 0; t && i < t->exact; i++) {
        drape_i_stitch *s = &t->item[i];
        memset(s->lag, 0, sizeof s->lag);
        if (!sim->contact) continue;
        double lag[3];
        stretch_of(s, drape_sim_time(sim), sim->x, lag);
        if (fmax(fmax(fabs(lag[0]), fabs(lag[1])), fabs(lag[2])) > SMALL_LAG) memcpy(s->lag, lag, sizeof lag);
    }
}

drape_status drape_i_stitches_constrain(drape_sim *sim, const drape_i_aim *aim) {
    drape_i_stitches *t = sim->stitches;
    if (!t || t->exact == 0) return DRAPE_OK;
    t->tolerance = SAME_PLACE / aim->c * aim->factor;
    for (int32_t i = 0; i < t->exact; i++) {
        const drape_i_stitch *s = &t->item[i];
        double Dx[3], Dv[3] = {0}, rest = rest_of(s, aim->t);
        offset_of(s, aim->x, Dx);
        if (aim->v) offset_of(s, aim->v, Dv);
        for (int32_t k = 0; k < 3; k++)
            t->list[i].value[k] = aim->factor * ((rest * s->gap[k] + KEPT * s->lag[k] - Dx[k]) / aim->c - Dv[k]);
    }
    return couple(sim);
}

drape_status drape_i_stitches_hold_still(drape_sim *sim) {
    drape_i_stitches *t = sim->stitches;
    if (!t || t->exact == 0) return DRAPE_OK;
    for (int32_t i = 0; i < t->listed; i++) memset(t->list[i].value, 0, sizeof t->list[i].value);
    return couple(sim);
}

drape_status drape_i_stitches_follow(drape_sim *sim, const double *u) {
    drape_i_stitches *t = sim->stitches;
    if (!t || t->exact == 0) return DRAPE_OK;
    for (int32_t i = 0; i < t->listed; i++) {
        drape_equality *e = &t->list[i];
        for (int32_t k = 0; k < 3; k++) {
            e->value[k] = 0;
            for (int32_t a = 0; a < e->count; a++) e->value[k] += e->w[a] * u[3 * (int64_t)e->vertex[a] + k];
        }
    }
    return couple(sim);
}

drape_status drape_i_stitches_add_contact(drape_sim *sim, int32_t source, const drape_constraint *what) {
    drape_i_stitches *t = sim->stitches;
    if (!drape_i_stitched(sim, what->vertex) || t->listed == t->room || what->directions == 0)
        return drape_constraint_builder_add(sim->builder, source, what);
    drape_equality *e = &t->list[t->listed++];
    *e = (drape_equality){
        .count = 1, .vertex = {what->vertex}, .w = {1}, .directions = what->directions, .yields = true};
    memcpy(e->direction, what->direction, sizeof e->direction);
    memcpy(e->value, what->z, sizeof e->value);
    return DRAPE_OK;
}

void drape_i_stitches_keep(drape_sim *sim, const double *v) {
    drape_i_stitches *t = sim->stitches;
    for (int32_t i = 0; t && i < t->exact; i++)
        for (int32_t a = 0; a < t->item[i].count; a++)
            memcpy(t->before + 3 * (DRAPE_EQUALITY_VERTICES * (int64_t)i + a), v + 3 * (int64_t)t->item[i].vertex[a],
                   3 * sizeof *v);
}

bool drape_i_stitches_changed(const drape_sim *sim, const double *v) {
    const drape_i_stitches *t = sim->stitches;
    for (int32_t i = 0; t && i < t->exact; i++)
        for (int32_t a = 0; a < t->item[i].count; a++) {
            const double *was = t->before + 3 * (DRAPE_EQUALITY_VERTICES * (int64_t)i + a);
            const double *is = v + 3 * (int64_t)t->item[i].vertex[a];
            double size = 0, change = 0;
            for (int32_t k = 0; k < 3; k++)
                size = fmax(size, fabs(is[k])), change = fmax(change, fabs(is[k] - was[k]));
            if (change > CHANGED * size) return true;
        }
    return false;
}

/* ---- After the solve ---- */

/* Corrects one stitch; by how much it was missed, m. */
static double correct(const drape_i_stitch *s, double t, const double *m, double *x) {
    double d[3], give = 0;
    stretch_of(s, t, x, d);
    for (int32_t a = 0; a < s->count; a++) give += s->w[a] * s->w[a] * m[s->vertex[a]];
    for (int32_t a = 0; a < s->count && give > 0; a++)
        for (int32_t k = 0; k < 3; k++) x[3 * (int64_t)s->vertex[a] + k] -= m[s->vertex[a]] * s->w[a] / give * d[k];
    return give > 0 ? fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2])) : 0;
}

/* Gauss and Seidel: pairs that share no vertex need one sweep. */
void drape_i_stitches_project(const drape_sim *sim, double t, const double *inverse_mass, double *x) {
    const drape_i_stitches *s = sim->stitches;
    double missed = INFINITY;
    for (int32_t k = 0; s && k < s->members; k++) /* the first moves them all */
        memcpy(x + 3 * (int64_t)s->member[k], x + 3 * (int64_t)s->same[s->member[k]], 3 * sizeof *x);
    for (int32_t sweep = 0; s && sweep < SWEEPS && missed > 1e-3 * SAME_PLACE; sweep++) {
        missed = 0;
        for (int32_t i = 0; i < s->exact; i++)
            if (s->tight[s->item[i].vertex[0]] >= 0) missed = fmax(missed, correct(&s->item[i], t, inverse_mass, x));
    }
}

/* From vertex to vertex of a group, which has at most 64. */
void drape_i_stitches_spread_holds(const drape_sim *sim, double *inverse_mass) {
    const drape_i_stitches *s = sim->stitches;
    bool more = s != NULL;
    while (more) {
        more = false;
        for (int32_t i = 0; i < s->exact; i++) {
            const drape_i_stitch *t = &s->item[i];
            if (t->count != 2 || t->directions != 3) continue;
            double *a = &inverse_mass[t->vertex[0]], *b = &inverse_mass[t->vertex[1]];
            if ((*a == 0) == (*b == 0)) continue;
            *a = *b = 0;
            more = true;
        }
    }
    for (int32_t k = 0; s && k < s->members; k++) {
        const int32_t v = s->member[k], first = s->same[v];
        if (v != first && inverse_mass[first] > 0)
            inverse_mass[first] = 1 / (1 / inverse_mass[first] + drape_cloth_mass(sim->cloth)[v]);
    }
}

bool drape_i_stitches_join(const drape_sim *sim, int32_t triangle, int32_t other) {
    const drape_i_stitches *s = sim->stitches;
    const int32_t *corner = drape_cloth_triangle(sim->cloth);
    for (int32_t i = 0; s && i < 3; i++) {
        const int32_t v = corner[3 * (int64_t)triangle + i];
        for (int32_t k = s->joined_first[v]; k < s->joined_first[v + 1]; k++)
            for (int32_t j = 0; j < 3; j++)
                if (s->joined[k] == corner[3 * (int64_t)other + j]) return true;
    }
    return false;
}

/* The first of a group of one point is its smallest. */
static void weld_pair(const drape_i_stitches *s, const drape_i_stitch *one) {
    int32_t a = root_of(s->same, one->vertex[0]), b = root_of(s->same, one->vertex[1]);
    if (a < b) s->same[b] = a;
    else s->same[a] = b;
}

/* tight[] of the first vertex of a group stands for all of it at first: -2: there are pairs of one point only, -1: a
 * stitch is open, or the group. */
void drape_i_stitches_weld(const drape_sim *sim, const double *x, double t) {
    const drape_i_stitches *s = sim->stitches;
    if (!s || s->exact == 0) return;
    for (int32_t k = 0; k < s->members; k++) {
        s->same[s->member[k]] = s->member[k];
        s->tight[s->member[k]] = -2;
    }
    for (int32_t i = 0; i < s->exact; i++) {
        const drape_i_stitch *one = &s->item[i];
        int32_t *is = &s->tight[s->member[s->first[s->group[one->vertex[0]]]]];
        double d[3];
        stretch_of(one, t, x, d);
        if (rest_of(one, t) > 0 || fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2])) > ONE_POINT) *is = -1;
        else if (one->count == 2 && one->directions == 3) weld_pair(s, one);
        else if (*is == -2) *is = s->group[one->vertex[0]];
    }
    for (int32_t g = 0; g < s->groups; g++) {
        const int32_t is = s->tight[s->member[s->first[g]]];
        for (int32_t k = s->first[g]; k < s->first[g + 1]; k++) {
            s->same[s->member[k]] = root_of(s->same, s->member[k]);
            s->tight[s->member[k]] = is < 0 ? -1 : is;
        }
    }
}
