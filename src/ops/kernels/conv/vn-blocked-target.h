/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What kernels of convolutions need of an instruction set, by the lanes of its vectors. */

#include "vn-multiversion.h"

#if defined (__x86_64__)

#include <immintrin.h>

#define VN_TARGET_16 __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma" VN_WIDE_VECTORS)))
#define VN_TARGET_8  __attribute__ ((target ("avx2,fma")))

/* min (max (x, low), high) for vectors. Of two operands of which one is NaN the processor takes the second: NaN stays. */
#define VN_CLAMP_16(Vector, x, low, high) \
  ((Vector) _mm512_min_ps (_mm512_set1_ps (high), _mm512_max_ps (_mm512_set1_ps (low), (__m512) (x))))
#define VN_CLAMP_8(Vector, x, low, high) \
  ((Vector) _mm256_min_ps (_mm256_set1_ps (high), _mm256_max_ps (_mm256_set1_ps (low), (__m256) (x))))

/* The larger of two vectors, the first of equal ones; NaN if one of them is. */
#define VN_LARGER_16(Vector, a, b) \
  ((Vector) _mm512_mask_blend_ps (_mm512_cmp_ps_mask ((__m512) (b), (__m512) (b), _CMP_UNORD_Q), \
                                  _mm512_max_ps ((__m512) (b), (__m512) (a)), (__m512) (b)))
#define VN_LARGER_8(Vector, a, b) \
  ((Vector) _mm256_blendv_ps (_mm256_max_ps ((__m256) (b), (__m256) (a)), (__m256) (b), \
                              _mm256_cmp_ps ((__m256) (b), (__m256) (b), _CMP_UNORD_Q)))

/* Adds a product to a sum that stays where it is: with hardly more registers than sums, compilers move them to and fro. */
#define VN_ADD_PRODUCT_16(sum, a, b) ((sum) += (a) * (b))
#define VN_ADD_PRODUCT_8(sum, a, b)  __asm__ ("vfmadd231ps %2, %1, %0" : "+x" (sum) : "x" (a), "x" (b))

/* Keeps a vector that several products need in a register: compilers like to read it again for each. */
#define VN_KEEP_IN_REGISTER(vector) __asm__ ("" : "+v" (vector))

#elif defined (__aarch64__)

#define VN_KEEP_IN_REGISTER(vector) __asm__ ("" : "+w" (vector))

#endif
