/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stages of the main job take, by what is known of the network and the samples. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

/**
 * VnQuantizeFacts:
 * @known: the rest is filled
 * @macs: multiplications of a run of the float network on one sample
 * @weights: bytes of the prepared network's weights
 * @n_threads: that runs of samples share
 * @n_judged, @n_compared: samples that parts of the outputs are looked for on, and that preparing is judged by; 0: none
 * @n_calibrated, @n_learned, @n_measured: samples that ranges, and what weights become, are found on, and errors are measured on
 * @n_matrices: weights whose rounding is measured one by one
 * @solved: for second-order rounding: multiplications that factoring and solving take, over all layers
 * @packed: weights are in blocks of integers that are unpacked in each run
 * @searched: scales of blocks, or how numbers in them are rounded, are searched for
 * @has_reference: outputs are measured against the model as opened, too
 */
typedef struct
{
  double   macs, weights, solved;
  guint    n_threads, n_judged, n_compared, n_calibrated, n_learned, n_measured, n_matrices;
  gboolean known, packed, searched, has_reference;
} VnQuantizeFacts;

void   vn_quantize_find_facts (VnQuantizeFacts       *facts,
                               const VnJobInput      *input,
                               const GArray          *compared);  /* nullable */
double vn_quantize_cost (const VnQuantizeFacts *facts,
                         const char            *stage,
                         double                 weight,
                         guint                  part,
                         double                *behind);

G_END_DECLS
