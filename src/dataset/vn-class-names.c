/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What classes are called: lists in files of the user, in the metadata of a network, and names of folders. */
#include "vn-class-names.h"

#include "python-text.h"
#include "vn-file.h"
#include "vn-model-metadata.h"

#include <string.h>

/* ---- a list in a text ---- */

/* The number in front of a name, in quotes where JSON wrote it. */
static gboolean
class_names_take_key (const char **at,
                      guint       *number)
{
  g_autofree char *text = NULL;
  const char *digits;

  if (_vn_python_take_number (at, VN_METADATA_CLASSES - 1, number))
    return _vn_python_take_char (at, ':');
  digits = text = _vn_python_take_text (at);
  return text != NULL && _vn_python_take_number (&digits, VN_METADATA_CLASSES - 1, number) && *digits == '\0' &&
         _vn_python_take_char (at, ':');
}

/* A name, or a list whose last text is one: ["n01440764", "tench"]. */
static char *
class_names_take_name (const char **at)
{
  g_autofree char *name = NULL;

  if (!_vn_python_take_char (at, '['))
    return _vn_python_take_text (at);
  do
    {
      g_free (name);
      if ((name = _vn_python_take_text (at)) == NULL)
        return NULL;
    }
  while (_vn_python_take_char (at, ','));
  return _vn_python_take_char (at, ']') ? g_steal_pointer (&name) : NULL;
}

/**
 * vn_class_names_parse:
 * @text: a list of names, or names by their numbers, as JSON or Python write them: {0: 'person', 1: 'bicycle'} or ["person"]
 *
 * Returns: (transfer full) (nullable) (array zero-terminated): the names by number, at least one; empty where none is said. %NULL
 *   if it is nothing of that
 */
char **
vn_class_names_parse (const char *text)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  const char *at = text;
  gboolean has_numbers, more;
  char end;

  g_return_val_if_fail (text != NULL, NULL);

  has_numbers = _vn_python_take_char (&at, '{');
  end = has_numbers ? '}' : ']';
  more = has_numbers || _vn_python_take_char (&at, '[');
  while (more && !_vn_python_take_char (&at, end))
    {
      guint number = found->len;
      char *name;

      if (number >= VN_METADATA_CLASSES || (has_numbers && !class_names_take_key (&at, &number)) ||
          (name = class_names_take_name (&at)) == NULL)
        return NULL;
      while (found->len <= number)
        g_ptr_array_add (found, g_strdup (""));
      g_free (found->pdata[number]);
      found->pdata[number] = name;
      more = _vn_python_take_char (&at, ',');
      if (!more && !_vn_python_take_char (&at, end))
        return NULL;
    }
  if (found->len == 0)
    return NULL;
  g_ptr_array_add (found, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&found), FALSE);
}

/* ---- a name a line ---- */

#define BLANKS " \t,;"

/* What stands behind a number, or a word of WordNet (n01440764), at the beginning of the line; all of it if there is neither. */
static const char *
class_names_skip_number (const char *line,
                         guint      *number)
{
  const char *at = *line == 'n' && strspn (line + 1, "0123456789") == 8 ? line + 1 : line, *end = at + strspn (at, "0123456789");

  *number = at == line && end > at && end - at < 9 ? (guint) g_ascii_strtoull (at, NULL, 10) : G_MAXUINT;
  if (end == at || *end == '\0' || strchr (BLANKS ":", *end) == NULL)
    {
      *number = G_MAXUINT;
      return line;
    }
  end += strspn (end, BLANKS ":");
  return *end != '\0' ? end : line;
}

/* Whether a number stands at the end, behind something. */
static gboolean
class_names_ends_in_number (const char *line)
{
  const gsize n = strlen (line);
  gsize k = n;

  while (k > 0 && g_ascii_isdigit (line[k - 1]))
    k--;
  return k < n && k > 1 && strchr (BLANKS, line[k - 1]) != NULL;
}

/* A list of samples has a number in each line, before or behind the name; that of classes none, or each its own place. */
static gboolean
class_names_are_classes (char * const *lines)
{
  guint n = 0, n_numbered = 0, n_in_place = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      guint number;

      if (*lines[i] == '\0')
        continue;
      class_names_skip_number (lines[i], &number);
      n_in_place += number == n;
      n_numbered += number != G_MAXUINT || class_names_ends_in_number (lines[i]);
      n++;
    }
  return n > 0 && (n_in_place == n || 2 * n_numbered < n);
}

