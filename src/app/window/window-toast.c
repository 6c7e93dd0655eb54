/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window's toast: one sentence at its lower edge, and errors with their details behind a button. There is one at a time: what was
 * said before may not be so any more, so it gives way at once. */
#include "vn-window-private.h"

#include "vn-compat.h"
#include "vn-i18n.h"

#define TOAST_SECONDS 5

typedef struct
{
  char   *title;
  GError *error;
} Failure;

static void
window_toast_free_failure (gpointer data)
{
  Failure *self = data;

  g_free (self->title);
  g_error_free (self->error);
  g_free (self);
}

static void
window_toast_clicked (AdwToast *toast,
                      gpointer  window)
{
  Failure *failure = g_object_get_data (G_OBJECT (toast), "vn-failure");

  if (failure != NULL)
    vn_show_error (window, failure->title, failure->error);
}

/* libadwaita 1.2 frees what it knows of a toast when it has slid out, and reads it when it has slid in: where no frame was drawn in
 * between, as while a window is hidden, both happen in the next one, in this order. In the first frame from now it has slid in. */
static gboolean
window_toast_tick (GtkWidget     *toasts,
                   GdkFrameClock *clock,
                   gpointer       data)
{
  VnWindow *self = data;

  if (self->toast_frames++ == 0)
    return G_SOURCE_CONTINUE;
  self->toast_tick = 0;
  if (self->toast != NULL)
    adw_toast_dismiss (self->toast);
  return G_SOURCE_REMOVE;
}

static gboolean
window_toast_end (gpointer data)
{
  VnWindow *self = data;

  self->toast_source = 0;
  self->toast_frames = 0;
  self->toast_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self->toasts), window_toast_tick, self, NULL);
  return G_SOURCE_REMOVE;
}

static void
window_toast_stop (VnWindow *self)
{
  g_clear_handle_id (&self->toast_source, g_source_remove);
  if (self->toast_tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self->toasts), self->toast_tick);
  self->toast_tick = 0;
}

static void
window_toast_ended (VnWindow *self,
                    AdwToast *toast)
{
  if (self->toast != toast)
    return;
  window_toast_stop (self);
  g_clear_weak_pointer (&self->toast);
}

/* One that is shown says something else from now on: taking it away and showing another would let both slide past each other. */
static AdwToast *
window_toast_take (VnWindow   *self,
                   const char *text,
                   guint       seconds)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = self->toast;

  if (toast == NULL)
    {
      toast = adw_toast_new (escaped);
      adw_toast_set_timeout (toast, 0);
      g_signal_connect_object (toast, "button-clicked", G_CALLBACK (window_toast_clicked), self, 0);
      g_signal_connect_object (toast, "dismissed", G_CALLBACK (window_toast_ended), self, G_CONNECT_SWAPPED);
      g_set_weak_pointer (&self->toast, toast);
      adw_toast_overlay_add_toast (self->toasts, toast);
    }
  else
    adw_toast_set_title (toast, escaped);
  window_toast_stop (self);
  self->toast_source = g_timeout_add_seconds (seconds, window_toast_end, self);
  return toast;
}

static void
window_toast_set_button (AdwToast   *toast,
                         const char *label,
                         const char *action,
                         GVariant   *target,
                         Failure    *failure)
{
  adw_toast_set_button_label (toast, label);
  adw_toast_set_action_name (toast, NULL);   /* which may not fit the target */
  adw_toast_set_action_target_value (toast, target);
  adw_toast_set_action_name (toast, action);
  g_object_set_data_full (G_OBJECT (toast), "vn-failure", failure, window_toast_free_failure);
}

/**
 * vn_window_toast:
 * @text: one sentence
 * @button: (nullable): label of its button
 * @action: (nullable): what the button does
 */
void
vn_window_toast (VnWindow   *self,
                 const char *text,
                 const char *button,
                 const char *action)
{
  vn_window_toast_target (self, text, button, action, NULL);
}

/**
 * vn_window_toast_target:
 * @text: one sentence
 * @button: (nullable): label of its button
 * @action: (nullable): what the button does
 * @target: (nullable): to what
 */
void
vn_window_toast_target (VnWindow   *self,
                        const char *text,
                        const char *button,
                        const char *action,
                        GVariant   *target)
{
  g_return_if_fail (VN_IS_WINDOW (self) && text != NULL);

  window_toast_set_button (window_toast_take (self, text, TOAST_SECONDS), button, action, target, NULL);
}

/**
 * vn_window_toast_error:
 * @title: what failed
 * @error: why; the toast's button shows it
 */
void
vn_window_toast_error (VnWindow     *self,
                       const char   *title,
                       const GError *error)
{
  Failure *failure;

  g_return_if_fail (VN_IS_WINDOW (self) && title != NULL && error != NULL);

  failure = g_new0 (Failure, 1);
  *failure = (Failure) { g_strdup (title), g_error_copy (error) };
  window_toast_set_button (window_toast_take (self, title, 2 * TOAST_SECONDS), _("Details"), NULL, NULL, failure);
}

/* ---- place ---- */

/* A bar that floats at the foot of the page is not covered. */
static void
window_toast_place (VnWindow *self)
{
  GtkRevealer *foot = vn_page_get_foot (self->view_pages[self->page]);
  gboolean is_main = g_strcmp0 (gtk_stack_get_visible_child_name (self->pages), "main") == 0;

  if (is_main && foot != NULL && gtk_revealer_get_reveal_child (foot))
    gtk_widget_add_css_class (GTK_WIDGET (self->toasts), "above-bar");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->toasts), "above-bar");
}

/**
 * vn_window_init_toasts:
 *
 * Has toasts stand above the bars of the pages.
 */
void
vn_window_init_toasts (VnWindow *self)
{
  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    {
      GtkRevealer *foot = vn_page_get_foot (self->view_pages[i]);

      if (foot != NULL)
        g_signal_connect_object (foot, "notify::reveal-child", G_CALLBACK (window_toast_place), self, G_CONNECT_SWAPPED);
    }
  g_signal_connect_object (self->views, "notify::visible-child", G_CALLBACK (window_toast_place), self, G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  g_signal_connect_object (self->pages, "notify::visible-child", G_CALLBACK (window_toast_place), self, G_CONNECT_SWAPPED);
}
