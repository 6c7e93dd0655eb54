/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing JSON: members of objects, and numbers that JSON does not know. */
#include "vn-json.h"

#include <math.h>

/**
 * vn_json_begin_object:
 * @member: its name in the object that is being written
 *
 * Begins an object, to be ended with json_builder_end_object().
 */
void
vn_json_begin_object (JsonBuilder *json,
                      const char  *member)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  json_builder_begin_object (json);
}

/**
 * vn_json_begin_array:
 *
 * As vn_json_begin_object(), for an array.
 */
void
vn_json_begin_array (JsonBuilder *json,
                     const char  *member)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  json_builder_begin_array (json);
}

/**
 * vn_json_add_node:
 * @node: (transfer full): the value
 */
void
vn_json_add_node (JsonBuilder *json,
                  const char  *member,
                  JsonNode    *node)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  json_builder_add_value (json, node);
}

/**
 * vn_json_add_text:
 * @text: (nullable): %NULL becomes null
 */
void
vn_json_add_text (JsonBuilder *json,
                  const char  *member,
                  const char  *text)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  if (text != NULL)
    json_builder_add_string_value (json, text);
  else
    json_builder_add_null_value (json);
}

/**
 * vn_json_add_text_if:
 * @text: (nullable): for %NULL there is no member
 */
void
vn_json_add_text_if (JsonBuilder *json,
                     const char  *member,
                     const char  *text)
{
  g_return_if_fail (json != NULL);

  if (text != NULL)
    vn_json_add_text (json, member, text);
}

/**
 * vn_json_add_texts:
 * @texts: (nullable) (array zero-terminated=1): %NULL becomes an empty array
 */
void
vn_json_add_texts (JsonBuilder        *json,
                   const char         *member,
                   const char * const *texts)
{
  g_return_if_fail (json != NULL);

  vn_json_begin_array (json, member);
  for (; texts != NULL && *texts != NULL; texts++)
    json_builder_add_string_value (json, *texts);
  json_builder_end_array (json);
}

void
vn_json_add_int (JsonBuilder *json,
                 const char  *member,
                 gint64       value)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  json_builder_add_int_value (json, value);
}

void
vn_json_add_bool (JsonBuilder *json,
                  const char  *member,
                  gboolean     value)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  json_builder_add_boolean_value (json, value);
}

/**
 * vn_json_add_number:
 * @value: NaN and infinities become the texts “nan”, “inf” and “-inf”: JSON has no numbers for them
 */
void
vn_json_add_number (JsonBuilder *json,
                    const char  *member,
                    double       value)
{
  g_return_if_fail (json != NULL);

  json_builder_set_member_name (json, member);
  vn_json_add_double (json, value);
}

/**
 * vn_json_add_double:
 *
 * As vn_json_add_number(), for the next value of an array or of a member whose name is set.
 */
void
vn_json_add_double (JsonBuilder *json,
                    double       value)
{
  g_return_if_fail (json != NULL);

  if (isfinite (value))
    json_builder_add_double_value (json, value);
  else
    json_builder_add_string_value (json, isnan (value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/**
 * vn_json_add_time:
 * @seconds: since 1970, in the years 1 to 9999: “2025-03-31T14:05:00Z”; null beyond
 */
void
vn_json_add_time (JsonBuilder *json,
                  const char  *member,
                  gint64       seconds)
{
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc (seconds);
  g_autofree char *text = time != NULL ? g_date_time_format_iso8601 (time) : NULL;

  g_return_if_fail (json != NULL);

  vn_json_add_text (json, member, text);
}
