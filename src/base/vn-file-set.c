/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a piece of work reads and writes. Files are compared by device and inode; those that are not there yet by the
 * folder they will be in and their name. */
#include "vn-file-set.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FOLDER_DEPTH 8

/* @rest: (nullable): of a file that is not there: its name, below the deepest folder that is */
typedef struct
{
  dev_t  device;
  ino_t  inode;
  char  *rest;
} Identity;

typedef struct
{
  char     *path;
  char     *what;
  Identity  identity;
  gboolean  is_file;       /* identity is set */
  gboolean  makes_folder;
} Entry;

typedef struct
{
  VnFileSetFunc  func;
  gpointer       data;
  GDestroyNotify data_free;
} Later;

typedef struct
{
  char           *path, *what;
  VnFileNameFunc  is_read;
} Folder;

struct _VnFileSet
{
  gatomicrefcount ref;
  GPtrArray *reads, *writes;   /* of Entry */
  GArray    *later;            /* of Later */
  GPtrArray *folders;          /* of Folder */
};

/* ---- which file it is ---- */

/* "a/../b" and "./b" are "b". */
static char *
file_set_join_rest (const char *folder,
                    const char *rest)
{
  g_autofree char *name = g_path_get_basename (folder);

  return rest != NULL ? g_build_filename (name, rest, NULL) : g_steal_pointer (&name);
}

static char *
file_set_plain (const char *rest)
{
  g_autofree char *whole = g_canonicalize_filename (rest, "/");

  return g_strdup (whole + 1);
}

/* FALSE: a device or a pipe, or a folder. */
static gboolean
file_set_identify (const char *path,
                   Identity   *identity)
{
  g_autofree char *at = vn_file_follow_links (path);
  g_autofree char *rest = NULL;
  struct stat info;

  while (stat (at, &info) != 0)
    {
      g_autofree char *folder = g_path_get_dirname (at);
      char *longer = file_set_join_rest (at, rest);

      g_free (rest);
      rest = longer;
      if (g_str_equal (folder, at))
        return FALSE;
      g_free (at);
      at = g_steal_pointer (&folder);
    }
  if (rest != NULL ? !S_ISDIR (info.st_mode) : !S_ISREG (info.st_mode))
    return FALSE;
  *identity = (Identity) { info.st_dev, info.st_ino, rest != NULL ? file_set_plain (rest) : NULL };
  return TRUE;
}

static gboolean
file_set_same (const Entry *a,
               const Entry *b)
{
  return a->is_file && b->is_file && a->identity.device == b->identity.device && a->identity.inode == b->identity.inode &&
         g_strcmp0 (a->identity.rest, b->identity.rest) == 0;
}

/* ---- the set ---- */

static void
file_set_free_entry (gpointer data)
{
  Entry *entry = data;

  g_free (entry->path);
  g_free (entry->what);
  g_free (entry->identity.rest);
  g_free (entry);
}

static Entry *
file_set_new_entry (const char *path,
                    const char *what)
{
  Entry *entry = g_new0 (Entry, 1);

  entry->path = g_strdup (path);
  entry->what = g_strdup (what);
  entry->is_file = file_set_identify (path, &entry->identity);
  return entry;
}

static void
file_set_free_folder (gpointer data)
{
  Folder *folder = data;

  g_free (folder->path);
  g_free (folder->what);
  g_free (folder);
}

static void
file_set_clear_later (gpointer data)
{
  Later *later = data;

  if (later->data_free != NULL)
    later->data_free (later->data);
}

VnFileSet *
vn_file_set_new (void)
{
  VnFileSet *self = g_new0 (VnFileSet, 1);

  g_atomic_ref_count_init (&self->ref);
  self->reads = g_ptr_array_new_with_free_func (file_set_free_entry);
  self->writes = g_ptr_array_new_with_free_func (file_set_free_entry);
  self->folders = g_ptr_array_new_with_free_func (file_set_free_folder);
  self->later = g_array_new (FALSE, FALSE, sizeof (Later));
  g_array_set_clear_func (self->later, file_set_clear_later);
  return self;
}

