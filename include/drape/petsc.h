/* drape/petsc.h: linear systems and scenes divided over the processes of an MPI program, with PETSc.
 *
 *   PetscInitialize(&argc, &argv, NULL, NULL);
 *   drape_petsc_system *system;
 *   drape_petsc_solver *solver;
 *   drape_petsc_system_read(ctx, PETSC_COMM_WORLD, "flag.sys", &system);
 *   drape_petsc_solver_create(ctx, PETSC_COMM_WORLD, drape_petsc_system_part(system), NULL, &solver);
 *   drape_petsc_solver_solve(solver, drape_petsc_system_problem(system), x, &result);
 *
 * Use it for systems and meshes that do not fit on one machine. On a single machine drape alone is several times
 * faster (docs/scale-out.md). The functions are in a library of their own, libdrape-petsc; libdrape does not need it.
 *
 * All functions are collective: every process of the communicator calls them, in the same order. If some
 * fail, all get the status and the message of the first one. The exception is a failure inside PETSc or MPI. It may
 * happen on one process only, while the others wait for it. So install error handlers that end all processes
 * (PetscPushErrorHandler, MPI_Abort), as the program drape-mpi does.
 *
 * Results agree to the tolerances of the solvers, whatever the number of processes (docs/scale-out.md). They do not
 * have the same bits, since PETSc makes no such promise. */
#ifndef DRAPE_PETSC_H
#define DRAPE_PETSC_H

#include "drape/io.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The vertices of a system that one process holds. These are its own vertices, and copies of vertices of other
 * processes with which its rows are coupled. The caller owns the arrays of a part that it fills in. */
typedef struct drape_petsc_part {
    int32_t vertices;      /* own vertices and copies together, >= own_count */
    int32_t own_count;     /* own vertices, >= 1 */
    const int32_t *own;    /* own_count of them: which of the vertices are its own, 0 .. vertices - 1, ascending */
    const int32_t *number; /* one per vertex: its number among the vertices of all processes. Own vertices have
                              consecutive numbers in ascending order; those of the next process follow */
    uint64_t reserved[4];  /* zero: reserved for later fields */
} drape_petsc_part;

/* ---- Solving ---- */

/* A linear solver on all processes of a communicator. */
typedef struct drape_petsc_solver drape_petsc_solver;

/* settings may be NULL for the defaults. These fields are used: tol, floor, max_iterations, stop (not
 * DRAPE_STOP_ENERGY), history, and theta, levels, unfiltered and dominance of amg. The method is conjugate gradients,
 * and the near-kernel has three modes. Options from PETSc's database, such as -ksp_type, -pc_type gamg or
 * -mg_levels_ksp_max_it, take precedence. The part is copied. Each process passes a context of its own. */
DRAPE_API drape_status drape_petsc_solver_create(drape_context *ctx, MPI_Comm comm, const drape_petsc_part *part,
                                                 const drape_solve_settings *settings, drape_petsc_solver **out);
DRAPE_API void drape_petsc_solver_destroy(drape_petsc_solver *solver); /* NULL is fine */
/* Solves the problem over the vertices of the part. A has one row per vertex and a symmetric pattern, which is the
 * same in every solve. Rows of copies are ignored, except for their pattern. A copy must be constrained in the same
 * way as its original. Couplings, operators and near_kernel are refused. A's diagonal blocks are changed while the
 * function runs, and then restored. x: gets 3 doubles per vertex, copies included, in the unit of the unknown; may be
 * the same array as problem->guess.
 *
 * The result is the same on all processes, except for constraint_force. Its method is PETSc's KSPType, and its
 * precond is "amg" or the PCType. energy_error and the energies of the history are -1. bytes is the memory that
 * drape's part of the preconditioner holds on this process. */
DRAPE_API drape_status drape_petsc_solver_solve(drape_petsc_solver *solver, const drape_problem *problem, double *x,
                                                drape_solve_result *result);
/* Makes the next solve build everything from scratch. */
DRAPE_API void drape_petsc_solver_forget(drape_petsc_solver *solver);

/* Levels of multigrid in the last solve; 0 before the first one, and with one of PETSc's preconditioners. */
DRAPE_API int32_t drape_petsc_solver_levels(const drape_petsc_solver *solver);
/* Unknowns of a level, summed over all processes; level 0 is the finest. 0 if there is no such level. */
DRAPE_API int64_t drape_petsc_solver_level_rows(const drape_petsc_solver *solver, int32_t level);

/* ---- System files, read in parts ---- */

/* A linear system of which each process holds a part. */
typedef struct drape_petsc_system drape_petsc_system;

/* Reads a system file (drape/sparse.h) such that no process holds the whole system. Each process reads the rest
 * positions of an equal share of the vertices. The vertices are then divided by recursive coordinate bisection,
 * always in the same way, and each process reads its own rows. If all rest positions are equal, rows are divided into
 * consecutive blocks. The file is checked as by drape_system_read. All processes must be able to open it. */
DRAPE_API drape_status drape_petsc_system_read(drape_context *ctx, MPI_Comm comm, const char *path,
                                               drape_petsc_system **out);
