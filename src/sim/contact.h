/* contact.h: the parts of contact in a step.
 *
 *   begin      contact_pinch.c: which pinched vertices are free again, and where the others move
 *              contact_touch.c: which vertices of the cloth touch an object, and whether they stick to it
 *   constrain  their normals, or all directions, join the pins in S and z
 *   assemble   friction of vertices that rub; springs where edges and faces come too near (contact_springs.c)
 *   solve      contacts that would pull are released
 *   respond    contact_respond.c: pairs that would still meet during the step are kept apart
 *   finish     the forces of the solve decide which vertices stick in the next step */
#ifndef DRAPE_SIM_CONTACT_H
#define DRAPE_SIM_CONTACT_H

#include "contact/response.h"
#include "contact/world.h"
#include "drape/ode.h"
#include "drape/sim.h"
#include "sim/sim.h"

/* What a vertex does on the object that it touches. Doubles: a section of checkpoints. */
typedef struct drape_i_standing {
    double mode;     /* drape_i_touch_mode after the last step */
    double collider; /* that it touches, or was pulled by */
    double load;     /* N: what pressed it on; below 0: it is free, but was pulled in the last step */
    double calm;     /* steps for which it has rubbed without sliding */
    double force[3]; /* N: friction, of a vertex that rubs */
} drape_i_standing;
enum { DRAPE_I_STANDING_NUMBERS = sizeof(drape_i_standing) / sizeof(double) };

typedef enum drape_i_touch_mode { DRAPE_I_FREE, DRAPE_I_RUBS, DRAPE_I_STICKS } drape_i_touch_mode;

/* What a pair leaves to the next step. Doubles: a section of checkpoints. */
typedef struct drape_i_rub {
    double kind;      /* drape_ccd_kind */
    double vertex[4]; /* in the world's numbers */
    double force[3];  /* N: friction */
    double firm;      /* how firmly it is kept apart: drape_i_contact_spring */
} drape_i_rub;
enum { DRAPE_I_RUB_NUMBERS = sizeof(drape_i_rub) / sizeof(double), DRAPE_I_MOST_FIRM = 1024 };

/* A vertex on an object in the step under way. */
typedef struct drape_i_touch {
    int32_t vertex, collider;
    int32_t corner[3]; /* of the triangle of a collider that deforms, in the world's numbers; else -1 */
    double weight[3];
    double n[3];     /* away from the object, unit */
    double p[3];     /* the point on the object's surface at the start, m */
    double gap;      /* m, at the start: how far outside of `distance` the vertex is */
    double distance; /* m: from the surface */
    double friction;
    int32_t spring; /* its friction, where it rubs; -1: none */
    drape_i_touch_mode mode;
    bool new_mode; /* another mode than after the step before */
    bool interior; /* the point is not on a border of a triangle */
    int32_t next;  /* of the same vertex; -1: none */
    bool chosen;   /* acts in this step */
    bool pulls;    /* in the last solve */
    bool released; /* was pulled, and let go */
} drape_i_touch;

/* Two parts that are pushed apart by a spring: e = sum w_i x_i - e_object(t) along n; and that rub across n. */
typedef struct drape_i_contact_spring {
    int32_t count, vertex[4]; /* of the cloth */
    double w[4];
    double n[3];
    double offset[2];      /* n.(where the object is, + distance) at start and end of the step, m */
    double rest;           /* m: pushes where the gap is below */
    double k, c;           /* N/m, N s/m */
    double firm, firm_k;   /* how firmly, and N/m: of the spring below gap 0; 0: none */
    double below;          /* m: from there down to the surface */
    double t[2][3];        /* across n */
    double with[2];        /* m/s: how the object moves along them */
    double slid[2];        /* m: how far friction is stretched along them at the start */
    double limit;          /* N: most friction; 0: none */
    double stiff;          /* N/m: of friction below that */
    bool steady;           /* friction was about as large in the step before */
    bool in_element;       /* its vertices are of one triangle or edge: it is added to the matrix */
    bool stops;            /* is stiffer than the cloth: a linearised step releases it if it would pull */
    bool released;         /* would pull, and was let go */
    int32_t kind, pair[4]; /* of a pair, in the world's numbers; pair[0] -1: a vertex on its own */
} drape_i_contact_spring;

