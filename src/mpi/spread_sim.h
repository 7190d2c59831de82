/* spread_sim.h: a simulation of which every process has a part. */
#ifndef DRAPE_MPI_SPREAD_SIM_H
#define DRAPE_MPI_SPREAD_SIM_H

#include "mpi/part.h"
#include "sim/sim.h"

struct drape_petsc_sim {
    drape_context *ctx;
    MPI_Comm comm;
    drape_i_part part;
    int64_t load_bytes;
    drape_i_spread spread;
    drape_petsc_solver *solver;
    drape_sim *sim;
};

/* The end of the run of own vertices, consecutive in the part and in the whole scene, that begins with own number i.
 */
int32_t drape_i_own_run_end(const drape_i_part *part, int32_t i);

#endif
