/* drape/petsc.h: linear systems and scenes that are spread over the processes of an MPI program, on PETSc.
 *
 *   PetscInitialize(&argc, &argv, NULL, NULL);
 *   drape_petsc_system *system;
 *   drape_petsc_solver *solver;
 *   drape_petsc_system_read(ctx, PETSC_COMM_WORLD, "flag.sys", &system);
 *   drape_petsc_solver_create(ctx, PETSC_COMM_WORLD, drape_petsc_system_part(system), NULL, &solver);
 *   drape_petsc_solver_solve(solver, drape_petsc_system_problem(system), x, &result);
 *
 * In a library of its own, libdrape-petsc, beside libdrape, which does not need it. For systems and meshes that do
 * not fit one machine: on a single one drape alone is several times faster (docs/scale-out.md).
 *
 * All functions are collective: every process of the communicator calls them, in the same order. A failure is the
 * same for all of them: each gets the status and the message of the first process that failed. Failures inside of
 * PETSc and MPI are the exception: one process alone may have them, and the others wait for it. So set an error
 * handler for both that ends all processes (PetscPushErrorHandler, MPI_Abort), as the program drape-mpi does.
 *
 * What the arithmetic promises here (docs/scale-out.md): results agree to the tolerances of the solvers, whatever the
 * number of processes. The promise of the same bits is drape's alone, not PETSc's. */
#ifndef DRAPE_PETSC_H
#define DRAPE_PETSC_H

#include "drape/io.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a process has of the vertices of a system: its own ones, and copies of those of other processes that its own
 * rows are coupled with. */
typedef struct drape_petsc_part {
    int32_t vertices;      /* here: own ones and copies */
    int32_t own_count;     /* >= 1 */
    const int32_t *own;    /* which of the vertices are own ones, ascending */
    const int32_t *number; /* one per vertex: its number among the vertices of all processes. Own ones have
                              consecutive numbers, in their order, and those of the next process follow */
    uint64_t reserved[4];  /* zero: reserved for later fields */
} drape_petsc_part;

/* ---- Solving ---- */

typedef struct drape_petsc_solver drape_petsc_solver;

/* settings may be NULL. Used are: tol, floor, max_iterations, stop (not DRAPE_STOP_ENERGY), history, and of amg
 * theta, levels, unfiltered and dominance; the method is conjugate gradients, and the near-kernel has three modes.
 * PETSc's options database is asked afterwards and wins: -ksp_type, -pc_type gamg, -mg_levels_ksp_max_it and so on.
 * The part is copied. The context must have been made by the process itself, and outlive the solver. */
DRAPE_API drape_status drape_petsc_solver_create(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *part,
                                                 const drape_solve_settings *settings, drape_petsc_solver **out);
DRAPE_API void drape_petsc_solver_destroy(drape_petsc_solver *solver); /* NULL is fine */
/* The problem over the vertices of the part. A has a row per vertex, and a symmetric pattern, the same in every
 * solve; rows of copies are ignored, except for their pattern. Constraints hold copies as their own process does.
 * Couplings, operators and near_kernel are refused. A's diagonal blocks are changed while the function runs, and then
 * restored. x: 3 doubles per vertex, for copies too; may be the same array as problem->guess. The result is the
 * same everywhere, except for constraint_force. In it, method is PETSc's KSPType, and precond is "amg" or the PCType.
 * energy_error and the energies of the history are -1. bytes are those held on this process by drape's part of the
 * preconditioner. */
DRAPE_API drape_status drape_petsc_solver_solve(drape_petsc_solver *solver, const drape_problem *problem, double *x,
                                                drape_solve_result *result);
/* The next solve builds everything from scratch. */
DRAPE_API void drape_petsc_solver_forget(drape_petsc_solver *solver);

/* Of the last solve: 0 before it, and with a preconditioner of PETSc's own. */
DRAPE_API int32_t drape_petsc_solver_levels(const drape_petsc_solver *solver);
/* Unknowns of a level, of all processes; level 0 is the finest. 0: there is no such level. */
DRAPE_API int64_t drape_petsc_solver_level_rows(const drape_petsc_solver *solver, int32_t level);

/* ---- System files, read by parts ---- */

typedef struct drape_petsc_system drape_petsc_system;

/* Each process reads the rest positions of the same number of vertices. The vertices are divided by these (recursive
 * coordinate bisection), always in the same way. Then each process reads its own rows; none holds the whole system.
 * If all rest positions are equal, rows are divided into consecutive blocks. Checks all that drape_system_read
 * checks. The file must lie in a folder that all processes see. */
DRAPE_API drape_status drape_petsc_system_read(drape_context *ctx, MPI_Comm comm, const char *path,
                                               drape_petsc_system **out);
