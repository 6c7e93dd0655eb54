/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which class a sample belongs to: the place of its folder among the sorted folders, or what a file says. The file holds a
 * class a line, in the order of the network's outputs (what folders are called comes first in the line, or is one of the
 * names separated by commas; a number before it is the class's), or all classes as a list of JSON, or a sample a line with the
 * number of its class. Names of classes say nothing of samples that are in no folders. */
#include "vn-evaluate.h"

#include "vn-class-names.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-model-metadata.h"

#include <math.h>
#include <string.h>

#define BLANKS " \t,;"

/* Reads @text to its end or the next blank. */
static gboolean
labels_take_number (const char  *text,
                    int         *number,
                    const char **rest)
{
  char *end;
  guint64 value;

  if (!g_ascii_isdigit (*text))
    return FALSE;
  value = g_ascii_strtoull (text, &end, 10);
  if (value > G_MAXINT || (*end != '\0' && strchr (BLANKS ":", *end) == NULL))
    return FALSE;
  *number = (int) value;
  if (rest != NULL)
    *rest = end + strspn (end, BLANKS ":");
  return TRUE;
}

/* ---- classes by name ---- */

/* Small letters, and blanks for _ and -. */
static char *
labels_simplify (const char *name)
{
  g_autofree char *copy = g_strdup (name);
  char *small = g_utf8_validate (copy, -1, NULL) ? g_utf8_strdown (copy, -1) : g_strdup (copy);

  return g_strstrip (g_strdelimit (small, "_-", ' '));
}

static gboolean
labels_names_class (const char *line,
                    const char *class_name)
{
  g_autofree char *want = labels_simplify (class_name);
  g_autofree char *whole = labels_simplify (line);
  g_auto(GStrv) parts = g_strsplit (line, ",", -1);
  gsize first = strcspn (line, BLANKS);

  if (g_str_equal (whole, want) || (strlen (class_name) == first && strncmp (line, class_name, first) == 0))
    return TRUE;
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autofree char *part = labels_simplify (parts[i]);

      if (g_str_equal (part, want))
        return TRUE;
    }
  return FALSE;
}

/* The number of class @name, or -1. @n: how many classes there are. */
static int
labels_find_class (char * const *lines,
                   const char   *name,
                   guint        *n)
{
  int found = -1, place = 0;

  *n = 0;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *rest = lines[i];
      int number = place;

      if (lines[i][0] == '\0')
        continue;
      place++;
      if (found < 0 && labels_names_class (lines[i], name))
        found = number;
      else if (labels_take_number (lines[i], &number, &rest) && *rest != '\0' && found < 0 && labels_names_class (rest, name))
        found = number;
      *n = MAX (*n, MAX ((guint) place, (guint) number + 1));
    }
  return found;
}

static gboolean
labels_use_names (VnLabels      *self,
                  VnDataset     *dataset,
                  const char    *file,
                  char * const  *lines,
                  GError       **error)
{
  g_autofree int *numbers = g_new (int, vn_dataset_get_n_classes (dataset));
  guint n = 0;

  for (guint k = 0; k < vn_dataset_get_n_classes (dataset); k++)
    {
      numbers[k] = labels_find_class (lines, vn_dataset_get_class (dataset, k), &n);
      if (numbers[k] >= 0)
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("“%s” has no line for the class “%s”: list one class per line, in the order of the model's "
                     "outputs, each line starting with the name of the folder"), file, vn_dataset_get_class (dataset, k));
      return FALSE;
    }
  for (guint i = 0; i < self->classes->len; i++)
    {
      int *number = &g_array_index (self->classes, int, i);

      *number = *number >= 0 ? numbers[*number] : -1;
    }
  self->n_classes = n;
  self->given = TRUE;
  return TRUE;
}

/* Where no file of the user says which class is which, and each folder is called like one of the classes that the metadata of the
 * network's file name, these say it. */
static void
labels_take_metadata (VnLabels      *self,
                      VnDataset     *dataset,
                      const VnModel *model)
{
  g_autoptr(VnModelMetadata) metadata = vn_model_metadata_read (model);

  if (metadata->names != NULL && self->n_classes > 0 && self->numbers == NULL)
    labels_use_names (self, dataset, "", metadata->names, NULL);
}

/* ---- samples by name ---- */

