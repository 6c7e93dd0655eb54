/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A network, samples and settings made to have a reason for what quantizing costs. */

#include "vn-diagnose.h"
#include "vn-jobs.h"

G_BEGIN_DECLS

#define N_SAMPLES 16u
#define N_HELD_OUT 4u      /* sample 0 is not among them */
#define SIZE 12u
#define CHANNELS 8u
#define N_WEIGHTS (CHANNELS * CHANNELS)

extern VnReason diagnosis_made;      /* what they are made to have; VN_N_REASONS: none */

/**
 * Numbers: of the two convolutions.
 */
typedef struct
{
  float first[N_WEIGHTS], bias[CHANNELS], second[N_WEIGHTS];
} Numbers;

void      draw_numbers             (Numbers       *numbers);
VnValue  *add_constant             (VnGraph       *graph,
                                    const char    *name,
                                    const VnShape *shape,
                                    const float   *numbers);
VnValue  *add_node                 (VnGraph       *graph,
                                    const char    *name,
                                    const char    *op_type,
                                    VnValue       *a,
                                    VnValue       *b,
                                    VnValue       *c);
VnModel  *diagnosis_make_model     (void);
char     *diagnosis_make_samples   (void);
void      diagnosis_remove_samples (const char    *folder);
VnRecipe *diagnosis_make_recipe    (void);
VnRun    *diagnosis_run            (gboolean       cures);

G_END_DECLS
