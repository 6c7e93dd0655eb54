/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Networks that are shown in groups. */

#include "vn-scene-builder.h"

G_BEGIN_DECLS

/**
 * Net: a scene that nodes are added to.
 */
typedef struct
{
  VnScene *scene;
  guint    n;
} Net;

void     net_init    (Net *net);
guint    net_add     (Net *net,
                      const char *scope,
                      const char *op,
                      guint a,
                      guint b);
guint    add_chain   (Net *net,
                      const char *scope,
                      const char *ops,
                      guint from);
VnScene *make_bert   (void);
VnScene *make_deep   (void);
VnScene *make_resnet (void);
VnScene *make_scopes (void);
VnScene *make_tangle (void);
VnScene *make_chain  (void);

G_END_DECLS
