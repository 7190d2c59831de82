/* pair.c: how two triangles meet, from exact signs alone. So the answer is right for every input: coplanar and
 * collinear triangles, triangles without area, edges that pass exactly through edges or vertices.
 *
 * An edge pq crosses a triangle if p and q lie strictly on different sides of its plane, and the line passes all
 * three sides strictly in the same sense. It touches where they have a point in common all the same, apart from
 * vertices that they share. Two triangles cross where open segments, in which they cut the line common to their
 * planes, overlap.
 *
 * Almost all pairs that are near each other end after six signs or fewer: one triangle lies on one side of the
 * other's plane. */
#include "crossings/pair.h"
#include "crossings/orient.h"

/* ---- Points and segments within a plane or a line ---- */

static bool between(double low, double x, double high) {
    return low <= high ? low <= x && x <= high : high <= x && x <= low;
}

/* x, on the line ab as seen in u and v, within the segment. */
static bool in_span(const double *a, const double *b, const double *x, int u, int v) {
    return between(a[u], x[u], b[u]) && between(a[v], x[v], b[v]);
}

/* Closed segments as seen in u and v; each may be a point. */
static bool segments_meet(const double *a, const double *b, const double *p, const double *q, int u, int v) {
    int ap = drape_i_orient2d(a, b, p, u, v), aq = drape_i_orient2d(a, b, q, u, v);
    if (ap * aq > 0) return false;
    int pa = drape_i_orient2d(p, q, a, u, v), pb = drape_i_orient2d(p, q, b, u, v);
    if (pa * pb > 0) return false;
    if (ap * aq < 0 && pa * pb < 0) return true;
    return (ap == 0 && in_span(a, b, p, u, v)) || (aq == 0 && in_span(a, b, q, u, v)) ||
           (pa == 0 && in_span(p, q, a, u, v)) || (pb == 0 && in_span(p, q, b, u, v));
}

/* Points of space on one line; for axis k the coordinates u and v that are left are k + 1 and k + 2. */
static bool collinear(const double *a, const double *b, const double *c) {
    for (int k = 0; k < 3; k++)
        if (drape_i_orient2d(a, b, c, (k + 1) % 3, (k + 2) % 3) != 0) return false;
    return true;
}

static bool on_segment(const double *a, const double *b, const double *x) {
    return between(a[0], x[0], b[0]) && between(a[1], x[1], b[1]) && between(a[2], x[2], b[2]) && collinear(a, b, x);
}

/* Closed segments in space. Where four points lie in a plane, but not on a line, some projection keeps three of them
 * off a line, and then shows the plane one to one. On a common line it is enough to look at the spans. */
static bool segments_meet_in_space(const double *a, const double *b, const double *p, const double *q) {
    if (drape_i_orient3d(a, b, p, q) != 0) return false;
    for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, v = (k + 2) % 3;
        if (drape_i_orient2d(a, b, p, u, v) != 0 || drape_i_orient2d(a, b, q, u, v) != 0 ||
            drape_i_orient2d(p, q, a, u, v) != 0 || drape_i_orient2d(p, q, b, u, v) != 0)
            return segments_meet(a, b, p, q, u, v);
    }
    return on_segment(a, b, p) || on_segment(a, b, q) || on_segment(p, q, a) || on_segment(p, q, b);
}

/* ---- An edge in the plane of a triangle ---- */

/* A projection that shows the triangle. */
typedef struct view {
    int u, v;
    int turn; /* 1: its corners go around counter-clockwise; -1: clockwise; 0: there is none, it has no area */
} view;

static view view_of(const drape_i_facet *t) {
    for (int k = 2; k >= 0; k--) {
        view w = {(k + 1) % 3, (k + 2) % 3, 0};
        w.turn = drape_i_orient2d(t->x[0], t->x[1], t->x[2], w.u, w.v);
        if (w.turn != 0) return w;
    }
    return (view){0, 1, 0};
}

/* A point of the plane, in the closed triangle. */
static bool inside(const drape_i_facet *t, const view *w, const double *p) {
    for (int k = 0; k < 3; k++)
        if (w->turn * drape_i_orient2d(t->x[k], t->x[(k + 1) % 3], p, w->u, w->v) < 0) return false;
    return true;
}

/* The same of a triangle without area, which is the segment between two of its corners, and all its edges. */
static bool inside_flat(const drape_i_facet *t, const double *p) {
    for (int k = 0; k < 3; k++)
        if (on_segment(t->x[k], t->x[(k + 1) % 3], p)) return true;
    return false;
}