/* A name in front of a number at the end, or behind one at the beginning. */
static gboolean
labels_split_line (const char  *line,
                   char       **name,
                   int         *number)
{
  const char *last = line + strlen (line), *rest;

  while (last > line && strchr (BLANKS, last[-1]) == NULL)
    last--;
  if (last > line && labels_take_number (last, number, NULL))
    {
      *name = g_strndup (line, (gsize) (last - line));
      while (**name != '\0' && strchr (BLANKS, (*name)[strlen (*name) - 1]) != NULL)
        (*name)[strlen (*name) - 1] = '\0';
      return TRUE;
    }
  if (!labels_take_number (line, number, &rest) || *rest == '\0')
    return FALSE;
  *name = g_strdup (rest);
  return TRUE;
}

static gboolean
labels_are_classes (char * const *lines)
{
  g_auto(GStrv) names = vn_class_names_from_lines (lines);

  return names != NULL;
}

static gboolean
labels_use_samples (VnLabels      *self,
                    VnDataset     *dataset,
                    const char    *file,
                    char * const  *lines,
                    VnNotes       *notes,
                    GError       **error)
{
  g_autoptr(GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint n_missing = 0, n = self->classes->len;
  const char *missing = NULL;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *name = NULL;
      int number;

      if (!labels_split_line (lines[i], &name, &number))
        continue;
      g_hash_table_insert (numbers, g_path_get_basename (name), GINT_TO_POINTER (number));
      g_hash_table_insert (numbers, name, GINT_TO_POINTER (number));
    }
  for (guint i = 0; i < n; i++)
    {
      const char *name = vn_dataset_get_name (dataset, i);
      g_autofree char *base = g_path_get_basename (name);
      gpointer number;

      if (g_hash_table_lookup_extended (numbers, name, NULL, &number) ||
          g_hash_table_lookup_extended (numbers, base, NULL, &number))
        g_array_index (self->classes, int, i) = GPOINTER_TO_INT (number);
      else if (n_missing++ == 0)
        missing = name;
    }
  if (n_missing == n && labels_are_classes (lines))
    return TRUE;
  if (n_missing == n)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("“%s” does not list the %u sample, “%s”: it needs a line for it, with the class number "
                             "after the name",
                             "“%s” lists none of the %u samples, such as “%s”: it needs one line per sample, with the "
                             "class number after the name", n), file, n, missing);
      return FALSE;
    }
  if (n_missing > 0)
    vn_notes_add (notes, VN_NOTE_WARNING, "label-missing", missing,
                  ngettext ("“%s” has no class for %u of the %u sample",
                            "“%s” has no class for %u of the %u samples", n), file, n_missing, n);
  return TRUE;
}

/* ---- both ---- */

/* Folders that are called 0, 1, 2, 17: the numbers of the classes, should these not be all of them. */
static GArray *
labels_read_folder_numbers (VnDataset *dataset)
{
  guint n = vn_dataset_get_n_classes (dataset);
  g_autoptr(GArray) numbers = g_array_new (FALSE, FALSE, sizeof (int));

  for (guint k = 0; k < n; k++)
    {
      const char *rest;
      int number;

      if (!labels_take_number (vn_dataset_get_class (dataset, k), &number, &rest) || *rest != '\0')
        return NULL;
      g_array_append_val (numbers, number);
    }
  return n > 0 ? g_steal_pointer (&numbers) : NULL;
}

static char **
labels_read_lines (const char  *file,
                   GError     **error)
{
  g_autoptr(GError) reason = NULL;
  g_auto(GStrv) lines = vn_file_read_lines (file, &reason);

  if (lines != NULL && lines[0] != NULL)
    {
      g_autofree char *whole = g_strjoinv ("\n", lines);
      char **listed = strchr ("[{", *whole) != NULL ? vn_class_names_parse (whole) : NULL;

      return listed != NULL ? listed : g_steal_pointer (&lines);
    }
  if (lines != NULL || g_error_matches (reason, VN_ERROR, VN_ERROR_MALFORMED))
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” is not a list of classes: it is %s"), file,
                 lines != NULL ? _("empty") : _("not text"));
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

/**
 * vn_labels_new:
 * @model: (nullable): whose outputs the classes are numbers of; its metadata may name them
 * @file: (nullable): names the classes, or the samples with their classes; %NULL: as the folders or the list of samples say
 * @notes: told which samples have no class
 *
 * Returns: (transfer full) (nullable): the classes of all samples of @dataset
 */
