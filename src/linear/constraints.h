/* constraints.h: S and z, kept for the constrained vertices only. */
#ifndef DRAPE_LINEAR_CONSTRAINTS_H
#define DRAPE_LINEAR_CONSTRAINTS_H

#include "base/context.h"
#include "drape/solve.h"

/* One constrained vertex. */
typedef struct drape_i_held {
    int32_t vertex;
    bool fixed;  /* in all directions: S = 0 */
    double S[9]; /* I - sum of d d' over its directions, row by row */
    double z[3]; /* (I-S) of what was given */
} drape_i_held;

typedef struct drape_i_groups drape_i_groups; /* groups.h */

struct drape_constraints {
    drape_context *ctx;
    int32_t vertices, count;
    drape_i_held *held;              /* count of them, ascending by vertex; room for `vertices` */
    drape_i_held *next;              /* where a new set is prepared; the two change places */
    int32_t *index;                  /* vertices: where each is in held, -1: free */
    bool moving;                     /* some z is not zero */
    drape_i_groups *groups;          /* of equalities; vertices in one are not in held. NULL: there never were any */
    const drape_i_groups *turned_by; /* this set is that of the unknowns y of these groups; NULL: of x */
};

/* The prepared set, `count` of set->next, becomes the present one. Errors: a vertex that is listed twice. */
drape_status drape_i_constraints_adopt(drape_constraints *set, int32_t count);

/* Makes d[n] orthogonal to the orthonormal d[0..n-1] and of length one; false where it has no length or lies in their
 * span. */
bool drape_i_orthonormalise(double d[3][3], int32_t n);

/* A set may have groups in these, and in drape_i_filter_complement and drape_i_blend. Inside a solve it has none:
 * that is one of turned unknowns (turned.h).
 *
 * v = S v and v = (I-S) v, in place, on all vertices. set may be NULL: S = I. */
void drape_i_filter(const drape_constraints *set, double *v);
/* The same as the first for the vertices [begin, end) only, in the calling thread. */
void drape_i_filter_rows(const drape_constraints *set, double *v, int64_t begin, int64_t end);
/* The first vertex of [begin, end) that is held in all directions; end if there is none. *at: where to go on in
 * the list, begun with -1. */
int64_t drape_i_next_fixed(const drape_constraints *set, int64_t begin, int64_t end, int32_t *at);
void drape_i_filter_complement(const drape_constraints *set, int32_t vertices, double *v);
/* x = S y + (I-S) z; y may be NULL (zero) or x. */
void drape_i_blend(const drape_constraints *set, int32_t vertices, const double *y, double *x);

#endif
