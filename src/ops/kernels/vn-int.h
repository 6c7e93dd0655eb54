/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Products of 8-bit integers, summed exactly in 32 bits, and the way back to 8 bits. */

#include "vn-elem.h"

G_BEGIN_DECLS

#define VN_INT_BITS (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))

/* Rows of 16-bit numbers are filled up with zeros to a multiple of this. */
#define VN_INT_ALIGN 32

/**
 * VnIntParams: quantization of one operand: one scale and zero point for all, or one per channel.
 * @scales: (nullable): %NULL: 1
 * @step: 0: one scale, 1: one each
 */
typedef struct
{
  const float    *scales;
  gsize           scale_step;
  const VnTensor *zeros;       /* nullable: 0 */
  gsize           zero_step;
} VnIntParams;

gsize    vn_int_step       (gsize            depth);
gint32   vn_int_zero       (const VnTensor  *zeros,
                            gsize            i);
gboolean vn_int_params     (VnOpContext     *ctx,
                            int              scale_input,
                            int              zero_input,
                            gsize            channels,
                            VnIntParams     *self,
                            GError         **error);
void     vn_int_load_row   (VnDType          dtype,
                            gconstpointer    data,
                            gsize            first,
                            gsize            stride,
                            gsize            n,
                            gint32           zero,
                            gint16          *to);
void     vn_int_product    (const gint16    *a,
                            gsize            a_rows,
                            const gint16    *b,
                            gsize            b_rows,
                            gsize            step,
                            gint32          *c,
                            gsize            pitch);
void     vn_int_requantize (const gint32    *sums,
                            gsize            n,
                            const float     *scale,
                            gsize            scale_step,
                            gint32           bias,
                            gint32           zero,
                            VnDType          dtype,
                            gpointer         to);
void     vn_int_quantize   (const float     *x,
                            gsize            n,
                            float            scale,
                            gint32           zero,
                            VnDType          dtype,
                            gpointer         to);
void     vn_int_quantize_dynamic (const float *x,
                            gsize            n,
                            guint8          *y,
                            float           *scale,
                            guint8          *zero);
void     vn_int_round_dynamic (const float   *x,
                            gsize            n,
                            float           *y);
gint32   vn_int_load       (VnDType          dtype,
                            gconstpointer    data,
                            gsize            i);

/**
 * VnIntScalar: quantization of a whole tensor.
 */
typedef struct
{
  VnDType dtype;
  float   scale;
  gint32  zero;
} VnIntScalar;

/* Function of the numbers a table stands for; NULL: they are only put on another grid. */
typedef float (*VnIntFunc) (float x,
                            float parameter);

gboolean vn_int_scalar     (VnOpContext       *ctx,
                            guint              scale_input,
                            guint              zero_input,
                            VnDType            dtype,
                            VnIntScalar       *self,
                            GError           **error);
VnDType  vn_int_dtype      (const VnOpContext *ctx,
                            guint              zero_input,
                            guint              like);
void     vn_int_table      (const VnIntScalar *from,
                            const VnIntScalar *to,
                            VnIntFunc          func,
                            float              parameter,
                            guint8             table[256]);

G_END_DECLS
