/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists what the tables know: operators, range methods, presets, formats, passes, settings ... */
#include "vn-cmd-help.h"
#include "vn-listing.h"

#include "vn-i18n.h"

#include <string.h>

static const struct
{
  const char *name, *summary;
  void      (*fill) (VnListing *listing);
} topics[] = {
#define VN_LISTING(name, summary) { #name, summary, vn_list_##name },
#include "vn-listings.def"
#undef VN_LISTING
};

static void
list_fill_topics (VnListing *listing)
{
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    {
      vn_listing_begin (listing, topics[i].name, NULL);
      vn_listing_add_text (listing, "summary", _(topics[i].summary));
      vn_listing_end (listing, _(topics[i].summary));
    }
}

static gboolean
list_run (char        **args,
          JsonBuilder  *json,
          GError      **error)
{
  g_autoptr(VnListing) listing = NULL;
  g_autoptr(GString) names = g_string_new (NULL);

  if (args[0] != NULL && g_str_equal (args[0], "operators") && args[1] != NULL && args[2] == NULL)
    return vn_list_operator (args[1], json, error);
  listing = vn_listing_new (json);
  if (args[0] == NULL)
    {
      list_fill_topics (listing);
      vn_listing_print (listing, "topics");
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    {
      if (g_str_equal (topics[i].name, args[0]) && args[1] == NULL)
        {
          topics[i].fill (listing);
          vn_listing_print (listing, topics[i].name);
          return TRUE;
        }
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", topics[i].name);
    }
  if (args[1] != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("Unexpected argument “%s”: request one list at a time"),
                 args[1]);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("There is no list “%s”; choose one of: %s"), args[0],
                 names->str);
  return FALSE;
}

const VnCmd vn_cmd_list = {
  .name = "list",
  .usage = "[TOPIC | operators NAME]",
  .summary = N_("List operators, range methods, presets, formats, passes, settings …"),
  .without_model = TRUE,
  .takes_more = TRUE,
  .run = list_run,
};
