/* srgb.h: sRGB, the numbers of picture files, and linear light, in which colors add and mix. */
#ifndef DRAPE_IO_SRGB_H
#define DRAPE_IO_SRGB_H

#include "base/vec3.h"

#include <stdint.h>

/* One channel, 0..1 both: IEC 61966-2-1 without pow, whose bits differ from one libm to the next. */
double drape_i_srgb_to_linear(double c);

/* least[k] is the linear value from which on a channel is the byte k. */
typedef struct drape_i_srgb_bytes {
    double least[256];
} drape_i_srgb_bytes;

void drape_i_srgb_bytes_fill(drape_i_srgb_bytes *out);
uint8_t drape_i_srgb_byte(const drape_i_srgb_bytes *table, double linear);

/* Linear light of three sRGB channels. */
vec3 drape_i_linear_color(const double srgb[3]);

#endif
