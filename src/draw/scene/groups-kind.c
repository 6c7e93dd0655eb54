/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a group of nodes does, by its operators, and what it is called. */
#include "groups-private.h"

#include "vn-i18n.h"

#include <string.h>

#define MOST_LETTERS 64    /* of an operator in the table, and one more */

typedef struct { const char *title; gboolean by_name; const char *all, *any, *none, *only; } Kind;

static const Kind groups_kinds[] = {
#define VN_GROUP_KIND(KIND, TITLE, BY_NAME, ALL, ANY, NONE, ONLY) { TITLE, BY_NAME, ALL, ANY, NONE, ONLY },
#include "vn-group-kinds.def"
#undef VN_GROUP_KIND
};

/* Words of names that are said in full; what stands in no list is said as it is. */
static const struct { const char *stem, *word; } groups_words[] = {
  { "layer", N_("layer") }, { "layers", N_("layer") }, { "h", N_("layer") },
  { "block", N_("block") }, { "blocks", N_("block") }, { "stage", N_("stage") }, { "stages", N_("stage") },
};

/* Whether @word is in a list of words apart by blanks; a number after a colon is what @count must reach. */
static gboolean
groups_kind_list_has (const char *list,
                      const char *word,
                      guint       count)
{
  gsize length = strlen (word);

  for (const char *at = strstr (list, word); at != NULL; at = strstr (at + 1, word))
    {
      if (at > list && at[-1] != ' ')
        continue;
      if (at[length] == '\0' || at[length] == ' ')
        return TRUE;
      if (at[length] == ':')
        return count >= (guint) g_ascii_strtoull (at + length + 1, NULL, 10);
    }
  return FALSE;
}

/* Whether the nodes have every word of a list, as often as it says. */
static gboolean
groups_kind_has_all (const char *list,
                     GHashTable *counts)
{
  while (*list != '\0')
    {
      char word[MOST_LETTERS];
      gsize length = strcspn (list, " :"), rest = strcspn (list, " ");
      guint least = list[length] == ':' ? (guint) g_ascii_strtoull (list + length + 1, NULL, 10) : 1;

      g_strlcpy (word, list, MIN (length + 1, sizeof word));
      if (GPOINTER_TO_UINT (g_hash_table_lookup (counts, word)) < least)
        return FALSE;
      list += rest + (list[rest] == ' ');
    }
  return TRUE;
}

static gboolean
groups_kind_fits (const Kind *kind,
                  GHashTable *counts)
{
  GHashTableIter iter;
  gpointer word, value;
  guint n_any = 0;

  if (!groups_kind_has_all (kind->all, counts))
    return FALSE;
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &word, &value))
    {
      guint count = GPOINTER_TO_UINT (value);

      n_any += groups_kind_list_has (kind->any, word, count);
      if (groups_kind_list_has (kind->none, word, count))
        return FALSE;
      if (*kind->only != '\0' && g_ascii_isupper (*(const char *) word) && !groups_kind_list_has (kind->only, word, count))
        return FALSE;
    }
  return *kind->any == '\0' || n_any > 0;
}

static void
groups_kind_count (GHashTable *counts,
                   const char *word)
{
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, word));

  g_hash_table_insert (counts, (gpointer) word, GUINT_TO_POINTER (count + 1));
}

static gboolean
groups_kind_is_product (const VnSceneNode *node)
{
  return strcmp (node->op, "MatMul") == 0 || strcmp (node->op, "Einsum") == 0;
}

/* Returns: the first line of the table that these nodes fit, or %VN_GROUP_PLAIN. */
VnGroupKind
vn_group_kind_of_nodes (const VnScene *scene,
                        const guint   *nodes,
                        guint          n)
{
  g_autoptr(GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);

  g_return_val_if_fail (scene != NULL, VN_GROUP_PLAIN);

  for (guint i = 0; i < n; i++)
    {
      const VnSceneNode *node = vn_scene_get_node (scene, nodes[i]);

      if (node->kind == VN_SCENE_PAIR)    /* what a group does is what it did before it was quantized */
        continue;
      groups_kind_count (counts, node->op);
      if (node->weighted && node->family == VN_FAMILY_COMPUTE)
        groups_kind_count (counts, "weighted");
      else if (groups_kind_is_product (node))
        groups_kind_count (counts, "product");
      if (node->weighted && strcmp (node->op, "Gather") == 0)
        groups_kind_count (counts, "lookup");
    }
  for (guint i = 0; i < G_N_ELEMENTS (groups_kinds); i++)
    if (groups_kind_fits (&groups_kinds[i], counts))
      return (VnGroupKind) i;
  return VN_GROUP_PLAIN;
}

VnGroupKind
vn_group_kind_of_parts (const VnScene  *scene,
                        Part          **parts,
                        guint           n)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_val_if_fail (scene != NULL, VN_GROUP_PLAIN);

  for (guint i = 0; i < n; i++)
    vn_part_collect (parts[i], nodes);
  return vn_group_kind_of_nodes (scene, (const guint *) (gpointer) nodes->data, nodes->len);
}

/* ---- titles ---- */

/* The number at the end of a name, if there is one behind other characters. */
static const char *
groups_kind_find_number (const char *name)
{
  const char *at = name + strlen (name);

  while (at > name && g_ascii_isdigit (at[-1]))
    at--;
  return at > name && *at != '\0' ? at : NULL;
}

/* "features.14" says which one it is, but "layers.0.1" says less than what it does. */
static gboolean
groups_kind_is_block_name (const char *name)
{
  const char *dot = strchr (name, '.');

  return groups_kind_find_number (name) != NULL && (dot == NULL || strchr (dot + 1, '.') == NULL);
}

/* "layer_._3" is "layer 3"; NULL where the name has no number, or its word is not known. */
static char *
groups_kind_dup_numbered (const char *name)
{
  const char *number = groups_kind_find_number (name);
  g_autofree char *stem = NULL;
  gsize length;

  if (number == NULL)
    return NULL;
  length = (gsize) (number - name);
  while (length > 0 && strchr ("._-", name[length - 1]) != NULL)
    length--;
  stem = g_ascii_strdown (name, (gssize) length);
  for (guint i = 0; i < G_N_ELEMENTS (groups_words); i++)
    if (strcmp (groups_words[i].stem, stem) == 0)
      return g_strdup_printf ("%s\u00a0%s", _(groups_words[i].word), number);
  return NULL;
}

/* Returns: what a group is called; blocks without a name of their own are numbered by the caller. */
char *
vn_group_dup_title (const Part  *part,
                    VnGroupKind  kind)
{
  char *title;

  g_return_val_if_fail (part != NULL, NULL);

  if (part->name == NULL)
    return g_strdup (_("model"));
  title = part->number == 0 ? groups_kind_dup_numbered (part->name) : NULL;
  if (title != NULL)
    return title;
  if (part->number == 0 && (kind == VN_GROUP_PLAIN || groups_kinds[kind].by_name || groups_kind_is_block_name (part->name)))
    return g_strdup (part->name);
  return g_strdup (kind != VN_GROUP_PLAIN ? _(groups_kinds[kind].title) : _(part->name));
}
