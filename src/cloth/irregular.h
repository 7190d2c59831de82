/* irregular.h: what makers of irregular triangulations share: all of one at once (irregular.c), and the window of a
 * grid whose rows pass by (irregular_window.c). */
#ifndef DRAPE_CLOTH_IRREGULAR_H
#define DRAPE_CLOTH_IRREGULAR_H

#include "base/context.h"

#include <stdbool.h>

typedef enum drape_i_freedom { DRAPE_I_STAYS, DRAPE_I_SLIDES, DRAPE_I_MOVES } drape_i_freedom;

enum {
    DRAPE_I_IRREGULAR_FIXED = 12,    /* passes that are always made; those after them are rounds of repair */
    DRAPE_I_IRREGULAR_ROUNDS = 60,   /* of repair, at most */
    DRAPE_I_IRREGULAR_ATTEMPTS = 4,  /* throws of full length, a half, a quarter, none */
    DRAPE_I_IRREGULAR_UNSEEN = 255,  /* of `changed`: later than any pass */
    DRAPE_I_IRREGULAR_OWN_ROUNDS = 9 /* of random numbers before those of repair */
};

/* Triangles, as many as are here, and their vertices. Vertex v of all is number v - first here.
 *
 * With `seen` and `changed` the passes may be made side by side, each on other rows. Every triangle then remembers
 * the last pass that looked at it, and that changed it or moved a corner of it. A pass is late where a later one has
 * changed a triangle already, or has looked at one that it changes. Then the result is not that of one pass after
 * another. */
typedef struct drape_i_irregular_mesh {
    int32_t vertices, triangles;
    double *uv;
    int32_t (*corner)[3];
    int32_t *twin;        /* 3 per triangle: the half edge the other way; -1 on the boundary */
    int32_t *out;         /* one of the half edges that leave a vertex; -1: there is none */
    uint8_t *freedom;     /* one per vertex */
    int32_t *stack;       /* half edges to look at, */
    int32_t room;         /*   at most so many */
    uint8_t *queued;      /* one per half edge: it is in the stack */
    uint64_t seed, round; /* of random numbers */
    int64_t first;
    uint8_t *seen, *changed; /* one per triangle; NULL: nothing is remembered */
    uint8_t pass;            /* from 1 */
    bool late;
} drape_i_irregular_mesh;

/* Whether it is counter-clockwise and has an area; number: what the message calls it. */
drape_status drape_i_irregular_check(drape_context *ctx, const drape_i_irregular_mesh *m, int32_t t, int64_t number);
double drape_i_irregular_quality(const drape_i_irregular_mesh *m, int32_t t);
void drape_i_irregular_pair(drape_i_irregular_mesh *m, int32_t h, int32_t g); /* half edges that are twins */
/* Of a vertex all of whose triangles are here; boundary: edges there that have one triangle; -1: two or none, as the
 * triangles around it say. */
void drape_i_irregular_find_freedom(drape_i_irregular_mesh *m, int32_t v, int32_t boundary);

/* Pass `pass` (from 0) on vertices, or in repair on triangles, [from, end). base: rounds of random numbers that
 * earlier attempts took. Returns how many triangles repair found bad. */
int32_t drape_i_irregular_pass(drape_i_irregular_mesh *m, int32_t pass, double length, uint64_t base, int32_t from,
                               int32_t end);

/* Whether another round of repair follows one that found so many bad triangles. Begins with zeros. */
typedef struct drape_i_patience {
    int32_t rounds, least, idle;
} drape_i_patience;
bool drape_i_irregular_again(drape_i_patience *p, int32_t bad);

/* The worst triangle that a result may have, where the input has this one. */
double drape_i_irregular_wanted(double input);

/* The lowest vertex first, and triangles by it; those of the same stay in their order. first: vertices + 1 zeros. */
void drape_i_irregular_sort(int32_t vertices, int32_t triangles, int32_t (*corner)[3], int32_t *first,
                            int32_t (*sorted)[3]);

#endif
