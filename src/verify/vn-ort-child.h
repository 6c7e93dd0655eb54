/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* libonnxruntime is foreign code that may crash: it runs in a process of its own, which is the same program once more. A program
 * that asks at the start of main() whether it is such a process can verify without Python. */

/* The word behind the program's name that starts it so. */
#define VN_ORT_CHILD "--run-onnxruntime"

gboolean    vn_ort_child_take_over (int           argc,
                                    char        **argv,
                                    int          *status);    /* (out): what main() shall return, if TRUE */
gboolean    vn_ort_child_is_there  (void);

G_END_DECLS
