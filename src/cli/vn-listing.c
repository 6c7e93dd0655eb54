/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of "list": text in two columns below headings, or an array of JSON objects. */
#include "vn-listing.h"
#include "vn-cmd-help.h"

typedef struct
{
  char *id, *group, *line;
} ListingRow;

struct _VnListing
{
  JsonBuilder *json;    /* borrowed: the command's result */
  JsonBuilder *rows;
  GArray      *texts;   /* of ListingRow */
};

static void
listing_clear_row (gpointer data)
{
  ListingRow *row = data;

  g_free (row->id);
  g_free (row->group);
  g_free (row->line);
}

/**
 * vn_listing_new:
 * @json: the result of the command, an object that is open; must live as long
 *
 * Returns: (transfer full): a listing without rows
 */
VnListing *
vn_listing_new (JsonBuilder *json)
{
  VnListing *self;

  g_return_val_if_fail (json != NULL, NULL);

  self = g_new0 (VnListing, 1);
  self->json = json;
  self->rows = json_builder_new ();
  json_builder_begin_array (self->rows);
  self->texts = g_array_new (FALSE, TRUE, sizeof (ListingRow));
  g_array_set_clear_func (self->texts, listing_clear_row);
  return self;
}

void
vn_listing_free (VnListing *self)
{
  g_object_unref (self->rows);
  g_array_unref (self->texts);
  g_free (self);
}

/**
 * vn_listing_begin:
 * @id: what the row is about
 * @group: (nullable): heading of the rows it stands among
 */
void
vn_listing_begin (VnListing  *self,
                  const char *id,
                  const char *group)
{
  ListingRow row = { g_strdup (id), g_strdup (group), NULL };

  g_return_if_fail (self != NULL);

  g_array_append_val (self->texts, row);
  json_builder_begin_object (self->rows);
  vn_listing_add_text (self, "id", id);
  vn_listing_add_text (self, "group", group);
}

void
vn_listing_add_text (VnListing  *self,
                     const char *field,
                     const char *text)
{
  g_return_if_fail (self != NULL);

  vn_json_add_text_if (self->rows, field, text);
}

void
vn_listing_add_number (VnListing  *self,
                       const char *field,
                       gint64      number)
{
  g_return_if_fail (self != NULL);

  vn_json_add_int (self->rows, field, number);
}

void
vn_listing_add_flag (VnListing  *self,
                     const char *field,
                     gboolean    flag)
{
  g_return_if_fail (self != NULL);

  vn_json_add_bool (self->rows, field, flag);
}

void
vn_listing_add_words (VnListing          *self,
                      const char         *field,
                      const char * const *words)
{
  g_return_if_fail (self != NULL);

  vn_json_add_texts (self->rows, field, words);
}

void
vn_listing_add_types (VnListing  *self,
                      const char *field,
                      VnDTypeSet  types)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new ();

  g_return_if_fail (self != NULL);

  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((types >> dtype & 1) != 0)
      g_ptr_array_add (names, (gpointer) vn_dtype_get_name ((VnDType) dtype));
  g_ptr_array_add (names, NULL);
  vn_listing_add_words (self, field, (const char * const *) names->pdata);
}

JsonBuilder *
vn_listing_get_rows (VnListing *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->rows;
}

void
vn_listing_end (VnListing  *self,
                const char *line)
{
  g_return_if_fail (self != NULL);

  g_array_index (self->texts, ListingRow, self->texts->len - 1).line = g_strdup (line);
  json_builder_end_object (self->rows);
}

static guint
listing_find_width (VnListing *self)
{
  guint width = 0;

  for (guint i = 0; i < self->texts->len; i++)
    width = MAX (width, (guint) g_utf8_strlen (g_array_index (self->texts, ListingRow, i).id, -1));
  return width + 4;
}

/**
 * vn_listing_print:
 * @name: member of the result that holds the rows
 *
 * Prints the rows, or adds them to the result with --json. Nothing can be added afterwards.
 */
void
vn_listing_print (VnListing  *self,
                  const char *name)
{
  g_autoptr(GString) text = g_string_new (NULL);
  const char *group = NULL;
  guint width;

  g_return_if_fail (self != NULL);

  width = listing_find_width (self);
  for (guint i = 0; i < self->texts->len; i++)
    {
      const ListingRow *row = &g_array_index (self->texts, ListingRow, i);

      if (row->group != NULL && g_strcmp0 (group, row->group) != 0)
        g_string_append_printf (text, "%s%s\n", i > 0 ? "\n" : "", row->group);
      group = row->group;
      vn_cmd_append_item (text, row->id, row->line, width);
    }
  vn_cmd_print_lines (text->str);
  json_builder_end_array (self->rows);
  vn_json_add_node (self->json, name, json_builder_get_root (self->rows));
}
