/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded damage to a model in memory, so that it can be written to a file that lies. */
#pragma once

#include "vn-graph-edit.h"

/* Changes @model in up to four places. Names, types and attributes may contradict each other afterwards: all that may
 * be done with it is vn_onnx_write_bytes() and vn_model_unref(). */
void   mutate_model    (VnModel *model,
                        GRand   *rand);

/* Numbers that programs get wrong: 0, 1, -1, powers of two, the ends of the integers, and some in between. */
gint64 hostile_int     (GRand   *rand);
double hostile_float   (GRand   *rand);
void   hostile_fill    (VnTensor *tensor,
                        GRand    *rand);
