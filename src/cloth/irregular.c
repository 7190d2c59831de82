/* irregular.c: turns a regular triangulation into an irregular one of good quality.
 *
 *   melt      every vertex is moved at random several times, as far as its triangles stay in shape: the order of the
 *             grid is lost
 *   smooth    every vertex is moved towards the centre of its star, a few times: slivers go, the disorder stays
 *   valence   inner vertices of 3 triangles or of more than 8 are moved at random again
 *   repair    around every angle that is still too small, vertices take the best of some random places
 *
 * After each single move the edges around are flipped until they are Delaunay. So vertices can pass each other, and a
 * star is always the best one of its points: a flip never lowers the smallest angle (R. Sibson, "Locally equiangular
 * triangulations", The Computer Journal 21, 1978). If repair does not reach its goal, all is repeated from the
 * input, with random moves half as long. Without any move the result is the input, flipped to Delaunay.
 *
 * Half edge 3t + k goes from corner k of triangle t to the next corner. A triangle's quality is the square of the
 * sine of its smallest angle, negative if it is clockwise, so no root and no arc sine are needed.
 * Cost: about 5 us and 150 bytes of scratch memory per vertex. */
#include "cloth/irregular.h"
#include "cloth/grid.h"

#include <math.h>
#include <string.h>

enum {
    MAX_STAR = 32, /* a vertex of more triangles stays where it is */
    MELT_ROUNDS = 3,
    SMOOTH_ROUNDS = 3,
    VALENCE_ROUNDS = 6,
    WIDE = 4,          /* every so many rounds of repair those around give way too */
    PATIENCE = 12,     /* rounds of repair without fewer bad triangles */
    CANDIDATES = 12,   /* places that a vertex under repair tries */
    LEAST_VALENCE = 4, /* fewest triangles of an inner vertex that are accepted */
    MOST_VALENCE = 8,  /* and the most */
};

static const double THROW = 0.55;          /* of an edge, at most */
static const double SLIDE = 0.3;           /* the same along the boundary */
static const double ROUGH = 0.0302;        /* sin^2 10 degrees: no throw goes below, if it was above */
static const double ACCEPTED = 0.11697780; /* a little over sin^2 20 degrees */
static const double GOAL = 0.14033;        /* sin^2 22 degrees: what repair tries for */

typedef struct point {
    double u, v;
} point;

enum {
    REPAIR = DRAPE_I_IRREGULAR_FIXED, /* the first pass of repair */
    STAYS = DRAPE_I_STAYS,
    SLIDES = DRAPE_I_SLIDES,
    MOVES = DRAPE_I_MOVES
};

_Static_assert(REPAIR == MELT_ROUNDS + SMOOTH_ROUNDS + VALENCE_ROUNDS, "passes before repair");
_Static_assert(DRAPE_I_IRREGULAR_OWN_ROUNDS == MELT_ROUNDS + VALENCE_ROUNDS, "smoothing has no random numbers");

typedef drape_i_irregular_mesh mesh;

/* The triangles around vertex v, counter-clockwise: triangle i is v, ring[i], ring[i+1]. */
typedef struct star {
    int32_t count; /* of triangles; 0: too many, or none */
    bool closed;
    int32_t half[MAX_STAR]; /* from v to ring[i] */
    int32_t ring[MAX_STAR + 1];
    point at[MAX_STAR + 1];
} star;

/* ---- Random numbers: a function of seed, round and vertex; splitmix64 ---- */

uint64_t drape_i_mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double drape_i_random_signed(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(drape_i_mix(*state) >> 11) * 0x1p-52 - 1;
}

static uint64_t random_state(const mesh *m, int32_t v) {
    return drape_i_mix(drape_i_mix(m->seed + m->round) ^ (uint64_t)(v + m->first));
}

/* Within the unit circle. */
static point random_direction(uint64_t *state) {
    for (;;) {
        double u = drape_i_random_signed(state), v = drape_i_random_signed(state);
        if (u * u + v * v <= 1) return (point){u, v};
    }
}

/* ---- Geometry ---- */

