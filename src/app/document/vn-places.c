/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what the window shows lies: the demo, the help, the schema of its settings. */
#include "vn-places.h"

#include "vn-place.h"

/**
 * vn_demo_find:
 *
 * The demo is looked for in $VN_DEMO_DIR, near the program: in the prefix it was installed in or moved to, or in the source
 * folder when it runs from a build folder inside it; and where it was installed.
 *
 * Returns: (transfer full) (nullable): the folder that holds demo.onnx and samples
 */
char *
vn_demo_find (void)
{
  static const VnPlace place = { "VN_DEMO_DIR", { "../share/vernier/demo", "../../../data/demo" }, VN_PKGDATADIR "/demo",
                                 "demo.onnx" };

  return vn_place_find (&place);
}

/**
 * vn_help_find:
 *
 * The help is looked for in $VN_HELP_DIR, near the program, in the prefix or the build folder, and where it was installed.
 *
 * Returns: (transfer full) (nullable): the folder that holds index.html
 */
char *
vn_help_find (void)
{
  static const VnPlace place = { "VN_HELP_DIR", { "../share/vernier/help", "../../data/help" }, VN_PKGDATADIR "/help",
                                 "index.html" };

  return vn_place_find (&place);
}

/**
 * vn_schemas_find:
 *
 * The schema of the settings is part of the system where the program is installed by a package. Elsewhere a copy lies near the
 * program, and where it was installed.
 *
 * Returns: (transfer full) (nullable): the folder that holds the compiled schema
 */
char *
vn_schemas_find (void)
{
  static const VnPlace place = { NULL, { "../share/vernier/schemas", "../../data" }, VN_PKGDATADIR "/schemas",
                                 "gschemas.compiled" };

  return vn_place_find (&place);
}
