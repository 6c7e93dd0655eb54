/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-dtype.h"

G_BEGIN_DECLS

/* Number formats whose elements share an exponent in blocks. */

typedef enum { VN_ROUND_HALF_AWAY, VN_ROUND_HALF_UP, VN_ROUND_HALF_EVEN } VnRoundHalf;

#define VN_BLOCK_LARGEST 4096

/**
 * VnBlockElement: element of a microscaling format
 * @exponent: bits of the exponent; 0: an integer of 8 bits that counts 2^-6
 * @emax: exponent of the largest number
 */
typedef struct
{
  const char *name;
  int         exponent, mantissa, emax;
  double      least, largest;
} VnBlockElement;

/**
 * VnBlockFormat:
 * @element: NULL: block floating point with @mantissa bits after the sign
 * @block: elements that share an exponent
 * @sub_block: of block floating point: elements that lower it together by at most @max_shift
 */
typedef struct
{
  const VnBlockElement *element;
  gint64                mantissa, block, sub_block, max_shift;
  gboolean              through_bfloat;     /* rounds to bfloat16 before */
  VnRoundHalf           rounding;
} VnBlockFormat;

const VnBlockElement *vn_block_element_find (const char          *name);
gboolean              vn_block_format_init  (VnBlockFormat       *self,
                                             VnDType              dtype);
void                  vn_block_round        (const VnBlockFormat *self,
                                             const float         *x,
                                             float               *y,
                                             gsize                dim,
                                             gsize                inner);

G_END_DECLS
