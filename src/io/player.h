/* player.h: the files of web/player, made part of the library by cmake/embed.cmake. */
#ifndef DRAPE_IO_PLAYER_H
#define DRAPE_IO_PLAYER_H

#include <stddef.h>

extern const unsigned char drape_i_player_html[], drape_i_player_css[], drape_i_player_js[];
extern const size_t drape_i_player_html_size, drape_i_player_css_size, drape_i_player_js_size;

#endif