/* What people call it: of several names the first. */
static char *
class_names_shorten (const char *line)
{
  guint number;
  const char *name = class_names_skip_number (line, &number);
  const gsize n = strcspn (name, ",");

  return n > 0 ? g_strchomp (g_strndup (name, n)) : g_strdup (name);
}

/**
 * vn_class_names_from_lines:
 * @lines: (array zero-terminated): of a file; empty ones do not count
 *
 * Returns: (transfer full) (nullable) (array zero-terminated): names of classes, by number: one a line, with its number or a word
 *   of WordNet before it or without, or all in one list: vn_class_names_parse(). %NULL if the lines speak of samples
 */
char **
vn_class_names_from_lines (char * const *lines)
{
  g_autoptr(GPtrArray) names = NULL;

  g_return_val_if_fail (lines != NULL, NULL);

  if (lines[0] != NULL && (*lines[0] == '[' || *lines[0] == '{') && lines[0][strspn (lines[0], "[{ ")] != '\0')
    {
      g_autofree char *whole = g_strjoinv ("\n", (char **) lines);

      return vn_class_names_parse (whole);
    }
  if (!class_names_are_classes (lines))
    return NULL;
  names = g_ptr_array_new ();
  for (guint i = 0; lines[i] != NULL && names->len < VN_METADATA_CLASSES; i++)
    if (*lines[i] != '\0')
      g_ptr_array_add (names, class_names_shorten (lines[i]));
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

/* ---- whoever knows them ---- */

/* Exactly what is in each line: a letter may be # or a blank. */
static char **
class_names_split_letters (const char *text)
{
  char **letters = g_strsplit (text, "\n", -1);
  const guint n = g_strv_length (letters);

  for (guint i = 0; i < n; i++)
    g_strdelimit (letters[i], "\r", '\0');
  if (n > 0 && *letters[n - 1] == '\0')
    g_clear_pointer (&letters[n - 1], g_free);
  return letters;
}

/* What the file of a network says: Ultralytics and others “names”, converters of PaddleOCR the letters, each in a line. */
static char **
class_names_find_metadata (const VnModel *model)
{
  const char *names = vn_model_get_metadata (model, "names"), *letters = vn_model_get_metadata (model, "character");
  char **found = names != NULL ? vn_class_names_parse (names) : NULL;

  return found != NULL || letters == NULL || *letters == '\0' ? found : class_names_split_letters (letters);
}

static char **
class_names_read (const char *file,
                  gboolean    letters)
{
  g_auto(GStrv) lines = NULL;
  g_autofree char *text = NULL;

  if (letters)
    return !g_file_get_contents (file, &text, NULL, NULL) || !g_utf8_validate (text, -1, NULL) ? NULL
           : class_names_split_letters (text);
  lines = vn_file_read_lines (file, NULL);
  return lines != NULL ? vn_class_names_from_lines (lines) : NULL;
}

static char **
class_names_list_folders (VnDataset *dataset)
{
  const guint n = vn_dataset_get_n_classes (dataset);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (vn_dataset_get_class (dataset, i));
  return names;
}

/**
 * vn_class_names_find:
 * @model: whose file may name its classes
 * @dataset: (nullable): of samples in folders, which may be called like them, or with a file of labels
 * @n_classes: that the network chooses among; 0: not known
 * @letters: they are letters of a text
 *
 * Returns: (transfer full) (nullable) (array zero-terminated): what classes, or letters, are called, by number: as the user's
 *   file has it, or that of the network, or the folders, if there is one for each. %NULL: nobody knows
 */
char **
vn_class_names_find (const VnModel *model,
                     VnDataset     *dataset,
                     guint          n_classes,
                     gboolean       letters)
{
  const char *file;
  char **names = NULL;

  g_return_val_if_fail (model != NULL, NULL);

  file = dataset != NULL ? vn_dataset_get_labels (dataset) : NULL;
  if (file != NULL)
    names = class_names_read (file, letters);
  if (names == NULL)
    names = class_names_find_metadata (model);
  if (names == NULL && dataset != NULL && n_classes > 1 && vn_dataset_get_n_classes (dataset) == n_classes)
    names = class_names_list_folders (dataset);
  return names;
}
