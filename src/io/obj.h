/* obj.h: one mesh as Wavefront OBJ, for the formats that want one beside their own file. */
#ifndef DRAPE_IO_OBJ_H
#define DRAPE_IO_OBJ_H

#include "base/file.h"
#include "drape/cloth.h"

/* as_one: all pieces in one object, for what counts vertices over all of them; else an object a piece. */
drape_status drape_i_obj_write(drape_context *ctx, drape_i_file *file, const drape_cloth *cloth, bool as_one,
                               int64_t frame, const double *x);

#endif
