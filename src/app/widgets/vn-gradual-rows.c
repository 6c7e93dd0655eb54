/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a long list a few rows at a time. */
#include "vn-gradual-rows.h"

#define KEY          "vn-gradual-rows"
#define ROWS_A_TURN   16
#define ROWS_MADE    256    /* a list widget makes no more, however many there are */

static guint
gradual_rows_count (GtkSliceListModel *self)
{
  GListModel *all = gtk_slice_list_model_get_model (self);

  return all != NULL ? g_list_model_get_n_items (all) : 0;
}

static gboolean
gradual_rows_grow (gpointer data)
{
  GtkSliceListModel *self = data;
  guint shown = gtk_slice_list_model_get_size (self) + ROWS_A_TURN;
  gboolean more = shown < MIN (ROWS_MADE, gradual_rows_count (self));

  gtk_slice_list_model_set_size (self, more ? shown : G_MAXUINT);
  if (!more)
    g_object_steal_data (G_OBJECT (self), KEY);
  return more;
}

static gboolean
gradual_rows_shrink (gpointer data)
{
  GtkSliceListModel *self = data;
  guint shown = MIN (g_list_model_get_n_items (G_LIST_MODEL (self)), ROWS_MADE);

  gtk_slice_list_model_set_size (self, shown > ROWS_A_TURN ? shown - ROWS_A_TURN : 0);
  if (shown > ROWS_A_TURN)
    return G_SOURCE_CONTINUE;
  g_object_steal_data (G_OBJECT (self), KEY);
  return G_SOURCE_REMOVE;
}

static void
gradual_rows_stop (gpointer source)
{
  g_source_remove (GPOINTER_TO_UINT (source));
}

static void
gradual_rows_start (GtkSliceListModel *self,
                    GSourceFunc        step)
{
  g_object_set_data_full (G_OBJECT (self), KEY, GUINT_TO_POINTER (g_idle_add (step, self)), gradual_rows_stop);
}

/**
 * vn_gradual_rows_new:
 * @rows: (transfer full) (nullable): all of them
 *
 * Returns: (transfer full): a list of none until vn_gradual_rows_show()
 */
GtkSliceListModel *
vn_gradual_rows_new (GListModel *rows)
{
  g_return_val_if_fail (rows == NULL || G_IS_LIST_MODEL (rows), NULL);

  return gtk_slice_list_model_new (rows, 0, 0);
}

/**
 * vn_gradual_rows_begin:
 *
 * To be called before many rows change, and vn_gradual_rows_show() behind it: shows only the first ones of many.
 */
void
vn_gradual_rows_begin (GtkSliceListModel *self)
{
  g_return_if_fail (GTK_IS_SLICE_LIST_MODEL (self));

  g_object_set_data (G_OBJECT (self), KEY, NULL);
  gtk_slice_list_model_set_size (self, MIN (gtk_slice_list_model_get_size (self), 2 * ROWS_A_TURN));
}

/**
 * vn_gradual_rows_show:
 *
 * Shows all rows at once if they are few, else some now and more whenever the main loop has time.
 */
void
vn_gradual_rows_show (GtkSliceListModel *self)
{
  g_return_if_fail (GTK_IS_SLICE_LIST_MODEL (self));

  if (gtk_slice_list_model_get_size (self) == G_MAXUINT)
    return;
  if (gradual_rows_count (self) <= 2 * ROWS_A_TURN)
    {
      g_object_set_data (G_OBJECT (self), KEY, NULL);
      gtk_slice_list_model_set_size (self, G_MAXUINT);
      return;
    }
  gtk_slice_list_model_set_size (self, MAX (2 * ROWS_A_TURN, gtk_slice_list_model_get_size (self)));
  gradual_rows_start (self, gradual_rows_grow);
}

/**
 * vn_gradual_rows_hide:
 *
 * Takes the rows away, as nobody sees them now: a few whenever the main loop has time.
 */
void
vn_gradual_rows_hide (GtkSliceListModel *self)
{
  g_return_if_fail (GTK_IS_SLICE_LIST_MODEL (self));

  gradual_rows_start (self, gradual_rows_shrink);
}
