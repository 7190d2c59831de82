/* attributes.h: the only place, with simd.h, where compiler extensions are used. */
#ifndef DRAPE_BASE_ATTRIBUTES_H
#define DRAPE_BASE_ATTRIBUTES_H

#define DRAPE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define DRAPE_UNUSED              __attribute__((unused))
#define DRAPE_INLINE              static inline __attribute__((always_inline, unused))
#define DRAPE_ALIGNED             __attribute__((aligned(64)))

/* Asks for the cache line of an address that will be read soon; any address will do. */
#define DRAPE_PREFETCH(address) __builtin_prefetch(address)

/* The number of the lowest bit that is set, of 64; one is. */
#define DRAPE_LOWEST_BIT(bits) __builtin_ctzll(bits)

#if defined(__x86_64__)
#define DRAPE_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define DRAPE_PAUSE() __asm__ volatile("yield")
#else
#define DRAPE_PAUSE() ((void)0)
#endif

#endif
