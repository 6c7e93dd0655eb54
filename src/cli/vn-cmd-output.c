/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard output: what could not be printed was not done, and the exit status says so. */
#include "vn-cmd.h"

#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-shown.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int first_error;   /* errno of the first thing that could not be printed */
static GError *failure;

/* A full disk behind “> FILE” may show only when the last buffer is written. Runs at the very end, and so also covers
 * what GLib prints for --help before it ends the process. */
static void
output_close (void)
{
  gboolean failed = ferror (stdout) != 0;

  if (fclose (stdout) != 0)
    {
      failed = TRUE;
      first_error = first_error != 0 ? first_error : errno;
    }
  if (!failed)
    return;
  if (first_error != 0)
    fprintf (stderr, _("vernier-cli: Cannot write to the standard output: %s\n"), g_strerror (first_error));
  else
    fprintf (stderr, _("vernier-cli: Cannot write to the standard output\n"));
  _exit (VN_EXIT_FAILED);
}

/* A stream that the caller closed would be the next file that is opened: messages would go into a model. Writing to its
 * stand-in fails, as writing to a closed one does. */
static void
output_fill (int fd)
{
  int stand_in;

  if (fcntl (fd, F_GETFD) >= 0 || errno != EBADF)
    return;
  stand_in = open ("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
  if (stand_in >= 0 && stand_in != fd)
    {
      dup2 (stand_in, fd);
      close (stand_in);
    }
}

/**
 * vn_cmd_open_streams:
 *
 * Makes sure that the three standard streams are open, and that errors of writing fail the command: a file that would grow
 * beyond what the process may write (RLIMIT_FSIZE), too, which else ends it by a signal.
 * To be called before anything is opened or printed.
 */
void
vn_cmd_open_streams (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    output_fill (fd);
  signal (SIGXFSZ, SIG_IGN);
  atexit (output_close);
}

static void
output_note (int result)
{
  if (result < 0 && first_error == 0)
    first_error = errno;
}

/**
 * vn_cmd_put:
 * @text: printed as it is, whatever the options say
 */
void
vn_cmd_put (const char *text)
{
  g_return_if_fail (text != NULL);

  output_note (fputs (text, stdout));
}

/**
 * vn_cmd_print:
 * @format: of text for people; nothing is printed with --json. Names that it takes are made fit by vn_shown_vprintf()
 */
void
vn_cmd_print (const char *format,
              ...)
{
  g_autofree char *text = NULL;
  va_list args;

  g_return_if_fail (format != NULL);

  if (vn_cmd_options.json || vn_ranks_get_rank () > 0)
    return;
  va_start (args, format);
  text = vn_shown_vprintf (format, args);
  va_end (args);
  output_note (fputs (text, stdout));
}

/**
 * vn_cmd_print_lines:
 * @lines: for people, whose names are made fit already
 */
void
vn_cmd_print_lines (const char *lines)
{
  g_return_if_fail (lines != NULL);

  if (!vn_cmd_options.json && vn_ranks_get_rank () == 0)
    vn_cmd_put (lines);
}

/**
 * vn_cmd_warn:
 * @format: of a line for the standard error; names as of vn_cmd_print()
 */
void
vn_cmd_warn (const char *format,
             ...)
{
  g_autofree char *text = NULL;
  va_list args;

  g_return_if_fail (format != NULL);

  va_start (args, format);
  text = vn_shown_vprintf (format, args);
  va_end (args);
  fprintf (stderr, "%s\n", text);
}

/**
 * vn_cmd_fail:
 * @reason: copied; the first one counts
 *
 * Lets the command end as a failure though it goes on, and all that it writes stays.
 */
void
vn_cmd_fail (const GError *reason)
{
  g_return_if_fail (reason != NULL);

  if (failure == NULL)
    failure = g_error_copy (reason);
}

const GError *
vn_cmd_get_failure (void)
{
  return failure;
}

/**
 * vn_cmd_print_facts:
 * @facts: (element-type utf8): titles and texts by turns
 *
 * Prints a line for each, and adds them to @json as "facts".
 */
void
vn_cmd_print_facts (JsonBuilder *json,
                    GPtrArray   *facts)
{
  g_return_if_fail (json != NULL && facts != NULL);

  vn_json_begin_array (json, "facts");
  for (guint i = 0; i + 1 < facts->len; i += 2)
    {
      vn_cmd_print ("  %s: %s\n", (const char *) facts->pdata[i], (const char *) facts->pdata[i + 1]);
      json_builder_begin_object (json);
      vn_json_add_text (json, "title", facts->pdata[i]);
      vn_json_add_text (json, "text", facts->pdata[i + 1]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}