static point place(const mesh *m, int32_t v) { return (point){m->uv[2 * (int64_t)v], m->uv[2 * (int64_t)v + 1]}; }
static point minus(point a, point b) { return (point){a.u - b.u, a.v - b.v}; }
static point plus(point a, double s, point b) { return (point){a.u + s * b.u, a.v + s * b.v}; }
static point scaled(double s, point a) { return (point){s * a.u, s * a.v}; }
static double dot(point a, point b) { return a.u * b.u + a.v * b.v; }
static double cross(point a, point b) { return a.u * b.v - a.v * b.u; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* The smallest angle lies between the two longer sides. */
static double quality(point a, point b, point c) {
    point ab = minus(b, a), bc = minus(c, b), ca = minus(a, c);
    double area2 = cross(ab, bc), x = dot(ab, ab), y = dot(bc, bc), z = dot(ca, ca);
    double longer = x <= y && x <= z ? y * z : y <= z ? x * z : x * y;
    return longer > 0 ? area2 * fabs(area2) / longer : 0;
}

double drape_i_irregular_quality(const mesh *m, int32_t t) {
    const int32_t *c = m->corner[t];
    return quality(place(m, c[0]), place(m, c[1]), place(m, c[2]));
}

static double worst_quality(const mesh *m) {
    double worst = 1;
    for (int32_t t = 0; t < m->triangles; t++) worst = smaller(worst, drape_i_irregular_quality(m, t));
    return worst;
}

/* ---- Half edges ---- */

static int32_t next_half(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
static int32_t previous_half(int32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }
static int32_t origin(const mesh *m, int32_t h) { return m->corner[h / 3][h % 3]; }

/* Half edges are listed by their origin; the twin of one is in the list of its end. */
static void list_half_edges(mesh *m, int32_t *link) {
    for (int32_t v = 0; v < m->vertices; v++) m->out[v] = -1;
    for (int32_t h = 3 * m->triangles - 1; h >= 0; h--) {
        link[h] = m->out[origin(m, h)];
        m->out[origin(m, h)] = h;
    }
}

static drape_status find_twins(drape_context *ctx, mesh *m, const int32_t *link) {
    for (int32_t h = 0; h < 3 * m->triangles; h++) {
        int32_t a = origin(m, h), b = origin(m, next_half(h));
        m->twin[h] = -1;
        for (int32_t g = m->out[b]; g >= 0; g = link[g])
            if (origin(m, next_half(g)) == a) m->twin[h] = g;
        for (int32_t g = link[h]; g >= 0; g = link[g])
            if (origin(m, next_half(g)) == b)
                return drape_i_fail(
                    ctx, DRAPE_ERROR_ARGUMENT,
                    "triangles %d and %d run in the same direction along the edge from vertex %d to %d", h / 3, g / 3,
                    a, b);
    }
    return DRAPE_OK;
}

drape_status drape_i_irregular_check(drape_context *ctx, const mesh *m, int32_t t, int64_t number) {
    if (drape_i_irregular_quality(m, t) > 0) return DRAPE_OK;
    return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "triangle %lld is clockwise or has no area", (long long)number);
}

static drape_status check_triangles(drape_context *ctx, const mesh *m) {
    for (int32_t t = 0; t < m->triangles; t++) {
        for (int32_t k = 0; k < 3; k++)
            if (m->corner[t][k] < 0 || m->corner[t][k] >= m->vertices)
                return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "triangle %d names vertex %d of %d", t,
                                    m->corner[t][k], m->vertices);
        drape_status status = drape_i_irregular_check(ctx, m, t, t);
        if (status) return status;
    }
    return DRAPE_OK;
}

/* ---- What passes that are made side by side have seen ---- */

static void look_at(mesh *m, int32_t t) {
    if (!m->seen) return;
    if (m->changed[t] > m->pass) m->late = true;
    if (m->seen[t] < m->pass) m->seen[t] = m->pass;
}

static void change(mesh *m, int32_t t) {
    if (!m->seen) return;
    if (m->changed[t] > m->pass || m->seen[t] > m->pass) m->late = true;
    else m->changed[t] = m->pass;
}

/* ---- Stars ---- */