VnLabels *
vn_labels_new (VnDataset      *dataset,
               const VnModel  *model,
               const char     *file,
               VnNotes        *notes,
               GError        **error)
{
  g_autoptr(VnLabels) self = g_new0 (VnLabels, 1);
  g_auto(GStrv) lines = NULL;

  g_return_val_if_fail (dataset != NULL, NULL);

  self->classes = g_array_new (FALSE, FALSE, sizeof (int));
  self->n_classes = vn_dataset_get_n_classes (dataset);
  self->numbers = labels_read_folder_numbers (dataset);
  self->max = -1;
  for (guint i = 0; i < vn_dataset_get_n (dataset); i++)
    {
      int number = vn_dataset_get_label (dataset, i);

      g_array_append_val (self->classes, number);
    }
  if (file != NULL &&
      ((lines = labels_read_lines (file, error)) == NULL ||
       !(self->n_classes > 0 ? labels_use_names (self, dataset, file, lines, error)
                             : labels_use_samples (self, dataset, file, lines, notes, error))))
    return NULL;
  if (file == NULL && model != NULL)
    labels_take_metadata (self, dataset, model);
  for (guint i = 0; i < self->classes->len; i++)
    self->max = MAX (self->max, g_array_index (self->classes, int, i));
  return g_steal_pointer (&self);
}

void
vn_labels_free (VnLabels *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->classes);
  g_clear_pointer (&self->numbers, g_array_unref);
  g_free (self);
}

/* The highest number that a folder has for a name; -1 if they are no numbers. */
static int
labels_highest_number (const VnLabels *self)
{
  int highest = -1;

  for (guint k = 0; self->numbers != NULL && k < self->numbers->len; k++)
    highest = MAX (highest, g_array_index (self->numbers, int, k));
  return highest;
}

/**
 * vn_labels_get_number:
 *
 * Returns: the class of @sample as the data have it: the number that its folder has for a name, or the place of that among the
 *   sorted folders, or what a list says; -1 if that is not known
 */
int
vn_labels_get_number (const VnLabels *self,
                      guint           sample)
{
  int number;

  g_return_val_if_fail (self != NULL, -1);

  number = g_array_index (self->classes, int, sample);
  return number >= 0 && self->numbers != NULL && !self->given ? g_array_index (self->numbers, int, number) : number;
}

/**
 * vn_labels_get:
 * @n_outputs: among how many classes a network chooses
 *
 * A network with one output more than there are classes has the background in front. Of a list it is only known that
 * ImageNet has 1000 classes: with 1001 outputs numbers up to 999 have the background in front.
 *
 * Returns: which output is the true class of @sample; -1 if that is not known: folders that are fewer than the network's
 *   outputs, and have no numbers for names, may be any of them
 */
int
vn_labels_get (const VnLabels *self,
               guint           sample,
               gsize           n_outputs)
{
  int number;
  gboolean background;

  g_return_val_if_fail (self != NULL, -1);

  number = g_array_index (self->classes, int, sample);
  background = self->n_classes > 0 ? n_outputs == self->n_classes + 1 : n_outputs == 1001 && self->max < 1000;
  if (number < 0)
    return -1;
  if (self->n_classes > 0 && n_outputs != self->n_classes && !background && !self->given)
    {
      if (self->numbers == NULL || labels_highest_number (self) >= (gint64) n_outputs)
        return -1;
      return g_array_index (self->numbers, int, number);
    }
  number += background;
  return (gsize) number < n_outputs ? number : -1;
}

/**
 * vn_labels_note_chance:
 * @accuracy: of a float network and a quantized one
 * @notes: told if the float network gets no more of the labels right than a guess would, by two standard errors, though one that
 *   knows half of what a guess does not would get more
 */
void
vn_labels_note_chance (const VnAccuracy *accuracy,
                       VnNotes          *notes)
{
  double n, guess, half;

  g_return_if_fail (accuracy != NULL);

  if (!accuracy->valid || accuracy->n_classes < 2)
    return;
  n = accuracy->n;
  guess = 1.0 / accuracy->n_classes;
  half = (1 + guess) / 2;
  if (accuracy->float_top1 > n * guess + 2 * sqrt (n * guess * (1 - guess)) ||
      accuracy->float_top1 > n * half - 2 * sqrt (n * half * (1 - half)))
    return;
  vn_notes_add (notes, VN_NOTE_WARNING, "labels-chance", NULL,
                ngettext ("The float model gets %u of %u label right; guessing among %u classes gets %.1f",
                          "The float model gets %u of %u labels right; guessing among %u classes gets %.1f", accuracy->n),
                accuracy->float_top1, accuracy->n, accuracy->n_classes, n * guess);
}
