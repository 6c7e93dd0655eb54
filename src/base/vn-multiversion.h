/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Functions that are compiled once for each instruction set. */

/**
 * VN_MULTIVERSION: compiles a function once per instruction set and picks at load time. The picking runs before a
 * sanitizer is ready, so there the plain version must do.
 */
#if defined (__x86_64__) && defined (__GLIBC__) && !defined (__SANITIZE_ADDRESS__) && \
    !defined (__SANITIZE_THREAD__) && !defined (VN_NO_MULTIVERSION)
#define VN_MULTIVERSION __attribute__ ((target_clones ("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define VN_MULTIVERSION
#endif

/* In a function with VN_MULTIVERSION: helpers must become part of it to be compiled for its instruction set. */
#define VN_INLINE static inline __attribute__ ((always_inline))