/* Goes back to the boundary, if there is one, then once around. */
static void collect(mesh *m, int32_t v, star *s) {
    int32_t first = m->out[v], h = first;
    s->count = 0;
    s->closed = false;
    if (first < 0) {
        m->late = true; /* or it has no triangle, which `late` says nothing about */
        return;
    }
    look_at(m, h / 3);
    for (int32_t i = 0; m->twin[h] >= 0; i++) {
        h = next_half(m->twin[h]);
        look_at(m, h / 3);
        if (h == first) break;
        if (i == MAX_STAR) return;
    }
    m->out[v] = first = h;
    for (int32_t n = 0; n < MAX_STAR;) {
        s->half[n] = h;
        look_at(m, h / 3);
        s->ring[n] = origin(m, next_half(h));
        s->at[n] = place(m, s->ring[n]);
        s->ring[++n] = origin(m, previous_half(h));
        s->at[n] = place(m, s->ring[n]);
        h = m->twin[previous_half(h)];
        s->closed = h == first;
        if (h >= 0 && !s->closed) continue;
        s->count = n;
        return;
    }
}

static double star_quality(const star *s, point p) {
    double worst = 1;
    for (int32_t i = 0; i < s->count; i++) worst = smaller(worst, quality(p, s->at[i], s->at[i + 1]));
    return worst;
}

/* Its edge length, were it of right-angled triangles. */
static double star_size(const star *s, point p) {
    double area2 = 0;
    for (int32_t i = 0; i < s->count; i++) area2 += cross(minus(s->at[i], p), minus(s->at[i + 1], p));
    return sqrt(fabs(area2) / s->count);
}

/* From the neighbour before to the one after, where v stands on a straight part of the boundary. */
static point star_chord(const star *s) { return minus(s->at[0], s->at[s->count]); }

/* ---- Flips ---- */

static void push(mesh *m, int32_t *depth, int32_t h) {
    if (m->twin[h] < 0 || m->queued[h] || m->queued[m->twin[h]]) return;
    if (*depth == m->room) {
        m->late = true;
        return;
    }
    m->queued[h] = 1;
    m->stack[(*depth)++] = h;
}

void drape_i_irregular_pair(mesh *m, int32_t h, int32_t g) {
    m->twin[h] = g;
    if (g >= 0) m->twin[g] = h;
}

static void pair(mesh *m, int32_t h, int32_t g) {
    change(m, h / 3);
    if (g >= 0) change(m, g / 3);
    drape_i_irregular_pair(m, h, g);
}

/* Triangles a b c and b a d become a d c and d b c. */
static void flip(mesh *m, int32_t h, int32_t *depth) {
    int32_t g = m->twin[h], x = h / 3, y = g / 3;
    int32_t a = origin(m, h), b = origin(m, g), c = origin(m, previous_half(h)), d = origin(m, previous_half(g));
    int32_t bc = m->twin[next_half(h)], ca = m->twin[previous_half(h)];
    int32_t ad = m->twin[next_half(g)], db = m->twin[previous_half(g)];
    m->corner[x][0] = a, m->corner[x][1] = d, m->corner[x][2] = c;
    m->corner[y][0] = d, m->corner[y][1] = b, m->corner[y][2] = c;
    pair(m, 3 * x, ad);
    pair(m, 3 * x + 2, ca);
    pair(m, 3 * y, db);
    pair(m, 3 * y + 1, bc);
    pair(m, 3 * x + 1, 3 * y + 2);
    m->out[a] = 3 * x, m->out[d] = 3 * y, m->out[b] = 3 * y + 1, m->out[c] = 3 * x + 2;
    push(m, depth, 3 * x);
    push(m, depth, 3 * x + 2);
    push(m, depth, 3 * y);
    push(m, depth, 3 * y + 1);
}

/* The two angles opposite to the edge sum up to more than pi: sin (c + d) < 0. Beyond rounding, so that four points
 * on a circle are left as they are and flipping ends. */
