/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Answers of networks: outputs that readers of tasks recognize, and such as only look like it. */

#include "vn-task-reader.h"

G_BEGIN_DECLS

#define SIZE 64          /* of the picture of detectors */
#define N_THINGS 3u

/* SAME: what the first network says. PART: what another does. LOST: all numbers that count are 0. */
typedef enum { SAME, PART, LOST, N_VARIANTS } Variant;

typedef void (*FillFunc) (VnTensor *tensor, Variant variant);

typedef struct
{
  VnShape     shape;
  FillFunc    fill;
  const char *name;
  gboolean    is_whole;
} Output;

typedef struct
{
  const char *name;
  VnTask      task;
  Output      outputs[6];
  gint64      height, width, n_tokens;
  guint       n, n_kept, n_added;     /* of PART; of LOST nothing is kept */
  VnTaskHint  hint;
} Case;

/* Those that a task keeps some of, and what is taken for nothing of that. */
const Case *task_answers_list_kept   (guint *n);
const Case *task_answers_list_others (guint *n);

void        put                 (VnTensor *tensor,
                                 gsize     at,
                                 double    value);
void        fill_lines          (VnTensor *tensor, Variant variant);
void        fill_tokens         (VnTensor *tensor, Variant variant);
void        fill_softmax_logits (VnTensor *tensor, Variant variant);
void        fill_centres        (VnTensor *tensor, Variant variant);

G_END_DECLS
