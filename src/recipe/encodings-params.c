/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scale and zero point of a tensor, or of its channels, as every kind of JSON has them. */
#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

#define MAX_ZERO_POINT 0x1p52   /* a double holds every integer up to here */

static gboolean
encodings_read_zero_point (JsonNode    *node,
                           gint64      *zero_point,
                           const char  *where,
                           GError     **error)
{
  double number;

  if (!vn_json_get_number (node, where, &number, error))
    return FALSE;
  if (number != floor (number) || fabs (number) > MAX_ZERO_POINT)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("%s: the zero point is not an integer"), where);
      return FALSE;
    }
  *zero_point = (gint64) number;
  return TRUE;
}

static gboolean
encodings_read_scale (JsonNode    *node,
                      float       *scale,
                      const char  *where,
                      GError     **error)
{
  double number;

  if (!vn_json_get_number (node, where, &number, error))
    return FALSE;
  *scale = (float) number;
  return TRUE;
}

static gboolean
encodings_read_channels (VnEncoding  *imported,
                         JsonArray   *scales,
                         JsonArray   *zero_points,
                         const char  *where,
                         GError     **error)
{
  const guint n = json_array_get_length (scales);

  if (n == 0 || json_array_get_length (zero_points) != n)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("%s: there are %u scales and %u zero points; expected one of each per channel"), where, n,
                   json_array_get_length (zero_points));
      return FALSE;
    }
  if ((imported->scales = vn_try_new (float, n, error)) == NULL ||
      (imported->zero_points = vn_try_new (gint64, n, error)) == NULL)
    return FALSE;
  imported->n = n;
  for (guint i = 0; i < n; i++)
    if (!encodings_read_scale (json_array_get_element (scales, i), &imported->scales[i], where, error) ||
        !encodings_read_zero_point (json_array_get_element (zero_points, i), &imported->zero_points[i], where, error))
      return FALSE;
  imported->scale = imported->scales[0];
  imported->zero_point = imported->zero_points[0];
  return TRUE;
}

/*< private >
 * vn_encoding_read_params:
 * @imported: (inout): empty but for the type
 * @scale, @zero_point: a number each, or a list each
 */
gboolean
vn_encoding_read_params (VnEncoding  *imported,
                         JsonNode    *scale,
                         JsonNode    *zero_point,
                         const char  *where,
                         GError     **error)
{
  imported->has_params = TRUE;
  if (JSON_NODE_HOLDS_ARRAY (scale) && JSON_NODE_HOLDS_ARRAY (zero_point))
    return encodings_read_channels (imported, json_node_get_array (scale), json_node_get_array (zero_point), where, error);
  return encodings_read_scale (scale, &imported->scale, where, error) &&
         encodings_read_zero_point (zero_point, &imported->zero_point, where, error);
}