static bool should_flip(mesh *m, int32_t h) {
    const double rounding = 1e-10;
    int32_t g = m->twin[h];
    look_at(m, h / 3);
    look_at(m, g / 3);
    point a = place(m, origin(m, h)), b = place(m, origin(m, g));
    point c = place(m, origin(m, previous_half(h))), d = place(m, origin(m, previous_half(g)));
    point ca = minus(a, c), cb = minus(b, c), da = minus(a, d), db = minus(b, d);
    double sin_c = cross(ca, cb), cos_c = dot(ca, cb), sin_d = cross(db, da), cos_d = dot(da, db);
    double scale = (fabs(sin_c) + fabs(cos_c)) * (fabs(sin_d) + fabs(cos_d));
    if (sin_c * cos_d + cos_c * sin_d >= -rounding * scale) return false;
    return cross(da, minus(c, d)) < 0 && cross(db, minus(c, d)) > 0;
}

static void flip_all(mesh *m, int32_t depth) {
    while (depth) {
        int32_t h = m->stack[--depth];
        m->queued[h] = 0;
        if (m->twin[h] >= 0 && should_flip(m, h)) flip(m, h, &depth);
    }
}

static void flip_everywhere(mesh *m) {
    int32_t depth = 0;
    for (int32_t h = 3 * m->triangles - 1; h >= 0; h--) push(m, &depth, h);
    flip_all(m, depth);
}

/* Puts v to p, where its star is still in shape, and flips what is around. */
static void move(mesh *m, int32_t v, const star *s, point p) {
    int32_t depth = 0;
    m->uv[2 * (int64_t)v] = p.u;
    m->uv[2 * (int64_t)v + 1] = p.v;
    for (int32_t i = 0; i < s->count; i++) change(m, s->half[i] / 3);
    for (int32_t i = s->count - 1; i >= 0; i--) {
        push(m, &depth, next_half(s->half[i]));
        push(m, &depth, s->half[i]);
    }
    flip_all(m, depth);
}

/* ---- What may move ---- */

/* One fan of triangles, and its first and last edge on a line. */
static bool on_straight_part(const star *s, point p, int32_t boundary_edges) {
    const double rounding = 1e-9;
    point a = minus(s->at[0], p), b = minus(p, s->at[s->count]);
    return boundary_edges == 2 && fabs(cross(a, b)) <= rounding * dot(a, b);
}

void drape_i_irregular_find_freedom(mesh *m, int32_t v, int32_t boundary) {
    star s;
    collect(m, v, &s);
    if (boundary < 0) boundary = s.closed ? 0 : 2;
    m->freedom[v] = STAYS;
    if (s.closed && !boundary) m->freedom[v] = MOVES;
    if (s.count && !s.closed && on_straight_part(&s, place(m, v), boundary)) m->freedom[v] = SLIDES;
}

/* boundary: zeros, one per vertex. */
static void find_freedom(mesh *m, int32_t *boundary) {
    for (int32_t h = 0; h < 3 * m->triangles; h++)
        if (m->twin[h] < 0) {
            boundary[origin(m, h)]++;
            boundary[origin(m, next_half(h))]++;
        }
    for (int32_t v = 0; v < m->vertices; v++) drape_i_irregular_find_freedom(m, v, boundary[v]);
}

/* ---- The stages ---- */

/* A throw that would spoil the star goes half as far, and so on. */
static void throw_vertex(mesh *m, int32_t v, double length) {
    star s;
    uint64_t state = random_state(m, v);
    collect(m, v, &s);
    if (!s.count) return;
    point p = place(m, v), by;
    if (m->freedom[v] == MOVES) {
        by = scaled(THROW * length * star_size(&s, p), random_direction(&state));
    } else {
        by = scaled(0.5 * SLIDE * length * drape_i_random_signed(&state), star_chord(&s));
    }
    double least = smaller(ROUGH, star_quality(&s, p));
    for (double share = 1; share > 0.1; share /= 2) {
        point to = plus(p, share, by);
        if (star_quality(&s, to) < least) continue;
        move(m, v, &s, to);
        return;
    }
}

/* Centre of the star's area, or the middle between both neighbours on the boundary. */
static point star_centre(const mesh *m, int32_t v, const star *s) {
    point p = place(m, v), sum = {0, 0};
    double area = 0;
    if (m->freedom[v] == SLIDES) {
        point chord = star_chord(s), from = minus(p, s->at[s->count]);
        return plus(p, 0.5 - dot(from, chord) / dot(chord, chord), chord);
    }
    for (int32_t i = 0; i < s->count; i++) {
        point a = minus(s->at[i], p), b = minus(s->at[i + 1], p);
        double w = cross(a, b);
        sum = plus(plus(sum, w, a), w, b);
        area += w;
    }
    return plus(p, 1 / (3 * area), sum);
}