DRAPE_API void drape_petsc_system_destroy(drape_petsc_system *system); /* NULL is fine */
DRAPE_API const drape_petsc_part *drape_petsc_system_part(const drape_petsc_system *system);
/* A, b, constraints and positions of the part. */
DRAPE_API const drape_problem *drape_petsc_system_problem(const drape_petsc_system *system);
/* Of all processes. */
DRAPE_API int64_t drape_petsc_system_vertices(const drape_petsc_system *system);
DRAPE_API int64_t drape_petsc_system_blocks(const drape_petsc_system *system);
DRAPE_API int64_t drape_petsc_system_constrained(const drape_petsc_system *system);
/* Bytes that this process holds of it. */
DRAPE_API int64_t drape_petsc_system_bytes(const drape_petsc_system *system);
/* Writes x, 3 doubles per vertex of the part, to a file in the order of the system file: each process its own
 * vertices. The file is complete, or as it was before. */
DRAPE_API drape_status drape_petsc_system_write(const drape_petsc_system *system, const char *path, const double *x);

/* ---- Simulating ---- */

typedef struct drape_petsc_sim drape_petsc_sim;

/* Reads a scene as drape_scene_load does, and divides its vertices over the processes by their rest positions, as
 * drape_petsc_system_read does. Keeps the part of this process: its own vertices and two rings of copies around them.
 * Of regular grids no more than windows are ever held. Meshes and irregular grids are held as a whole until they are
 * divided: some 70 bytes per vertex (docs/scale-out.md). Pins, wind, loads, all models and fabrics; the integrators
 * "linearised-euler", "implicit-euler" and "bdf2", the default. Everything else that the scene asks for is refused by
 * name (DRAPE_ERROR_ARGUMENT): contact, limits of strain, other integrators, solvers and mass matrices. The energies
 * of certificates are zero, and Newton's method searches by slopes, not by a potential. options may be NULL. */
DRAPE_API drape_status drape_petsc_sim_load(drape_context *ctx, MPI_Comm comm, const char *name,
                                            const drape_scene_options *options, drape_petsc_sim **out);
DRAPE_API void drape_petsc_sim_destroy(drape_petsc_sim *sim); /* NULL is fine */
/* drape_sim_step. In the certificate all numbers are those of all processes. */
DRAPE_API drape_status drape_petsc_sim_step(drape_petsc_sim *sim, drape_certificate *certificate);
/* The part: frames, steps_per_frame, step and outputs are those of the whole scene. */
DRAPE_API const drape_scene *drape_petsc_sim_scene(const drape_petsc_sim *sim);
DRAPE_API const drape_petsc_part *drape_petsc_sim_part(const drape_petsc_sim *sim);
DRAPE_API int64_t drape_petsc_sim_vertices(const drape_petsc_sim *sim); /* of the whole scene */
DRAPE_API int64_t drape_petsc_sim_steps(const drape_petsc_sim *sim);    /* done so far */
DRAPE_API double drape_petsc_sim_time(const drape_petsc_sim *sim);      /* s */
/* m, 3 doubles per vertex of the part; and each one's number in the whole scene. */
DRAPE_API const double *drape_petsc_sim_positions(const drape_petsc_sim *sim);
DRAPE_API const int32_t *drape_petsc_sim_numbers(const drape_petsc_sim *sim);
/* The most bytes that drape held on this process up to the end of reading and dividing the scene. */
DRAPE_API int64_t drape_petsc_sim_load_bytes(const drape_petsc_sim *sim);
/* Bytes that this process holds of mesh, state and matrix (drape's own; PETSc's are not in it). */
DRAPE_API int64_t drape_petsc_sim_bytes(const drape_petsc_sim *sim);

/* A checkpoint: the state of all processes in one file, complete or as it was before. It can be restored on any
 * number of processes. What solvers remember is dropped on both sides: on the same number of processes both go on
 * with the same bits, on another one to the tolerances of the solvers. */
DRAPE_API drape_status drape_petsc_sim_save(drape_petsc_sim *sim, const char *path);
DRAPE_API drape_status drape_petsc_sim_restore(drape_petsc_sim *sim, const char *path);

/* ---- Frames: a point cache (PC2), each process writing its own vertices at their place ---- */

typedef struct drape_petsc_cache drape_petsc_cache;

/* For so many frames. The file gets its name when it is closed. With `resumable` it is called path.unfinished until
 * then, and stays where the run is cut off; with `again` that file is continued. */
DRAPE_API drape_status drape_petsc_cache_open(drape_petsc_sim *sim, const char *path, int32_t frames, bool resumable,
                                              bool again, drape_petsc_cache **out);
/* Frame `index`, from 0: the present positions. Frames may be written again. */
DRAPE_API drape_status drape_petsc_cache_frame(drape_petsc_cache *cache, int32_t index);
/* Finishes the file and frees the cache, whatever it returns. */
DRAPE_API drape_status drape_petsc_cache_close(drape_petsc_cache *cache);
DRAPE_API void drape_petsc_cache_abandon(drape_petsc_cache *cache); /* without a file; NULL is fine */
/* The temporary name, which should go where the program is ended from outside; NULL: it should stay. */
DRAPE_API const char *drape_petsc_cache_temporary(const drape_petsc_cache *cache);

/* ---- Failing together ---- */

/* Every process gets the worst of all statuses, and in its context the message of the first process that has it. */
DRAPE_API drape_status drape_petsc_agree(drape_context *ctx, MPI_Comm comm, drape_status status);

#ifdef __cplusplus
}
#endif

#endif
