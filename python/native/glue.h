/* glue.h: what the package adds to the public headers. cffi reads it, so it has no preprocessor lines. */

/* A solve that Python may stop. */
typedef struct drape_py_watch {
    void *user;   /* handle of the Python object that is asked */
    bool every;   /* ask in every iteration; else only now and then, to see whether Ctrl-C was pressed */
    bool stopped; /* it said so: later solves of the same call stop at once */
    int64_t next; /* ns: when to ask again */
} drape_py_watch;

/* For drape_solve_settings.progress; user: a drape_py_watch. */
bool drape_py_progress(void *user, const drape_progress *p);

/* Displacements of the vertices of a pin, which Python gives for all of them at once. */
typedef struct drape_py_motion {
    void *user; /* handle of the Python object that is asked */
    int32_t count;
    const int32_t *vertex; /* rising */
    double *moved;         /* m, 3 doubles per vertex and slot */
    double time[4];        /* s, of each slot */
    bool known[4];
    int32_t next; /* slot to be filled next */
} drape_py_motion;

/* For drape_motion.function; user: a drape_py_motion. */
void drape_py_displacement(void *user, int32_t vertex, double time, const double *start, double *displacement);

extern "Python" {
    bool drape_py_ask(void *user, const drape_progress *p);
    bool drape_py_move(void *user, double time, double *moved);
    void drape_py_log(void *user, drape_log_level level, const char *message);
    void drape_py_force(void *user, const drape_force_point *at, drape_vertex_force *out);
    double drape_py_energy(void *user, const drape_force_point *at);
    drape_status drape_py_f(void *user, double t, const double *x, const double *v, double *out);
    drape_status drape_py_jacobian(void *user, double t, const double *x, const double *v, double *K, double *D);
    drape_status drape_py_mass_times(void *user, const double *in, double *out);
    drape_status drape_py_mass_solve(void *user, double *r);
    drape_status drape_py_events(void *user, double t, const double *x, const double *v, double *g);
    drape_status drape_py_report(void *user, const drape_ode_event *event);
}