static void smooth_vertex(mesh *m, int32_t v) {
    const double relaxation = 0.7;
    star s;
    collect(m, v, &s);
    if (!s.count) return;
    point p = place(m, v), by = minus(star_centre(m, v, &s), p);
    double least = smaller(GOAL, star_quality(&s, p));
    for (double share = relaxation; share > 0.1; share /= 2) {
        point to = plus(p, share, by);
        if (star_quality(&s, to) < least) continue;
        move(m, v, &s, to);
        return;
    }
}

/* The first candidate is the centre, the others lie around where v is, nearer and nearer. */
static point candidate(const mesh *m, int32_t v, const star *s, int32_t i, uint64_t *state) {
    const double reach = 0.6;
    point p = place(m, v);
    double length = reach * (CANDIDATES - i) / CANDIDATES;
    if (i == 0) return star_centre(m, v, s);
    if (m->freedom[v] == SLIDES) return plus(p, 0.5 * length * drape_i_random_signed(state), star_chord(s));
    return plus(p, length * star_size(s, p), random_direction(state));
}

static void repair_vertex(mesh *m, int32_t v) {
    star s;
    uint64_t state = random_state(m, v);
    if (m->freedom[v] == STAYS) return;
    collect(m, v, &s);
    if (!s.count) return;
    point best = place(m, v);
    double now = star_quality(&s, best), most = now;
    for (int32_t i = 0; i < CANDIDATES && most < GOAL; i++) {
        point p = candidate(m, v, &s, i, &state);
        double q = star_quality(&s, p);
        if (q > most) {
            most = q;
            best = p;
        }
    }
    if (most > now) move(m, v, &s, best);
}

static void smooth_around(mesh *m, int32_t v) {
    star s;
    collect(m, v, &s);
    for (int32_t i = 0; i < s.count; i++)
        if (m->freedom[s.ring[i]] != STAYS) smooth_vertex(m, s.ring[i]);
}

/* The corners of a bad triangle, each the better of where it stands and where it could. */
static void repair_around(mesh *m, int32_t t, bool wide) {
    int32_t corner[3] = {m->corner[t][0], m->corner[t][1], m->corner[t][2]};
    for (int32_t k = 0; k < 3; k++) {
        if (wide) smooth_around(m, corner[k]);
        repair_vertex(m, corner[k]);
    }
}

static int32_t repair(mesh *m, bool wide, int32_t from, int32_t end) {
    int32_t bad = 0;
    for (int32_t t = from; t < end; t++) {
        look_at(m, t);
        if (drape_i_irregular_quality(m, t) >= GOAL) continue;
        bad++;
        repair_around(m, t, wide);
    }
    return bad;
}

static void fix_valence(mesh *m, double length, int32_t v) {
    star s;
    if (m->freedom[v] != MOVES) return;
    collect(m, v, &s);
    if (s.count >= LEAST_VALENCE && s.count <= MOST_VALENCE) return;
    throw_vertex(m, v, length);
    smooth_around(m, v);
}

/* ---- Passes ---- */

int32_t drape_i_irregular_pass(mesh *m, int32_t pass, double length, uint64_t base, int32_t from, int32_t end) {
    const int32_t smooth = MELT_ROUNDS, valence = smooth + SMOOTH_ROUNDS, round = pass - REPAIR + 1;
    m->pass = (uint8_t)(pass + 1);
    m->round = base + (uint64_t)(pass < smooth ? pass + 1 : pass + 1 - SMOOTH_ROUNDS);
    if (round > 0) return repair(m, round % WIDE == 0, from, end);
    for (int32_t v = from; v < end; v++) {
        if (m->freedom[v] == STAYS) continue;
        if (pass < smooth) throw_vertex(m, v, length);
        else if (pass < valence) smooth_vertex(m, v);
        else fix_valence(m, length, v);
    }
    return 0;
}

