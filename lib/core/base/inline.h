/* Functions that every event goes through: compilers that judge by size alone leave them outside. */
#ifndef NUMASIM_BASE_INLINE_H
#define NUMASIM_BASE_INLINE_H

#if defined(__GNUC__)
#define NS_INLINE static inline __attribute__((always_inline))
#else
#define NS_INLINE static inline
#endif

#endif
