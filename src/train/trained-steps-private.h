/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block and its samples while it is trained: trained-loss.c runs it, trained-octaves.c and trained-steps.c change what it
 * learns. */
#pragma once

#include "trained-block.h"

G_BEGIN_DECLS

/* Samples, with their copies, that a loss is measured on at most. */
#define VN_TRAIN_MOST_JUDGED 16

typedef struct
{
  VnTrainedBlock    *block;
  const VnTrainTaps *read, *float_read, *wanted;
  const VnTrainScheme *scheme;
  guint              n_trained, n_judged;
  guint             *order;       /* samples: those trained with, shuffled, then those judged by */
  guint              at;          /* next in @order */
  GRand             *random;
  const guint       *items;       /* of the step: samples */
  guint              n_items;
  guint32           *seeds;       /* by item: for the numbers that are float */
  gboolean           learns;
  double            *losses;      /* by item */
  VnTrainImportance *counts;      /* by output: what an error counts */
  double             scale;       /* of the loss */
  gint64             began;       /* monotonic time */
} VnTrainSteps;

gboolean vn_train_steps_forward        (VnTrainSteps  *self,
                                        VnBlockRun    *run,
                                        guint          item,
                                        GError       **error);
gboolean vn_train_steps_run_item       (VnBlockRun    *run,
                                        guint          item,
                                        gpointer       data,
                                        GError       **error);
void     vn_train_steps_write          (VnTrainSteps  *self,
                                        gboolean       hard);
gboolean vn_train_steps_measure        (VnTrainSteps  *self,
                                        const guint   *items,
                                        guint          n_items,
                                        double        *loss,
                                        GError       **error);
gboolean vn_train_steps_judge          (VnTrainSteps  *self,
                                        double        *loss,
                                        GError       **error);
void     vn_train_steps_keep           (VnTrainSteps  *self);
void     vn_train_steps_take_best      (VnTrainSteps  *self);
gboolean vn_train_steps_search_octaves (VnTrainSteps  *self,
                                        GError       **error);

G_END_DECLS
