/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that a file without a name stands for: the system writes it to the disk where memory is short. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnSpill:
 * @data: (array length=size): readable and writable, zero at first; begins at a page
 * @size: bytes
 */
typedef struct
{
  gpointer data;
  gsize    size;
} VnSpill;

char    *vn_spill_dup_folder (void);
int      vn_spill_open       (void);
VnSpill *vn_spill_try        (gsize    size);
void     vn_spill_free       (VnSpill *self);

G_END_DECLS
