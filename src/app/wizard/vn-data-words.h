/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the step Data calls samples, by what a network reads. */

#include "vn-dataset.h"
#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnDataWords:
 * @heading: of the step
 * @usual, @optional: what the samples are for, where the target needs them and where it does not
 * @choose: what to do while there are none
 * @drop: likewise, where they would be seen
 * @icon: of their row
 * @takes_files: files are chosen, and folders, too; otherwise folders alone
 */
typedef struct
{
  const char *heading, *usual, *optional, *choose, *drop, *icon;
  gboolean    takes_files;
} VnDataWords;

const VnDataWords *vn_data_words_find     (const VnModel *model,     /* nullable */
                                           VnDataset     *dataset);  /* nullable */
gboolean           vn_data_words_are_pictures (const VnDataWords *self);

G_END_DECLS
