/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The toast of a window: one sentence at a time. */

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_TOASTS (vn_toasts_get_type ())
G_DECLARE_FINAL_TYPE (VnToasts, vn_toasts, VN, TOASTS, GObject)

VnToasts *vn_toasts_new           (AdwToastOverlay *overlay);
void      vn_toasts_show          (VnToasts        *self,
                                   const char      *text,
                                   const char      *button,      /* nullable */
                                   const char      *action);     /* nullable */
void      vn_toasts_show_target   (VnToasts        *self,
                                   const char      *text,
                                   const char      *button,      /* nullable */
                                   const char      *action,      /* nullable */
                                   GVariant        *target);     /* nullable */
void      vn_toasts_show_error    (VnToasts        *self,
                                   const char      *title,
                                   const GError    *error);
void      vn_toasts_set_above_bar (VnToasts        *self,
                                   gboolean         is_above);

G_END_DECLS
