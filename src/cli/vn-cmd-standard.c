/* SPDX-License-Identifier: GPL-3.0-or-later */
/* “-” in place of a file. What comes on the standard input goes into a temporary file first, as models and samples are read more
 * than once; what is for the standard output is copied there when the command has done all. */
#include "vn-cmd-help.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-tensor-message.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE (1u << 20)

/* Options whose file may be the standard input or output; of the others “-” is a file of that name. */
static const struct
{
  const char *name;
  enum { READS, WRITES, KEEPS, KEEPS_MODEL } what;
  const char *ending;      /* nullable: of what is read; NULL: what it begins with says */
} standard_options[] = {
  { "data", READS, NULL }, { "config", READS, "" }, { "recipe", READS, "" }, { "labels", READS, "" },
  { "input", READS, ".onnx" }, { "model", READS, ".onnx" },
  { "output", WRITES },
  /* what is written there says where the files are that were read */
  { "save-project", KEEPS_MODEL }, { "export-script", KEEPS }, { "export-xquant", KEEPS },
};

/* How samples begin that are read from a stream. */
static const struct { const char *magic, *ending; } sample_kinds[] = {
  { VN_TENSOR_MESSAGE_MAGIC, ".tensors" }, { "\x93NUMPY", ".npy" }, { "PK\x03\x04", ".npz" },
};

/* A place that names the standard input, and the ending of the file that stands for it. */
typedef struct
{
  char      **place;
  const char *ending;
} Read;

static char *folder;            /* nullable: of the files that stand for the streams */
static char *output;            /* nullable: the file that is copied to the standard output */
static int output_fd = -1;      /* what the standard output was */

static void
standard_remove (void)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/**
 * vn_cmd_remove_standard_files:
 *
 * Removes the files that stand for the standard streams, for who ends the process without its handlers.
 */
void
vn_cmd_remove_standard_files (void)
{
  if (folder != NULL)
    standard_remove ();
}

static gboolean
standard_make_folder (GError **error)
{
  if (folder != NULL)
    return TRUE;
  folder = g_dir_make_tmp ("vernier-XXXXXX", error);
  if (folder != NULL)
    atexit (standard_remove);
  return folder != NULL;
}

static gboolean
standard_usage_error (GError     **error,
                      const char  *text)
{
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, text);
  return FALSE;
}

/* FALSE: cancelled. */
static gboolean
standard_wait (int       fd,
               gushort   events,
               GError  **error)
{
  GPollFD fds[2] = { { .fd = fd, .events = events } };
  GCancellable *cancellable = g_cancellable_get_current ();
  const gboolean watched = g_cancellable_make_pollfd (cancellable, &fds[1]);

  while (g_poll (fds, watched ? 2 : 1, -1) < 0 && errno == EINTR)
    ;
  if (watched)
    g_cancellable_release_fd (cancellable);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* ---- standard input ---- */

/* What samples are that begin with @data; %NULL: nothing that is read. */
static const char *
standard_find_ending (const guint8 *data,
                      gsize         size)
{
  for (guint i = 0; i < G_N_ELEMENTS (sample_kinds); i++)
    if (size >= strlen (sample_kinds[i].magic) && memcmp (data, sample_kinds[i].magic, strlen (sample_kinds[i].magic)) == 0)
      return sample_kinds[i].ending;
  return NULL;
}

/* As much as comes until @size, or the end. */
static gboolean
standard_read_piece (guint8  *data,
                     gsize    size,
                     gsize   *n_read,
                     GError **error)
{
  *n_read = 0;
  while (*n_read < size)
    {
      gssize n;

      if (!standard_wait (STDIN_FILENO, G_IO_IN, error))
        return FALSE;
      n = read (STDIN_FILENO, data + *n_read, size - *n_read);
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n < 0)
        {
          vn_file_fail (error, _("Cannot read"), _("standard input"), errno);
          return FALSE;
        }
      if (n == 0)
        return TRUE;
      *n_read += (gsize) n;
    }
  return TRUE;
}

/* Writes all of the standard input into a file. @ending: (nullable): of its name; %NULL: of samples, what they begin with says;
 * @path: (out): the file */
static gboolean
standard_save_input (const char  *ending,
                     char       **path,
                     GError     **error)
{
  g_autofree guint8 *piece = g_malloc (PIECE);
  g_autoptr(VnFileWriter) writer = NULL;
  g_autofree char *name = NULL;
  gsize n;

  if (!standard_read_piece (piece, PIECE, &n, error))
    return FALSE;
  if (ending == NULL)
    ending = standard_find_ending (piece, n);
  if (n == 0 || ending == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_MALFORMED, n == 0 ? _("Nothing came on the standard input")
                           : _("Samples on the standard input must be an .npy or .npz file, or tensors as vernier-samples(7) "
                               "describes them"));
      return FALSE;
    }
  name = g_strdup_printf ("standard-input%s", ending);
  *path = g_build_filename (folder, name, NULL);
  writer = vn_file_writer_new (*path, error);
  while (writer != NULL && n > 0)
    if (!vn_file_writer_write (writer, piece, n, error) || !standard_read_piece (piece, PIECE, &n, error))
      return FALSE;
  return writer != NULL && vn_file_writer_commit (writer, error);
}

/* Paths in it are relative to its folder, or where it has none to the current one. */
static gpointer
standard_parse_config (const char  *text,
                       gssize       length,
                       const char  *name,
                       GError     **error)
{
  return vn_config_parse (text, length, "-", error);
}

/**
 * vn_cmd_load_config:
 * @path: a configuration; of the standard input the file that stands for it
 *
 * Returns: (transfer full) (nullable): what it says
 */
