/* images.h: two small files of images. */
#ifndef DRAPE_TESTS_IMAGES_H
#define DRAPE_TESTS_IMAGES_H

#include <stdint.h>

/* 8 x 4 pixels: red and green above blue and white. */
extern const unsigned char test_png[];
extern const int64_t test_png_size;
/* 16 x 8 pixels: red and blue. */
extern const unsigned char test_jpeg[];
extern const int64_t test_jpeg_size;

#endif