bool drape_i_irregular_again(drape_i_patience *p, int32_t bad) {
    const bool better = p->rounds == 0 || bad < p->least;
    p->rounds++;
    p->idle = better ? 0 : p->idle + 1;
    if (better) p->least = bad;
    return bad > 0 && p->rounds < DRAPE_I_IRREGULAR_ROUNDS && p->idle < PATIENCE;
}

double drape_i_irregular_wanted(double input) { return smaller(ACCEPTED, input); }

/* Returns how many rounds of random numbers it took. */
static uint64_t attempt(mesh *m, double length, uint64_t base) {
    drape_i_patience patience = {0};
    int32_t pass = 0, bad;
    flip_everywhere(m);
    if (length == 0) return 0;
    for (; pass < REPAIR; pass++) drape_i_irregular_pass(m, pass, length, base, 0, m->vertices);
    do bad = drape_i_irregular_pass(m, pass++, length, base, 0, m->triangles);
    while (drape_i_irregular_again(&patience, bad));
    return DRAPE_I_IRREGULAR_OWN_ROUNDS + (uint64_t)patience.rounds;
}

/* ---- All of it ---- */

void drape_i_irregular_sort(int32_t vertices, int32_t triangles, int32_t (*corner)[3], int32_t *first,
                            int32_t (*sorted)[3]) {
    for (int32_t t = 0; t < triangles; t++) {
        int32_t *c = corner[t], a = c[0], b = c[1], d = c[2];
        if (b < a && b < d) c[0] = b, c[1] = d, c[2] = a;
        else if (d < a && d < b) c[0] = d, c[1] = a, c[2] = b;
        first[c[0] + 1]++;
    }
    for (int32_t v = 0; v < vertices; v++) first[v + 1] += first[v];
    for (int32_t t = 0; t < triangles; t++) memcpy(sorted[first[corner[t][0]]++], corner[t], sizeof *sorted);
    memcpy(corner, sorted, (size_t)triangles * sizeof *sorted);
}

/* The input, to begin again from. */
typedef struct copy {
    double *uv;
    int32_t (*corner)[3], *twin, *out;
} copy;

typedef struct scratch {
    copy input;
    int32_t *link, *count;
} scratch;

static drape_status allocate(drape_context *ctx, drape_i_arena *arena, mesh *m, scratch *s) {
    int64_t halves = 3 * (int64_t)m->triangles, n = m->vertices;
    m->twin = drape_i_arena_get(ctx, arena, halves, sizeof *m->twin);
    m->out = drape_i_arena_get(ctx, arena, n, sizeof *m->out);
    m->freedom = drape_i_arena_get(ctx, arena, n, sizeof *m->freedom);
    m->stack = drape_i_arena_get(ctx, arena, halves, sizeof *m->stack);
    m->queued = drape_i_arena_get(ctx, arena, halves, sizeof *m->queued);
    s->input.uv = drape_i_arena_get(ctx, arena, 2 * n, sizeof *s->input.uv);
    s->input.corner = drape_i_arena_get(ctx, arena, m->triangles, sizeof *s->input.corner);
    s->input.twin = drape_i_arena_get(ctx, arena, halves, sizeof *s->input.twin);
    s->input.out = drape_i_arena_get(ctx, arena, n, sizeof *s->input.out);
    s->count = drape_i_arena_get(ctx, arena, n + 1, sizeof *s->count);
    s->link = m->stack;
    m->room = 3 * m->triangles;
    return m->twin && m->out && m->freedom && m->stack && m->queued && s->input.uv && s->input.corner &&
                   s->input.twin && s->input.out && s->count
               ? DRAPE_OK
               : DRAPE_ERROR_MEMORY;
}

static void transfer(const mesh *m, const copy *from, const copy *to) {
    memcpy(to->uv, from->uv, 2 * (size_t)m->vertices * sizeof *to->uv);
    memcpy(to->corner, from->corner, (size_t)m->triangles * sizeof *to->corner);
    memcpy(to->twin, from->twin, 3 * (size_t)m->triangles * sizeof *to->twin);
    memcpy(to->out, from->out, (size_t)m->vertices * sizeof *to->out);
}