static bool same_place(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* The edge from the triangle's corner number `corner` to q meets it elsewhere than at that place. */
static bool leaves_into(const drape_i_facet *t, const view *w, int corner, const double *q) {
    const double *v = t->x[corner], *next = t->x[(corner + 1) % 3], *last = t->x[(corner + 2) % 3];
    if (same_place(v, q)) return false;
    if (w->turn != 0) /* the direction lies in the angle at that corner */
        return w->turn * drape_i_orient2d(v, next, q, w->u, w->v) >= 0 &&
               w->turn * drape_i_orient2d(v, q, last, w->u, w->v) >= 0;
    return inside_flat(t, q) || (!same_place(v, next) && on_segment(v, q, next)) ||
           (!same_place(v, last) && on_segment(v, q, last));
}

static bool overlaps(const drape_i_facet *t, const view *w, const double *p, const double *q) {
    if (w->turn == 0) {
        for (int k = 0; k < 3; k++)
            if (segments_meet_in_space(t->x[k], t->x[(k + 1) % 3], p, q)) return true;
        return false;
    }
    if (inside(t, w, p) || inside(t, w, q)) return true;
    for (int k = 0; k < 3; k++)
        if (segments_meet(t->x[k], t->x[(k + 1) % 3], p, q, w->u, w->v)) return true;
    return false;
}

/* ---- An edge and a triangle ---- */

static int corner_of(const drape_i_facet *t, int32_t vertex) {
    for (int k = 0; k < 3; k++)
        if (t->vertex[k] == vertex) return k;
    return -1;
}

/* p and q lie strictly on different sides. */
static drape_i_meeting pierce(const drape_i_facet *t, const double *p, const double *q) {
    int plus = 0, minus = 0;
    for (int k = 0; k < 3; k++) {
        int s = drape_i_orient3d(p, q, t->x[k], t->x[(k + 1) % 3]);
        plus += s > 0, minus += s < 0;
        if (plus && minus) return DRAPE_I_APART;
    }
    return plus + minus == 3 ? DRAPE_I_CROSS : DRAPE_I_TOUCH;
}

/* At least one end of the edge lies in the plane; sp, sq: on which sides of it the ends are. */
static drape_i_meeting lie_on(const drape_i_facet *t, const drape_i_facet *of, int k, int sp, int sq) {
    int last = (k + 1) % 3, p_corner = corner_of(t, of->vertex[k]), q_corner = corner_of(t, of->vertex[last]);
    const double *p = of->x[k], *q = of->x[last];
    bool meet;
    if (sp != 0 || sq != 0) { /* one end is the only point in the plane */
        if ((sp == 0 ? p_corner : q_corner) >= 0) return DRAPE_I_APART;
        view w = view_of(t);
        meet = inside(t, &w, sp == 0 ? p : q);
    } else {
        view w = view_of(t);
        if (p_corner >= 0) meet = leaves_into(t, &w, p_corner, q);
        else if (q_corner >= 0) meet = leaves_into(t, &w, q_corner, p);
        else meet = overlaps(t, &w, p, q);
    }
    return meet ? DRAPE_I_TOUCH : DRAPE_I_APART;
}

/* ---- Two triangles ---- */

/* On which sides of the plane of t the corners of `of` are: 0 for those that they share. Returns whether they are all
 * strictly on one side, except for those: then t and `of` have nothing in common but these. */
static bool sides(const drape_i_facet *t, const drape_i_facet *of, int s[3]) {
    int plus = 0, minus = 0, own = 0;
    for (int k = 0; k < 3; k++) {
        bool shared = corner_of(t, of->vertex[k]) >= 0;
        s[k] = shared ? 0 : drape_i_orient3d(t->x[0], t->x[1], t->x[2], of->x[k]);
        own += !shared, plus += s[k] > 0, minus += s[k] < 0;
    }
    return own > 0 && (plus == own || minus == own);
}

/* The corner that is alone on its side of a plane, while the others are beyond it or on it; -1: no corner is, since
 * not both sides have one. */
static int alone(const int s[3]) {
    for (int k = 0; k < 3; k++) {
        int next = s[(k + 1) % 3], last = s[(k + 2) % 3];
        if (s[k] != 0 && s[k] * next <= 0 && s[k] * last <= 0 && (next != 0 || last != 0)) return k;
    }
    return -1;
}

/* Whether the interiors have points in common. The common line of the two planes meets two edges of each triangle,
 * those at the corner that is alone on its side. orient3d of an edge of each gives the order of the two points on the
 * line, up to a sign that is the same for all four. The open segments are disjoint exactly where no end of one comes
 * before one of the other, or none behind. */
static bool interiors_meet(const drape_i_facet *a, const int sa[3], const drape_i_facet *b, const int sb[3]) {
    int i = alone(sa), j = alone(sb), plus = 0, minus = 0;
    if (i < 0 || j < 0) return false;
    for (int k = 1; k <= 2; k++)
        for (int l = 1; l <= 2; l++) {
            int order = drape_i_orient3d(a->x[i], a->x[(i + k) % 3], b->x[j], b->x[(j + l) % 3]);
            plus += order > 0, minus += order < 0;
        }
    return plus && minus;
}

/* The edges of one triangle against the other. Returns whether any crosses it, owned or not: of an edge between two
 * triangles without area both count. */
static bool test_edges(const drape_i_facet *t, const drape_i_facet *of, const int s[3], drape_i_meeting out[3]) {
    bool crossed = false;
    for (int k = 0; k < 3; k++) {
        int last = (k + 1) % 3;
        bool owned = of->owned >> k & 1;
        out[k] = DRAPE_I_APART;
        if (s[k] * s[last] > 0) continue;
        if (s[k] * s[last] < 0) {
            drape_i_meeting m = pierce(t, of->x[k], of->x[last]);
            crossed |= m == DRAPE_I_CROSS;
            if (owned) out[k] = m;
        } else if (owned && !(corner_of(t, of->vertex[k]) >= 0 && corner_of(t, of->vertex[last]) >= 0)) {
            out[k] = lie_on(t, of, k, s[k], s[last]);
        }
    }
    return crossed;
}

bool drape_i_pair_test(const drape_i_facet *a, const drape_i_facet *b, drape_i_pair *out) {
    int sa[3], sb[3];
    bool any = false;
    if (sides(b, a, sa) || sides(a, b, sb)) return false;
    out->cross = test_edges(b, a, sa, out->edge[0]);
    out->cross |= test_edges(a, b, sb, out->edge[1]);
    if (!out->cross) out->cross = interiors_meet(a, sa, b, sb);
    for (int k = 0; k < 3; k++) any |= out->edge[0][k] != DRAPE_I_APART || out->edge[1][k] != DRAPE_I_APART;
    return any || out->cross;
}