VnConfig *
vn_cmd_load_config (const char  *path,
                    GError     **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return vn_file_is_standard_input (path) ? vn_file_parse (path, standard_parse_config, (GDestroyNotify) vn_config_free, error)
                                      : vn_config_load (path, error);
}

static gboolean
standard_take_input (const Read  *read,
                     GError     **error)
{
  g_autofree char *path = NULL;

  if (vn_ranks_get_n () > 1)
    return standard_usage_error (error, _("Processes that share the work cannot share the standard input: name a file"));
  if (isatty (STDIN_FILENO))
    return standard_usage_error (error, _("“-” is the standard input, which is a terminal here: name a file, or send one"));
  vn_cmd_catch_interrupts ();
  if (!standard_make_folder (error) || !standard_save_input (read->ending, &path, error))
    return FALSE;
  vn_file_set_standard_input (path);
  g_free (*read->place);
  *read->place = g_steal_pointer (&path);
  return TRUE;
}

/* ---- standard output ---- */

/* Text for people goes to the standard error from here on. */
static gboolean
standard_take_output (char   **place,
                      GError **error)
{
  if (vn_cmd_options.json)
    return standard_usage_error (error, _("--json writes to the standard output, as “-o -” does: name a file"));
  if (isatty (STDOUT_FILENO))
    return standard_usage_error (error, _("“-” is the standard output, which is a terminal here: name a file"));
  if (!standard_make_folder (error))
    return FALSE;
  output_fd = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (output_fd < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    {
      vn_file_fail (error, _("Cannot write"), _("standard output"), errno);
      return FALSE;
    }
  setvbuf (stdout, NULL, _IOLBF, 0);      /* in the order of what else is said there */
  signal (SIGPIPE, SIG_IGN);
  output = g_build_filename (folder, "standard-output.onnx", NULL);
  g_free (*place);
  *place = g_strdup (output);
  return TRUE;
}

/* Of a model above 2 GB the weights are in a file of their own. */
static gboolean
standard_is_one_file (GError **error)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, error);
  const char *name;

  if (dir == NULL)
    return FALSE;
  while ((name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_prefix (name, "standard-input") && !g_str_has_suffix (output, name))
      return standard_usage_error (error, _("The model is more than one file, and the standard output is one: name a file"));
  return TRUE;
}

/**
 * vn_cmd_write_standard_output:
 *
 * To be called when the command has done all: copies the file that stands for the standard output there, if there is one.
 */
gboolean
vn_cmd_write_standard_output (GError **error)
{
  g_autoptr(GBytes) bytes = NULL;
  const guint8 *data;
  gsize size;

  if (output == NULL)
    return TRUE;
  bytes = standard_is_one_file (error) ? vn_file_map (output, error) : NULL;
  if (bytes == NULL)
    return FALSE;
  data = g_bytes_get_data (bytes, &size);
  while (size > 0)
    {
      gssize n;

      if (!standard_wait (output_fd, G_IO_OUT, error))
        return FALSE;
      n = write (output_fd, data, MIN (size, PIECE));
      if (n < 0 && (errno == EINTR || errno == EAGAIN))
        continue;
      if (n < 0)
        {
          vn_file_fail (error, _("Cannot write"), _("standard output"), errno);
          return FALSE;
        }
      data += n;
      size -= (gsize) n;
    }
  return TRUE;
}

/* ---- both ---- */

/* @reads: (element-type Read): what this option adds to
 * @kept: bits of what stands for options that keep names of files */
static gboolean
standard_look_at_option (const GOptionEntry  *entry,
                         GArray              *reads,
                         guint               *kept,
                         GError             **error)
{
  char **place = entry->arg_data;

  for (guint i = 0; i < G_N_ELEMENTS (standard_options); i++)
    {
      const gboolean is_stream = g_strcmp0 (*place, "-") == 0;
      const Read read = { place, standard_options[i].ending };

      if (!g_str_equal (standard_options[i].name, entry->long_name))
        continue;
      if (*place != NULL)
        *kept |= 1u << standard_options[i].what;
      if (is_stream && standard_options[i].what == READS)
        g_array_append_val (reads, read);
      else if (is_stream && standard_options[i].what == WRITES)
        return standard_take_output (place, error);
    }
  return TRUE;
}

/**
 * vn_cmd_take_standard_streams:
 * @options: (element-type VnCmdOption): of the command
 * @args: (array zero-terminated): models and what else is no option
 *
 * Puts files in the place of “-”, after the options were read.
 */
gboolean
vn_cmd_take_standard_streams (const VnCmd  *cmd,
                              GArray       *options,
                              char        **args,
                              GError      **error)
{
  g_autoptr(GArray) reads = g_array_new (FALSE, FALSE, sizeof (Read));
  guint kept = 0;

  g_return_val_if_fail (cmd != NULL && options != NULL && args != NULL, FALSE);

  for (guint i = 0; i < options->len; i++)
    {
      const GOptionEntry *entry = g_array_index (options, VnCmdOption, i).entry;

      if (entry->arg == G_OPTION_ARG_FILENAME && !standard_look_at_option (entry, reads, &kept, error))
        return FALSE;
    }
  for (; *args != NULL && !cmd->without_model; args++)
    {
      const Read read = { args, ".onnx" };

      if (!g_str_equal (*args, "-"))
        continue;
      g_array_append_val (reads, read);
      kept |= (kept & 1u << KEEPS_MODEL) != 0 ? 1u << KEEPS : 0;
    }
  if (reads->len == 0)
    return TRUE;
  if (reads->len > 1)
    return standard_usage_error (error, _("Only one file can be the standard input, “-”"));
  if ((kept & 1u << KEEPS) != 0)
    return standard_usage_error (error, _("A project or script names the files it is about: the standard input has no name"));
  return standard_take_input (&g_array_index (reads, Read, 0), error);
}
