/* assert.h: the third channel of failure, for bugs of drape itself: a broken precondition of a private function, an
 * index out of range, a plan that contradicts its mesh.
 *
 *   DRAPE_ASSERT(row >= 0 && row < rows);
 *
 * On in debug and sanitizer builds (the CMake option DRAPE_ASSERTIONS): a false condition names its place and aborts.
 * In a release build the condition is compiled but never evaluated, so it must not have side effects. What a caller
 * or a file can get wrong is never asserted: it gets a drape_status. */
#ifndef DRAPE_BASE_ASSERT_H
#define DRAPE_BASE_ASSERT_H

#if defined(DRAPE_ASSERTIONS)
#undef NDEBUG
#include <assert.h>
#define DRAPE_ASSERT(condition) assert(condition)
#else
#define DRAPE_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
