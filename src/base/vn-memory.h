/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory whose size comes from a file: it is asked for, and a refusal is an error like any other. */
#pragma once

#include "vn-error.h"

G_BEGIN_DECLS

gpointer vn_memory_try         (gsize         n,
                                gsize         size);
gpointer vn_memory_alloc       (gsize         n,
                                gsize         size,
                                GError      **error);
gpointer vn_memory_alloc0      (gsize         n,
                                gsize         size,
                                GError      **error);
gpointer vn_memory_dup         (gconstpointer data,
                                gsize         n,
                                gsize         size,
                                GError      **error);
char    *vn_memory_dup_text    (gconstpointer data,
                                gsize         size,
                                GError      **error);
gpointer vn_memory_try_aligned (gsize         size,
                                gsize         alignment);
void     vn_memory_set_error   (gsize         size,
                                GError      **error);
gboolean vn_memory_has_room    (gsize         size);
gsize    vn_memory_get_budget  (void);
void     vn_memory_set_budget  (gsize         size);
gsize    vn_memory_get_growth  (void);
void     vn_memory_set_growth  (gsize         size);
void     vn_memory_keep_frames (void);
void     vn_memory_share_heap  (void);
void     vn_memory_give_back   (void);
gboolean vn_memory_expect      (gsize         size,
                                GError      **error);

#define vn_try_new(Type, n, error)  ((Type *) vn_memory_alloc ((n), sizeof (Type), (error)))
#define vn_try_new0(Type, n, error) ((Type *) vn_memory_alloc0 ((n), sizeof (Type), (error)))

/* ---- what was refused while something ran ---- */

guint    vn_memory_mark        (void);
gboolean vn_memory_check       (guint         mark,
                                GError      **error);
gboolean vn_error_is_memory    (const GError *error);

/* ---- bytes that grow ---- */

/**
 * VnBuffer:
 * @data: (nullable): @size bytes; a NUL follows that is not counted
 * @failed: memory was refused: nothing is added any more
 */
typedef struct
{
  char     *data;
  gsize     size;
  gboolean  failed;

  /*< private >*/
  gsize     room;
} VnBuffer;

gboolean vn_buffer_add         (VnBuffer     *self,
                                gconstpointer data,
                                gsize         size);
gboolean vn_buffer_reserve     (VnBuffer     *self,
                                gsize         size);
void     vn_buffer_clear       (VnBuffer     *self);
GBytes  *vn_buffer_steal_bytes (VnBuffer     *self,
                                GError      **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnBuffer, vn_buffer_clear)

G_END_DECLS
