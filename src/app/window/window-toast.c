/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window's toasts: one sentence at its lower edge, and errors with their details behind a button. */
#include "vn-window-private.h"

#include "vn-compat.h"
#include "vn-i18n.h"

#define TOAST_SECONDS 5

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
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (escaped);

  adw_toast_set_timeout (toast, TOAST_SECONDS);
  if (button != NULL)
    {
      adw_toast_set_button_label (toast, button);
      adw_toast_set_action_name (toast, action);
    }
  adw_toast_overlay_add_toast (self->toasts, toast);
}

typedef struct
{
  GtkWidget *window;   /* outlives its toasts */
  char      *title;
  GError    *error;
} Failure;

static void
window_failure_free (gpointer  data,
                     GClosure *closure)
{
  Failure *self = data;

  g_free (self->title);
  g_error_free (self->error);
  g_free (self);
}

static void
window_show_failure (AdwToast *toast,
                     gpointer  data)
{
  Failure *self = data;

  vn_show_error (self->window, self->title, self->error);
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
  g_autofree char *escaped = g_markup_escape_text (title, -1);
  AdwToast *toast = adw_toast_new (escaped);
  Failure *failure = g_new0 (Failure, 1);

  *failure = (Failure) { GTK_WIDGET (self), g_strdup (title), g_error_copy (error) };
  adw_toast_set_timeout (toast, 2 * TOAST_SECONDS);
  adw_toast_set_button_label (toast, _("Details"));
  g_signal_connect_data (toast, "button-clicked", G_CALLBACK (window_show_failure), failure, window_failure_free, 0);
  adw_toast_overlay_add_toast (self->toasts, toast);
}
