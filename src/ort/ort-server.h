/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that runs parts of networks in libonnxruntime, which is foreign code that may crash: this program once more. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The word behind the program's name that starts it so; then the number of channels, and the folder. */
#define VN_ORT_SERVER "--serve-onnxruntime"

/* Of each channel a socket and then shared memory, from this file descriptor on. */
#define VN_ORT_FIRST_FD 3

gboolean vn_ort_server_take_over (int    argc,
                                  char **argv,
                                  int   *status);    /* (out): what main() shall return, if TRUE */
gboolean vn_ort_server_is_there  (void);

G_END_DECLS