VnFileSet *
vn_file_set_ref (VnFileSet *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_file_set_unref (VnFileSet *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_ptr_array_unref (self->reads);
  g_ptr_array_unref (self->writes);
  g_ptr_array_unref (self->folders);
  g_array_unref (self->later);
  g_free (self);
}

/**
 * vn_file_set_reads:
 * @path: (nullable): a file; %NULL adds nothing
 * @what: what it is, translated, for the message: “the network”
 */
void
vn_file_set_reads (VnFileSet  *self,
                   const char *path,
                   const char *what)
{
  g_return_if_fail (self != NULL);

  if (path != NULL)
    g_ptr_array_add (self->reads, file_set_new_entry (path, what));
}

/**
 * vn_file_set_reads_folder:
 * @path: a folder
 * @is_read: which of the files in it and in the folders below are read
 * @what: what they are, translated: “a sample”
 */
void
vn_file_set_reads_folder (VnFileSet      *self,
                          const char     *path,
                          VnFileNameFunc  is_read,
                          const char     *what)
{
  Folder *folder;

  g_return_if_fail (self != NULL);

  folder = g_new (Folder, 1);
  *folder = (Folder) { g_strdup (path), g_strdup (what), is_read };
  g_ptr_array_add (self->folders, folder);
}

/**
 * vn_file_set_reads_later:
 * @func: adds what is read, if it takes time to find that out
 * @data_free: (nullable)
 */
void
vn_file_set_reads_later (VnFileSet      *self,
                         VnFileSetFunc   func,
                         gpointer        data,
                         GDestroyNotify  data_free)
{
  Later later = { func, data, data_free };

  g_return_if_fail (self != NULL);

  g_array_append_val (self->later, later);
}

/**
 * vn_file_set_writes:
 * @path: (nullable): a file; %NULL adds nothing
 * @what: what says that it is written: “--report”. What goes into one file on purpose has the same.
 */
void
vn_file_set_writes (VnFileSet  *self,
                    const char *path,
                    const char *what)
{
  g_return_if_fail (self != NULL);

  if (path != NULL)
    g_ptr_array_add (self->writes, file_set_new_entry (path, what));
}

/**
 * vn_file_set_writes_in:
 * @folder: (nullable): made when it is missing; %NULL adds nothing
 * @name: of a file in it
 */
void
vn_file_set_writes_in (VnFileSet  *self,
                       const char *folder,
                       const char *name,
                       const char *what)
{
  g_autofree char *path = folder != NULL ? g_build_filename (folder, name, NULL) : NULL;

  g_return_if_fail (self != NULL);

  if (path == NULL)
    return;
  vn_file_set_writes (self, path, what);
  ((Entry *) g_ptr_array_index (self->writes, self->writes->len - 1))->makes_folder = TRUE;
}

/* ---- the check ---- */

static gboolean
file_set_check_lost (const Entry *target,
                     const Entry *source,
                     GError     **error)
{
  if (!file_set_same (target, source))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is %s and would be overwritten; choose another name for %s"),
               target->path, source->what, target->what);
  return FALSE;
}

static gboolean
file_set_check_read (VnFileSet   *self,
                     const Entry *source,
                     GError     **error)
{
  for (guint i = 0; i < self->writes->len; i++)
    if (!file_set_check_lost (g_ptr_array_index (self->writes, i), source, error))
      return FALSE;
  return TRUE;
}

static guint
file_set_hash (gconstpointer data)
{
  const Entry *entry = data;
  const gint64 inode = (gint64) entry->identity.inode;

  return g_int64_hash (&inode) ^ (guint) entry->identity.device ^
         (entry->identity.rest != NULL ? g_str_hash (entry->identity.rest) : 0);
}

static gboolean
file_set_equal (gconstpointer a,
                gconstpointer b)
{
  return file_set_same (a, b);
}

/* Sets of a hundred thousand files are written, too. */
static gboolean
file_set_check_twice (VnFileSet  *self,
                      GError    **error)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (file_set_hash, file_set_equal);   /* set of Entry: the first of each file */

  for (guint i = 0; i < self->writes->len; i++)
    {
      const Entry *entry = g_ptr_array_index (self->writes, i), *other = g_hash_table_lookup (seen, entry);

      if (other == NULL && entry->is_file)
        g_hash_table_add (seen, (gpointer) entry);
      if (other == NULL || g_str_equal (entry->what, other->what))
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is used twice, for %s and for %s; choose a separate "
                                                        "file for each"),
                   entry->path, other->what, entry->what);
      return FALSE;
    }
  return TRUE;
}

