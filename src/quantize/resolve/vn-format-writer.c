/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writers of all formats, by the table of formats: what resolves a recipe asks them, and what writes a plan. */
#include "vn-format-writer.h"

static const VnFormatWriter * const writers[] = {
#define VN_FORMAT(SYMBOL, id, ...) [VN_FORMAT_##SYMBOL] = &vn_format_writer_##id,
#include "vn-formats.def"
#undef VN_FORMAT
};

/*< private >
 * vn_format_get_writer:
 *
 * Returns: (transfer none): what writes @format
 */
const VnFormatWriter *
vn_format_get_writer (VnFormat format)
{
  g_return_val_if_fail ((guint) format < G_N_ELEMENTS (writers), writers[0]);

  return writers[format];
}