/* A block of the matrix, as it was before a spring was added to it. */
typedef struct drape_i_own_block {
    int64_t at;
    double val[9];
} drape_i_own_block;

typedef struct drape_i_contact {
    drape_i_world *world;
    drape_i_response *response;
    drape_contact_settings settings;
    double *thickness, *friction;           /* one per vertex */
    double *pair_thickness, *pair_friction; /* pieces^2 each; NULL: there are no pairs of pieces */
    int32_t pieces;
    int32_t *piece;                 /* one per vertex */
    double *inverse_mass;           /* of cloth and colliders */
    struct drape_i_start *starting; /* what crossed at the start and is not apart yet; NULL: nothing (any more) */
    bool apart;                     /* nothing of it crosses any more */
    drape_i_standing *standing;     /* one per vertex of the cloth */

    struct drape_i_pinches *pinches; /* contact_pinch.c */

    double start, end;    /* s: of the step that touches and springs were found for */
    double *x0;           /* m, 3 doubles per vertex: where the cloth was then */
    double *v0;           /* m/s: its velocity then */
    double *ahead;        /* m: where it will be at the end, as it moves then */
    bool searched;        /* the world's pairs are those of that motion */
    double slide;         /* how far the cloth slides over rims in it, as it moves then; 1: as far as it may */
    bool planned;         /* it is the whole step, and has not begun */
    double *impulse;      /* N s: what held in the parts of the last step that was done in several */
    drape_i_touch *touch; /* of this step */
    int32_t touches, touch_room;
    int32_t *first; /* one per vertex: its first touch, -1: none */
    int32_t *stamp; /* one per vertex: scratch */
    drape_i_contact_spring *spring;
    int32_t springs, spring_room;
    drape_coupling *coupling; /* of those that push: up to three each */
    int32_t couplings, coupling_room;
    drape_i_own_block *own; /* what sim->A had where springs are added to it */
    int32_t owns, own_room;
    drape_i_rub *rub; /* of pairs, after the last step */
    int32_t rubs, rub_room;
    int32_t *slot; /* where to find them, by hashing; -1: none */
    int32_t slot_count;
    uint8_t *near; /* scratch: which pairs get a spring */
    int64_t near_room;
    int64_t *listed; /* scratch: their numbers */
    int64_t listed_room;
    bool matrix_known;    /* sim->A is that of the step before, */
    int32_t matrix_parts; /* which was divided into this number */

    drape_certificate_contact did; /* in the step under way */
    int32_t cuts;                  /* of it */
    bool no_room;                  /* its last part failed because of what `stuck` says */
    char stuck[480];
} drape_i_contact;

/* Whether anything in the scene can touch anything. */
bool drape_i_contact_acts(const drape_scene *scene);
/* Needs the cloth and the state. */
drape_status drape_i_contact_create(drape_sim *sim, const drape_scene *scene);
void drape_i_contact_destroy(drape_sim *sim);

/* part[v]: the lowest vertex that v is connected with by triangles. */
void drape_i_find_parts(int32_t vertices, int64_t triangles, const int32_t *triangle, int32_t *part);

/* What is found next depends on nothing but the state: for checkpoints. */
void drape_i_contact_forget(drape_i_contact *contact);
/* Whether bytes of a checkpoint can be the standings of this number of vertices, or pairs with friction. */
bool drape_i_contact_are_standings(const char *bytes, int32_t vertices);
bool drape_i_contact_are_rubs(const drape_i_contact *contact, const char *bytes, int64_t count);

/* Before every step: what crossed at the start, where that is allowed, stays exempt until it is apart. */
drape_status drape_i_contact_exempt(drape_sim *sim, double t);

/* Finds what touches in the step, or its part, from t0 to t1: drape_i_contact_begin with its time taken. */
drape_status drape_i_contact_look(drape_sim *sim, double t0, double t1);

/* How many parts the step must be done in, into sim->parts, by what it finds for the whole step. */
drape_status drape_i_contact_plan(drape_sim *sim);
/* Sums up in sim->constraint_force what held in the parts of a step; after each of them. */
void drape_i_contact_sum_impulse(drape_sim *sim, bool first);