DRAPE_API void drape_petsc_system_destroy(drape_petsc_system *system); /* NULL is fine */
/* These belong to the system: the part of this process, and A, b, constraints and positions of that part. */
DRAPE_API const drape_petsc_part *drape_petsc_system_part(const drape_petsc_system *system);
DRAPE_API const drape_problem *drape_petsc_system_problem(const drape_petsc_system *system);
/* Vertices, stored blocks and constrained vertices of the whole system. */
DRAPE_API int64_t drape_petsc_system_vertices(const drape_petsc_system *system);
DRAPE_API int64_t drape_petsc_system_blocks(const drape_petsc_system *system);
DRAPE_API int64_t drape_petsc_system_constrained(const drape_petsc_system *system);
/* Memory that this process holds for the system, in bytes. */
DRAPE_API int64_t drape_petsc_system_bytes(const drape_petsc_system *system);
/* Writes x, 3 doubles per vertex of the part, to a file in the order of the system file. Each process writes its own
 * vertices. On failure a file of this name stays as it was. */
DRAPE_API drape_status drape_petsc_system_write(const drape_petsc_system *system, const char *path, const double *x);

/* ---- Simulating ---- */

/* A simulation of which each process holds a part. */
typedef struct drape_petsc_sim drape_petsc_sim;

/* Reads a scene as drape_scene_load does, and divides its vertices over the processes by their rest positions, as
 * drape_petsc_system_read does. Each process keeps its own vertices and two rings of copies around them. Of grids
 * and mesh files no process ever holds more than parts. Garments are held as a whole until they are divided
 * (docs/scale-out.md). options may be NULL.
 *
 * A scene may have pins, wind, loads, and any model and fabric. Its integrator is "linearised-euler",
 * "implicit-euler" or "bdf2", the default. Everything else is refused with DRAPE_ERROR_ARGUMENT and a message that
 * names it: contact, strain limits, and other integrators, solvers and mass matrices. The energies of certificates
 * are zero, and the line search of Newton's method uses slopes instead of a potential. */
DRAPE_API drape_status drape_petsc_sim_load(drape_context *ctx, MPI_Comm comm, const char *name,
                                            const drape_scene_options *options, drape_petsc_sim **out);
DRAPE_API void drape_petsc_sim_destroy(drape_petsc_sim *sim); /* NULL is fine */
/* As drape_sim_step. The numbers of the certificate, which may be NULL, are those of all processes together. */
DRAPE_API drape_status drape_petsc_sim_step(drape_petsc_sim *sim, drape_certificate *certificate);
/* These belong to the simulation: the scene of this process's part, whose frames, steps_per_frame, step and outputs
 * are those of the whole scene, and the part. */
DRAPE_API const drape_scene *drape_petsc_sim_scene(const drape_petsc_sim *sim);
DRAPE_API const drape_petsc_part *drape_petsc_sim_part(const drape_petsc_sim *sim);
DRAPE_API int64_t drape_petsc_sim_vertices(const drape_petsc_sim *sim); /* of the whole scene */
DRAPE_API int64_t drape_petsc_sim_steps(const drape_petsc_sim *sim);    /* done so far */
DRAPE_API double drape_petsc_sim_time(const drape_petsc_sim *sim);      /* s */
/* Positions in m, 3 doubles per vertex of the part, and the number of each vertex in the whole scene. Valid until the
 * next step. */
DRAPE_API const double *drape_petsc_sim_positions(const drape_petsc_sim *sim);
DRAPE_API const int32_t *drape_petsc_sim_numbers(const drape_petsc_sim *sim);
/* The most bytes that drape held on this process up to the end of reading and dividing the scene. */
DRAPE_API int64_t drape_petsc_sim_load_bytes(const drape_petsc_sim *sim);
/* Memory that drape holds on this process for mesh, state and matrix, in bytes. PETSc's own memory comes on top. */
DRAPE_API int64_t drape_petsc_sim_bytes(const drape_petsc_sim *sim);

/* A checkpoint holds the state of all processes in one file. On failure a file of this name stays as it was. It can
 * be restored on any number of processes. What solvers have learnt is dropped both when it is saved and when it is
 * restored. So on the same number of processes both runs continue with the same bits; on another number they agree to
 * the tolerances of the solvers. */
DRAPE_API drape_status drape_petsc_sim_save(drape_petsc_sim *sim, const char *path);
DRAPE_API drape_status drape_petsc_sim_restore(drape_petsc_sim *sim, const char *path);

/* ---- Frames: a point cache (PC2), to which each process writes its own vertices ---- */

/* A point cache that all processes write together. */
typedef struct drape_petsc_cache drape_petsc_cache;

/* Opens a cache for this number of frames, >= 1. The file gets its name when it is closed. With `resumable` it is
 * called path.unfinished until then, and is kept if the run is cut off. With `again` that file is continued. */
DRAPE_API drape_status drape_petsc_cache_open(drape_petsc_sim *sim, const char *path, int32_t frames, bool resumable,
                                              bool again, drape_petsc_cache **out);
/* Writes the current positions as frame `index`, 0 .. frames - 1. A frame may be written again. */
DRAPE_API drape_status drape_petsc_cache_frame(drape_petsc_cache *cache, int32_t index);
/* Finishes the file and frees the cache, even on failure. */
DRAPE_API drape_status drape_petsc_cache_close(drape_petsc_cache *cache);
/* Frees the cache without making a file; NULL is fine. */
DRAPE_API void drape_petsc_cache_abandon(drape_petsc_cache *cache);
/* The temporary name of the file, which a program should delete when it is terminated from outside; NULL if the file
 * should be kept. Belongs to the cache. */
DRAPE_API const char *drape_petsc_cache_temporary(const drape_petsc_cache *cache);

/* ---- Failing together ---- */

/* Returns the worst of all statuses on every process, and puts the message of the first process that has it into each
 * context. */
DRAPE_API drape_status drape_petsc_agree(drape_context *ctx, MPI_Comm comm, drape_status status);

#ifdef __cplusplus
}
#endif

#endif
