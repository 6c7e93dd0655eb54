/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from a change of the document, one thing after the other: all at once would keep the main loop too long where a
 * network is large. */
#include "vn-later.h"

#define AT_ONCE_NODES 1500    /* below it takes a few milliseconds */

typedef struct
{
  GWeakRef    object;
  VnLaterFunc func;
} Later;

static GQueue waiting = G_QUEUE_INIT;   /* of Later, in the order they came */
static guint source;                    /* that takes one a turn; 0: nothing waits */

typedef struct
{
  VnLaterFunc func;
  gint64      frame;    /* that was next when it was asked for; -1: not known yet */
} Frame;

static void
later_free (Later *self)
{
  g_weak_ref_clear (&self->object);
  g_free (self);
}

static gboolean
later_run (gpointer data)
{
  Later *first = g_queue_pop_head (&waiting);
  g_autoptr(GObject) object = g_weak_ref_get (&first->object);

  if (object != NULL)
    first->func (object);
  later_free (first);
  if (!g_queue_is_empty (&waiting))
    return G_SOURCE_CONTINUE;
  source = 0;
  return G_SOURCE_REMOVE;
}

static gboolean
later_is_waiting (gpointer    object,
                  VnLaterFunc func)
{
  for (GList *at = waiting.head; at != NULL; at = at->next)
    {
      Later *later = at->data;
      g_autoptr(GObject) other = g_weak_ref_get (&later->object);   /* its address may be that of another by now */

      if (other == object && later->func == func)
        return TRUE;
    }
  return FALSE;
}

static gboolean
later_is_at_once (VnDocument *document)
{
  return g_list_model_get_n_items (vn_document_get_nodes (document)) < AT_ONCE_NODES;
}

/**
 * vn_later:
 * @object: a GObject
 * @func: is called with @object
 *
 * Calls @func now if the network of @document is small, else when the main loop has time for it: once, however often that was
 * asked for until then, and not at all if @object is gone by then.
 */
void
vn_later (gpointer     object,
          VnDocument  *document,
          VnLaterFunc  func)
{
  Later *later;

  g_return_if_fail (G_IS_OBJECT (object) && VN_IS_DOCUMENT (document) && func != NULL);

  if (later_is_at_once (document))
    {
      func (object);
      return;
    }
  if (later_is_waiting (object, func))
    return;
  later = g_new0 (Later, 1);
  later->func = func;
  g_weak_ref_init (&later->object, object);
  g_queue_push_tail (&waiting, later);
  if (source == 0)
    source = g_idle_add (later_run, NULL);
}

/* Called before a frame is laid out: in the first one what was made until now still waits for that. */
static gboolean
later_tick (GtkWidget     *widget,
            GdkFrameClock *clock,
            gpointer       data)
{
  Frame *self = data;
  gint64 frame = gdk_frame_clock_get_frame_counter (clock);

  if (self->frame < 0)
    self->frame = frame;
  if (frame <= self->frame)
    return G_SOURCE_CONTINUE;
  self->func (widget);
  return G_SOURCE_REMOVE;
}

/**
 * vn_later_frame:
 * @func: is called with @widget
 *
 * Calls @func now if the network of @document is small, else once what was made for @widget until now has been laid out and
 * drawn, so that what @func makes has a frame of its own. While @widget is not mapped, that waits; each call counts, and none
 * once @widget is gone.
 */
void
vn_later_frame (GtkWidget   *widget,
                VnDocument  *document,
                VnLaterFunc  func)
{
  Frame *self;

  g_return_if_fail (GTK_IS_WIDGET (widget) && VN_IS_DOCUMENT (document) && func != NULL);

  if (later_is_at_once (document))
    {
      func (widget);
      return;
    }
  self = g_new0 (Frame, 1);
  self->func = func;
  self->frame = -1;
  gtk_widget_add_tick_callback (widget, later_tick, self, g_free);
}
