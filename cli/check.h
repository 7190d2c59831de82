/* check.h: what the files of `drape check` share. */
#ifndef DRAPE_CLI_CHECK_H
#define DRAPE_CLI_CHECK_H

#include "cli.h"

/* Prints the findings as one JSON object (docs/doctor.md); nothing where it fails, and then the message says why.
 * Sets the callback of the options. */
drape_status check_as_json(drape_context *ctx, const char *name, drape_check_options *how,
                           drape_check_summary *summary);

#endif
