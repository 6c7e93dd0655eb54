/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The toast of a window: one sentence at its lower edge, and errors with their details behind a button. There is one at a time:
 * what was said before may not be so any more, so it gives way at once. */
#include "vn-toasts.h"

#include "vn-compat.h"
#include "vn-i18n.h"

#define TOAST_SECONDS 5

struct _VnToasts
{
  GObject          parent_instance;

  AdwToastOverlay *overlay;    /* (nullable): gone with the window */
  AdwToast        *toast;      /* (nullable): the one that is shown */
  guint            source;     /* of its end */
  guint            tick, n_frames;
};

G_DEFINE_FINAL_TYPE (VnToasts, vn_toasts, G_TYPE_OBJECT)

typedef struct
{
  char   *title;
  GError *error;
} Failure;

static void
toasts_free_failure (gpointer data)
{
  Failure *self = data;

  g_free (self->title);
  g_error_free (self->error);
  g_free (self);
}

static void
toasts_clicked (VnToasts *self,
                AdwToast *toast)
{
  Failure *failure = g_object_get_data (G_OBJECT (toast), "vn-failure");

  if (failure != NULL && self->overlay != NULL)
    vn_show_error (GTK_WIDGET (gtk_widget_get_root (GTK_WIDGET (self->overlay))), failure->title, failure->error);
}

/* libadwaita 1.2 frees what it knows of a toast when it has slid out, and reads it when it has slid in: where no frame was drawn
 * in between, as while a window is hidden, both happen in the next one, in this order. In the first frame from now it has slid
 * in. */
static gboolean
toasts_tick (GtkWidget     *overlay,
             GdkFrameClock *clock,
             gpointer       data)
{
  VnToasts *self = data;

  if (self->n_frames++ == 0)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  if (self->toast != NULL)
    adw_toast_dismiss (self->toast);
  return G_SOURCE_REMOVE;
}

static gboolean
toasts_end (gpointer data)
{
  VnToasts *self = data;

  self->source = 0;
  self->n_frames = 0;
  self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self->overlay), toasts_tick, self, NULL);
  return G_SOURCE_REMOVE;
}

static void
toasts_stop (VnToasts *self)
{
  g_clear_handle_id (&self->source, g_source_remove);
  if (self->tick != 0 && self->overlay != NULL)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self->overlay), self->tick);
  self->tick = 0;
}

static void
toasts_ended (VnToasts *self,
              AdwToast *toast)
{
  if (self->toast != toast)
    return;
  toasts_stop (self);
  g_clear_weak_pointer (&self->toast);
}

/* One that is shown says something else from now on: taking it away and showing another would let both slide past each other. */
static AdwToast *
toasts_take (VnToasts   *self,
             const char *text,
             guint       seconds)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = self->toast;

  if (toast == NULL)
    {
      toast = adw_toast_new (escaped);
      adw_toast_set_timeout (toast, 0);
      g_signal_connect_object (toast, "button-clicked", G_CALLBACK (toasts_clicked), self, G_CONNECT_SWAPPED);
      g_signal_connect_object (toast, "dismissed", G_CALLBACK (toasts_ended), self, G_CONNECT_SWAPPED);
      g_set_weak_pointer (&self->toast, toast);
      adw_toast_overlay_add_toast (self->overlay, toast);
    }
  else
    adw_toast_set_title (toast, escaped);
  toasts_stop (self);
  self->source = g_timeout_add_seconds (seconds, toasts_end, self);
  return toast;
}

static void
toasts_set_button (AdwToast   *toast,
                   const char *label,
                   const char *action,
                   GVariant   *target,
                   Failure    *failure)
{
  adw_toast_set_button_label (toast, label);
  adw_toast_set_action_name (toast, NULL);   /* which may not fit the target */
  adw_toast_set_action_target_value (toast, target);
  adw_toast_set_action_name (toast, action);
  g_object_set_data_full (G_OBJECT (toast), "vn-failure", failure, toasts_free_failure);
}

/**
 * vn_toasts_show:
 * @text: one sentence
 * @button: (nullable): label of its button
 * @action: (nullable): what the button does
 */
void
vn_toasts_show (VnToasts   *self,
                const char *text,
                const char *button,
                const char *action)
{
  g_return_if_fail (VN_IS_TOASTS (self) && text != NULL);

  vn_toasts_show_target (self, text, button, action, NULL);
}

/**
 * vn_toasts_show_target:
 * @text: one sentence
 * @button: (nullable): label of its button
 * @action: (nullable): what the button does
 * @target: (nullable): to what
 */
void
vn_toasts_show_target (VnToasts   *self,
                       const char *text,
                       const char *button,
                       const char *action,
                       GVariant   *target)
{
  g_return_if_fail (VN_IS_TOASTS (self) && text != NULL);

  toasts_set_button (toasts_take (self, text, TOAST_SECONDS), button, action, target, NULL);
}

/**
 * vn_toasts_show_error:
 * @title: what failed
 * @error: why; the toast's button shows it
 */
void
vn_toasts_show_error (VnToasts     *self,
                      const char   *title,
                      const GError *error)
{
  Failure *failure;

  g_return_if_fail (VN_IS_TOASTS (self) && title != NULL && error != NULL);

  failure = g_new0 (Failure, 1);
  *failure = (Failure) { g_strdup (title), g_error_copy (error) };
  toasts_set_button (toasts_take (self, title, 2 * TOAST_SECONDS), _("Details"), NULL, NULL, failure);
}

/**
 * vn_toasts_set_above_bar:
 * @is_above: whether a bar floats at the foot of the page, which toasts must not cover
 */
void
vn_toasts_set_above_bar (VnToasts *self,
                         gboolean  is_above)
{
  g_return_if_fail (VN_IS_TOASTS (self));

  if (self->overlay != NULL && is_above)
    gtk_widget_add_css_class (GTK_WIDGET (self->overlay), "above-bar");
  else if (self->overlay != NULL)
    gtk_widget_remove_css_class (GTK_WIDGET (self->overlay), "above-bar");
}

static void
vn_toasts_dispose (GObject *object)
{
  VnToasts *self = VN_TOASTS (object);

  toasts_stop (self);
  g_clear_weak_pointer (&self->toast);
  g_clear_weak_pointer (&self->overlay);
  G_OBJECT_CLASS (vn_toasts_parent_class)->dispose (object);
}

static void
vn_toasts_class_init (VnToastsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_toasts_dispose;
}

static void
vn_toasts_init (VnToasts *self)
{
}

/**
 * vn_toasts_new:
 * @overlay: shows them; may go first
 *
 * Returns: (transfer full): what has @overlay show one toast at a time
 */
VnToasts *
vn_toasts_new (AdwToastOverlay *overlay)
{
  VnToasts *self;

  g_return_val_if_fail (ADW_IS_TOAST_OVERLAY (overlay), NULL);

  self = g_object_new (VN_TYPE_TOASTS, NULL);
  g_set_weak_pointer (&self->overlay, overlay);
  return self;
}
