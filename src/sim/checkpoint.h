/* checkpoint.h: a checkpoint as bytes; docs/checkpoints.md has the layout. */
#ifndef DRAPE_SIM_CHECKPOINT_H
#define DRAPE_SIM_CHECKPOINT_H

#include "sim/sim.h"

/* Bytes of any checkpoint of this simulation. */
int64_t drape_i_checkpoint_size(drape_sim *sim);
/* Fills so many bytes. */
void drape_i_checkpoint_make(drape_sim *sim, char *out);
/* Takes the state over from `size` bytes, of which `have` are there: those beyond drape_i_checkpoint_size are not
 * looked at. Anything wrong is DRAPE_ERROR_FORMAT with a message that begins with name, and changes nothing. */
drape_status drape_i_checkpoint_take(drape_sim *sim, const char *name, const void *data, int64_t have, int64_t size);
/* Puts the right checksums into any bytes that are as long as a header and a checksum at least. */
void drape_i_checkpoint_seal(char *data, int64_t size);

#endif
