/* timer.h: seconds for reports; no decision is ever taken from them. */
#ifndef DRAPE_BASE_TIMER_H
#define DRAPE_BASE_TIMER_H

double drape_i_seconds(void); /* since some fixed moment, monotonic */

#endif