/* Whether anything touched in the last step. */
bool drape_i_contact_acted(const drape_i_contact *contact);

/* Before every step of the scene. */
void drape_i_contact_start(drape_sim *sim);
/* Restores the state at the beginning of the present part, if it failed for lack of space; returns whether it did. */
bool drape_i_contact_take_back(drape_sim *sim);

/* ---- contact_motion.c ---- */

/* A motion that no step can follow. */
typedef struct drape_i_motion_trouble {
    enum { DRAPE_I_MOTION_JUMP, DRAPE_I_MOTION_PIN } kind;
    int32_t collider;
    int32_t pin, piece, vertex; /* DRAPE_I_MOTION_PIN; vertex: numbered in its piece */
    double time;                /* s */
    char what[400], advice[160];
} drape_i_motion_trouble;

typedef struct drape_i_motion_listener {
    void (*tell)(void *user, const drape_i_motion_trouble *trouble);
    void *user;
} drape_i_motion_listener;

/* Over the length of the scene, whose pieces, pins and colliders are valid: at most one trouble of each collider, and
 * the first one of pins. */
drape_status drape_i_check_motions(drape_context *ctx, const drape_scene *scene,
                                   const drape_i_motion_listener *listener);
/* DRAPE_ERROR_ARGUMENT with the first of them. */
drape_status drape_i_refuse_motions(drape_context *ctx, const drape_scene *scene);

/* ---- contact_pinch.c ---- */

/* Needs the world, with the cloth and the colliders at their start. */
drape_status drape_i_pinch_create(drape_sim *sim);
void drape_i_pinch_destroy(drape_sim *sim);

/* What a checkpoint keeps: drape_i_aside of each vertex; NULL where nothing ever yields. */
drape_i_aside *drape_i_pinch_state(const drape_sim *sim);
/* Whether the bytes of a checkpoint may be that. */
bool drape_i_pinch_is_state(const drape_sim *sim, const char *bytes);

/* Before every step of the scene; and after one that failed: what is set aside is what was before it. */
void drape_i_pinch_start(drape_sim *sim);
void drape_i_pinch_take_back(drape_sim *sim);
/* Takes up again what is outside at the start of the world's motion. */
void drape_i_pinch_begin(drape_sim *sim);
/* Finds where vertices go that are caught, by the pairs of the world. */
void drape_i_pinch_lead(drape_sim *sim);
/* A collider on the other side of the cloth that the last response found no room for beside one; -1: none. */
int32_t drape_i_pinch_other(const drape_i_contact *contact);
/* After a response that found no room: sets aside what is caught between two colliders; `last`: the step cannot be
 * cut any more, so whatever the cloth meets there. False: there is nothing to set aside. */
bool drape_i_pinch_yield(drape_sim *sim, bool last);

/* Whether a touch of a vertex and a collider is not looked for: it is set aside, or the vertex is led. */
bool drape_i_pinch_leaves(const drape_i_contact *contact, int32_t vertex, int32_t collider);
/* Adds to the builder of constraints where pinched vertices go. */
drape_status drape_i_pinch_constrain(drape_sim *sim, const drape_i_aim *aim);
/* The direction in which a vertex is led that was caught in this step, and its velocity (m/s) along it; NULL: it was
 * not, or is not led. */
const double *drape_i_pinch_jumps(const drape_i_contact *contact, int32_t vertex, const double **velocity);
/* How many vertices have something set aside. */
int64_t drape_i_pinch_count(const drape_i_contact *contact);

/* ---- contact_touch.c ---- */

/* m/s: of the point of the object. */
void drape_i_touch_velocity(const drape_i_contact *contact, const drape_i_touch *touch, double v[3]);
/* Finds touches and springs of the step from t0 to t1, from sim->x and sim->v. */
drape_status drape_i_contact_begin(drape_sim *sim, double t0, double t1);
/* Adds what touches ask for to the builder of constraints. */
drape_status drape_i_contact_constrain(drape_sim *sim, const drape_i_aim *aim);
/* Lets those go that would be pulled by `factor` times `force` less `carried` (N s over the matrix's c, 3 doubles per
 * vertex; NULL: 0); how many. */