/* A folder that is made when it is missing is made below the deepest that is there. */
static gboolean
file_set_check_target (const Entry *entry,
                       GError     **error)
{
  g_autofree char *path = g_strdup (entry->path);
  g_autofree char *folder = g_path_get_dirname (path);

  while (entry->makes_folder && !g_file_test (folder, G_FILE_TEST_EXISTS) && !g_str_equal (folder, path))
    {
      g_free (path);
      path = g_steal_pointer (&folder);
      folder = g_path_get_dirname (path);
    }
  return vn_file_check_target (path, error);
}

static gboolean
file_set_check_folder (VnFileSet    *self,
                       const Folder *folder,
                       const char   *path,
                       guint         depth,
                       GError      **error)
{
  g_autoptr(GDir) dir = depth <= MAX_FOLDER_DEPTH ? g_dir_open (path, 0, NULL) : NULL;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      Entry entry = { file, folder->what };
      struct stat info;

      if (stat (file, &info) != 0)
        continue;
      entry.is_file = S_ISREG (info.st_mode) && folder->is_read (name);
      entry.identity = (Identity) { info.st_dev, info.st_ino, NULL };
      if (S_ISDIR (info.st_mode) ? !file_set_check_folder (self, folder, file, depth + 1, error)
                                 : !file_set_check_read (self, &entry, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
file_set_replaces (VnFileSet *self)
{
  for (guint i = 0; i < self->writes->len; i++)
    {
      const Entry *entry = g_ptr_array_index (self->writes, i);

      if (entry->is_file && entry->identity.rest == NULL)
        return TRUE;
    }
  return FALSE;
}

/* What takes time: nothing that is there is lost if nothing that is there is replaced. */
static gboolean
file_set_check_many (VnFileSet  *self,
                     GError    **error)
{
  guint first = self->reads->len;

  for (guint i = 0; i < self->later->len; i++)
    {
      Later *later = &g_array_index (self->later, Later, i);

      if (later->func != NULL)
        later->func (self, later->data);
      later->func = NULL;
    }
  for (guint i = first; i < self->reads->len; i++)
    if (!file_set_check_read (self, g_ptr_array_index (self->reads, i), error))
      return FALSE;
  for (guint i = 0; i < self->folders->len; i++)
    {
      const Folder *folder = g_ptr_array_index (self->folders, i);

      if (!file_set_check_folder (self, folder, folder->path, 0, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_file_set_check:
 *
 * To be called before the work starts, when all is known. May be called again when more has been added.
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if something that is read would be replaced, or two results go into one file;
 *   with %G_FILE_ERROR if it is clear already that a file cannot be written
 */
gboolean
vn_file_set_check (VnFileSet  *self,
                   GError    **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->writes->len; i++)
    if (!file_set_check_target (g_ptr_array_index (self->writes, i), error))
      return FALSE;
  for (guint i = 0; i < self->reads->len; i++)
    if (!file_set_check_read (self, g_ptr_array_index (self->reads, i), error))
      return FALSE;
  return file_set_check_twice (self, error) && (!file_set_replaces (self) || file_set_check_many (self, error));
}

/**
 * vn_file_set_has_other:
 * @path: a file that may be written
 * @what: what would write it
 *
 * Returns: whether @path is read, or written by something else
 */
gboolean
vn_file_set_has_other (VnFileSet  *self,
                       const char *path,
                       const char *what)
{
  Entry *entry;
  gboolean found = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);

  entry = file_set_new_entry (path, what);
  for (guint i = 0; i < self->reads->len && !found; i++)
    found = file_set_same (entry, g_ptr_array_index (self->reads, i));
  for (guint i = 0; i < self->writes->len && !found; i++)
    {
      const Entry *other = g_ptr_array_index (self->writes, i);

      found = file_set_same (entry, other) && !g_str_equal (other->what, what);
    }
  file_set_free_entry (entry);
  return found;
}
