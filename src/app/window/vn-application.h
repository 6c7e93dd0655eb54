/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The application: its windows and actions. */

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_APP_ID "io.github.vernier.Vernier"

#define VN_TYPE_APPLICATION (vn_application_get_type ())
G_DECLARE_FINAL_TYPE (VnApplication, vn_application, VN, APPLICATION, AdwApplication)

VnApplication *vn_application_new (void);

G_END_DECLS