int32_t drape_i_contact_release(drape_sim *sim, const double *force, double factor, const double *carried);
/* After a step that was kept: who sticks in the next one, by what S carried (N s). */
void drape_i_contact_finish(drape_sim *sim, const double *impulse);

/* ---- contact_springs.c ---- */

drape_status drape_i_contact_find_springs(drape_sim *sim);
/* 1/kg: of the part of a spring along its e, sum w_i^2/m_i. */
double drape_i_contact_inverse_mass(const drape_sim *sim, const drape_i_contact_spring *spring);
drape_status drape_i_contact_add_spring(drape_i_contact *contact, const drape_i_contact_spring *spring);
/* force += springs and friction at x, v, t; stiff_v += K v of them; either may be NULL. */
void drape_i_contact_forces(drape_sim *sim, double t, const double *x, const double *v, double *force,
                            double *stiff_v);
/* Makes the couplings of springs that push at x, for the matrix of c. Those between an element of the cloth and an
 * object are added to sim->A; whether that changed by it. */
bool drape_i_contact_couple(drape_sim *sim, double t, const double *x, double c);
/* Lets springs go that the linearised step, whose solve is in sim->dv, would be pulled by at its end: takes what they
 * do out of sim->f and sim->Kv; how many. The couplings must be made again. */
int32_t drape_i_contact_release_springs(drape_sim *sim);
/* Takes them out of sim->A again. */
void drape_i_contact_uncouple(drape_sim *sim);
drape_couplings drape_i_contact_couplings(const drape_sim *sim);
/* out += C in */
void drape_i_contact_multiply(const drape_sim *sim, const double *in, double *out);
double drape_i_contact_potential(drape_sim *sim, double t, double c, const double *x, const double *v);

/* ---- contact_friction.c ---- */

/* Friction of at most `limit` N on what moves at v (m/s); `force`: how it acts at the start, NULL: not at all. */
void drape_i_contact_set_friction(const drape_sim *sim, drape_i_contact_spring *spring, double limit,
                                  const double v[3], const double *force);
/* The friction of a vertex on an object, as a spring of its own. */
drape_status drape_i_contact_add_rub(drape_sim *sim, drape_i_touch *touch, double limit, const double force[3]);
/* Friction at x and t, and its Jacobian sum k n n' over the directions n across which it is stretched. What slides
 * has none along its way. The linearised step takes both where its velocities lead to. */
typedef struct drape_i_friction_force {
    double force[3]; /* N */
    int32_t directions;
    double k, n[2][3]; /* N/m */
} drape_i_friction_force;
void drape_i_contact_friction_at(const drape_sim *sim, const drape_i_contact_spring *spring, double t,
                                 const double *x, drape_i_friction_force *out);
double drape_i_contact_friction_potential(const drape_sim *sim, const drape_i_contact_spring *spring, double t,
                                          const double *x);
/* N, at x and t. Returns it over the limit: 1 where it slides. */
double drape_i_contact_friction(const drape_sim *sim, const drape_i_contact_spring *spring, double t, const double *x,
                                double force[3]);
/* Makes space to remember this number of pairs. */
drape_status drape_i_contact_grow_rubs(drape_i_contact *contact, int32_t count);
/* How firmly a pair will be kept apart, by how deep it is at the end of the step. */
double drape_i_contact_firmness(const drape_sim *sim, const drape_i_contact_spring *spring);
/* After a step that was kept: remembers the friction of pairs. Before a step: makes them easy to find. */
void drape_i_contact_remember(drape_sim *sim);
void drape_i_contact_index_rubs(drape_i_contact *contact);
/* A pair after the last step; NULL: it had no spring. */
const drape_i_rub *drape_i_contact_recall(const drape_i_contact *contact, int32_t kind, const int32_t vertex[4]);

/* ---- contact_respond.c ---- */

/* What stood in the way of the last response or gate, in words. */
void drape_i_contact_explain(const drape_i_contact *contact, char *out, size_t size);

/* Keeps apart what meets on the way from x0 at t - h to x at t; DRAPE_ERROR_NUMBER: it cannot be done. */
drape_status drape_i_contact_respond(drape_sim *sim, double t, double h, const double *x0, double *x, double *v,
                                     drape_ode_projection *past);

#endif
