/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Functions that are compiled once for each instruction set. */

/* Clang has no macros for its sanitizers. */
#ifdef __has_feature
#define VN_HAS_FEATURE(feature) __has_feature (feature)
#else
#define VN_HAS_FEATURE(feature) 0
#endif

/**
 * VN_FUSED: rounds a multiplication with the addition that follows once, where each processor has instructions for that and all
 * other functions are compiled without (src/meson.build): so AArch64 rounds as x86-64-v3 does, which has them in functions
 * with VN_MULTIVERSION and in kernels alone. Clang knows no such attribute.
 */
#if defined (__aarch64__) && !defined (__clang__)
#define VN_FUSED __attribute__ ((optimize ("fp-contract=fast")))
#else
#define VN_FUSED
#endif

/**
 * VN_MULTIVERSION: compiles a function once per instruction set and picks at load time. The picking runs before a
 * sanitizer is ready, so there the plain version must do.
 *
 * The function must be static, of a name that no other file gives to such a function: Clang 14 makes the symbols around
 * it visible to all files, and knows it in its own file only.
 */
#if defined (__x86_64__) && defined (__GLIBC__) && !defined (__SANITIZE_ADDRESS__) && \
    !defined (__SANITIZE_THREAD__) && !VN_HAS_FEATURE (address_sanitizer) && !VN_HAS_FEATURE (thread_sanitizer) && \
    !defined (VN_NO_MULTIVERSION)
#define VN_MULTIVERSION __attribute__ ((target_clones ("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define VN_MULTIVERSION VN_FUSED
#endif

/* A vector of 16 bytes as it is: a product is rounded by itself, not with an addition that follows. */
#if defined (__x86_64__)
#define VN_ROUND(vector) __asm__ ("" : "+x" (vector))
#elif defined (__aarch64__)
#define VN_ROUND(vector) __asm__ ("" : "+w" (vector))
#else
#define VN_ROUND(vector)
#endif

/* Behind the names of instruction sets in a target attribute: vectors of 512 bit where the code has such. Clang has no such
 * wish there, and follows the code. */
#ifdef __clang__
#define VN_WIDE_VECTORS ""
#else
#define VN_WIDE_VECTORS ",prefer-vector-width=512"
#endif

/* In a function with VN_MULTIVERSION: helpers must become part of it to be compiled for its instruction set. */
#define VN_INLINE static inline __attribute__ ((always_inline))