static drape_status make_irregular(drape_context *ctx, mesh *m, scratch *s) {
    drape_status status = check_triangles(ctx, m);
    if (status) return status;
    list_half_edges(m, s->link);
    if ((status = find_twins(ctx, m, s->link))) return status;
    find_freedom(m, s->count);
    copy present = {m->uv, m->corner, m->twin, m->out};
    double length = 1, wanted = drape_i_irregular_wanted(worst_quality(m));
    uint64_t rounds = 0;
    transfer(m, &present, &s->input);
    for (int32_t i = 1; i <= DRAPE_I_IRREGULAR_ATTEMPTS; i++, length /= 2) {
        rounds += attempt(m, i < DRAPE_I_IRREGULAR_ATTEMPTS ? length : 0, rounds);
        if (i == DRAPE_I_IRREGULAR_ATTEMPTS || worst_quality(m) >= wanted) break;
        transfer(m, &s->input, &present);
    }
    memset(s->count, 0, ((size_t)m->vertices + 1) * sizeof *s->count);
    drape_i_irregular_sort(m->vertices, m->triangles, m->corner, s->count, s->input.corner);
    return DRAPE_OK;
}

drape_status drape_i_irregular(drape_context *ctx, uint64_t seed, int32_t vertices, double *uv, int32_t triangles,
                               int32_t (*triangle)[3]) {
    drape_i_arena arena = {0};
    scratch s = {0};
    mesh m = {.vertices = vertices, .triangles = triangles, .uv = uv, .corner = triangle, .seed = drape_i_mix(seed)};
    if (vertices < 0 || triangles < 0 || triangles > INT32_MAX / 3)
        return drape_i_fail(ctx, DRAPE_ERROR_ARGUMENT, "%d vertices and %d triangles", vertices, triangles);
    drape_status status = allocate(ctx, &arena, &m, &s);
    if (!status) status = make_irregular(ctx, &m, &s);
    drape_i_arena_free(ctx, &arena);
    return status;
}

/* ---- Tubes ---- */

/* Regular cells between columns i and i + 1. */
static void add_column(drape_i_grid *g, int32_t i) {
    for (int32_t j = g->window.from[1]; j + 1 < g->window.to[1]; j++) {
        int32_t a = drape_i_grid_vertex(g, i, j), b = a + 1, d = drape_i_grid_vertex(g, i, j + 1), c = d + 1;
        int32_t(*t)[3] = g->triangle + g->triangles;
        t[0][0] = a, t[0][1] = b, t[0][2] = c;
        t[1][0] = a, t[1][1] = c, t[1][2] = d;
        g->triangles += 2;
    }
}

void drape_i_irregular_inner(const drape_i_grid *g, drape_i_grid *inner) {
    const int32_t columns = g->nx - 2;
    *inner =
        (drape_i_grid){.nx = columns, .ny = g->ny, .cut_x = columns - 1, .cut_y = g->ny - 1, .height = g->height};
    inner->width = g->width * (columns - 1) / (g->nx - 1);
}

void drape_i_irregular_seam(drape_i_grid *g) {
    add_column(g, 0);
    add_column(g, g->nx - 2);
}

drape_status drape_i_irregular_tube(drape_context *ctx, uint64_t seed, drape_i_grid *g) {
    DRAPE_ASSERT(g->nx >= 4 && g->vertices == g->nx * g->ny);
    const int32_t columns = g->nx - 2;
    drape_i_arena arena = {0};
    drape_i_grid inner;
    drape_i_irregular_inner(g, &inner);
    drape_status status = drape_i_grid_make(ctx, &arena, &inner);
    if (!status) status = drape_i_irregular(ctx, seed, inner.vertices, inner.uv, inner.triangles, inner.triangle);
    for (int32_t v = 0; v < inner.vertices && !status; v++)
        for (int32_t k = 0; k < 2; k++)
            g->uv[2 * (v % columns + 1 + (int64_t)g->nx * (v / columns)) + k] = inner.uv[2 * (int64_t)v + k];
    for (g->triangles = 0; g->triangles < inner.triangles && !status; g->triangles++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t v = inner.triangle[g->triangles][k];
            g->triangle[g->triangles][k] = v % columns + 1 + g->nx * (v / columns);
        }
    if (!status) drape_i_irregular_seam(g);
    drape_i_arena_free(ctx, &arena);
    return status;
}
