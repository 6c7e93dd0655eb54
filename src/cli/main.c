/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entry point of the command line: finds the command, reads its options, and reports errors as text or JSON. */
#include "vn-cmd-help.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"
#include "vn-json.h"
#include "vn-memory.h"
#include "vn-ort-child.h"
#include "vn-place.h"
#include "vn-ranks.h"
#include "vn-sample-ranks.h"
#include "vn-verify-error.h"
#include "vn-version.h"

#include <gio/gio.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Libraries take memory without asking, and start threads. */
#define LEAST_ROOM ((gsize) 64 << 20)

#define VN_CMD(name) extern const VnCmd vn_cmd_##name;
#include "vn-cmds.def"
#undef VN_CMD

static const VnCmd * const cmds[] = {
#define VN_CMD(name) &vn_cmd_##name,
#include "vn-cmds.def"
#undef VN_CMD
};

static void
main_print_help (FILE *file)
{
  g_autoptr(GString) text = g_string_new (_("Usage: vernier-cli COMMAND [OPTION …]\n\n"
                                            "Quantizes ONNX models and shows where the error is.\n\nCommands\n"));

  for (guint i = 0; i < G_N_ELEMENTS (cmds); i++)
    vn_cmd_append_item (text, cmds[i]->name, _(cmds[i]->summary), 13);
  g_string_append (text, _("\n“vernier-cli COMMAND --help” explains the options of a command.\n"
                           "Exit status: 0 done, 1 failed, 2 usage. Manual: man vernier-cli\n"));
  fputs (text->str, file);
}

static void
main_print_json (JsonBuilder *json)
{
  g_autoptr(JsonNode) root = json_builder_get_root (json);
  g_autofree char *text = vn_json_to_text (root);

  vn_cmd_put (text);
}

static const char *
main_error_code (const GError *error)
{
  static const char * const codes[] = { "malformed", "limit", "unsupported", "shape", "missing-data", "numeric", "setting",
                                        "memory", "verdict" };

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return "cancelled";
  if (vn_error_is_memory (error))
    return "memory";
  if (error->domain == VN_VERIFY_ERROR)
    return error->code == VN_VERIFY_ERROR_REFUSED ? "refused" : "unsupported";
  if (error->domain == VN_ERROR && (guint) error->code < G_N_ELEMENTS (codes))
    return codes[error->code];
  return error->domain == G_OPTION_ERROR ? "usage" : "file";
}

static void
main_add_error (JsonBuilder  *json,
                const GError *error,
                const char   *message)
{
  vn_json_begin_object (json, "error");
  vn_json_add_text (json, "code", main_error_code (error));
  vn_json_add_text (json, "message", message);
  json_builder_end_object (json);
}

/* @name: (nullable): of the command */
static int
main_fail (const char   *name,
           const GError *error)
{
  gboolean cancelled = g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  const char *kept = vn_cmd_get_cancel_note ();
  const char *message = !cancelled ? error->message : kept != NULL ? kept : _("Cancelled; nothing was written");
  g_autofree char *explained = NULL;

  /* Of several processes one speaks. */
  if (vn_ranks_get_rank () > 0)
    return VN_EXIT_DONE;
  /* What the system calls a lack of memory: that a file cannot be mapped, or a thread not be started. */
  if (vn_error_is_memory (error) && error->domain != VN_ERROR)
    message = explained = g_strdup_printf (_("Out of memory: %s"), message);
  if (vn_cmd_options.json)
    {
      g_autoptr(JsonBuilder) json = json_builder_new ();

      json_builder_begin_object (json);
      main_add_error (json, error, message);
      json_builder_end_object (json);
      main_print_json (json);
    }
  else
    vn_cmd_warn ("vernier-cli%s%s: %s", name != NULL ? " " : "", name != NULL ? name : "", message);
  return error->domain == G_OPTION_ERROR ? VN_EXIT_USAGE : VN_EXIT_FAILED;
}

static void
main_remove_arg (char **args,
                 guint  i)
{
  g_free (args[i]);
  for (; args[i] != NULL; i++)
    args[i] = args[i + 1];
}

static gboolean
main_parse_options (const VnCmd   *cmd,
                    char        ***args,
                    GError       **error)
{
  g_autoptr(GOptionContext) context = g_option_context_new (NULL);
  g_autoptr(GArray) options = vn_cmd_list_options (cmd);
  g_autoptr(GArray) entries = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));
  g_autoptr(GError) reason = NULL;
  int n;

  for (guint i = 0; i < options->len; i++)
    g_array_append_val (entries, *g_array_index (options, VnCmdOption, i).entry);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, (GOptionEntry *) (gpointer) entries->data, GETTEXT_PACKAGE);
  if (!vn_cmd_accept_foreign_words (options, args, error))
    return FALSE;
  if (!g_option_context_parse_strv (context, args, &reason))
    {
      if (g_error_matches (reason, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
        vn_cmd_hint_at_option (options, (const char * const *) *args + 1, &reason);
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  /* The program's name is left in front, and the "--" before a name that begins with a dash. */
  if ((*args)[1] != NULL && g_str_equal ((*args)[1], "--"))
    main_remove_arg (*args, 1);
  n = (int) g_strv_length (*args) - 1;
  if (n == cmd->n_args || (n > cmd->n_args && cmd->takes_more) || (cmd->lists != NULL && *cmd->lists))
    {
      if (vn_cmd_options.threads >= 0)
        return vn_cmd_take_standard_streams (cmd, options, *args + 1, error);
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--threads must not be negative"));
    }
  else if (n > cmd->n_args)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("Unexpected argument “%s”: expected %s; see --help"),
                 (*args)[cmd->n_args + 1], cmd->usage);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("Expected %s; see --help"), cmd->usage);
  return FALSE;
}

/* A process that others wait for must not leave before it has told them, so that mistakes in the options are found
 * behind vn_ranks_start(), where all make the same ones. */
static gboolean
main_run_in_ranks (const VnCmd   *cmd,
                   char        ***args,
                   JsonBuilder   *json,
                   GError       **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(GError) changed = NULL;
  gboolean done;

  if (cmd->in_ranks && !vn_ranks_start (error))
    return FALSE;
  if (cmd->shares_loops)
    vn_sample_ranks_set (vn_ranks_get_rank (), vn_ranks_get_n (), vn_cmd_gather);
  done = main_parse_options (cmd, args, &reason) && cmd->run (*args + 1, json, &reason) && vn_memory_check (0, &reason);
  /* What failed may have failed for a file that is no longer what it was. */
  if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED) && !vn_cmd_check_models (&changed))
    {
      g_clear_error (&reason);
      reason = g_steal_pointer (&changed);
      done = FALSE;
    }
  done = vn_cmd_end_files (done, &reason) && vn_cmd_write_standard_output (&reason);
  vn_ranks_end ();
  if (!done)
    g_propagate_error (error, g_steal_pointer (&reason));
  return done;
}

/* Whether help was asked for, before a "--" that ends the options. */
static gboolean
main_print_cmd_help (const VnCmd        *cmd,
                     const char * const *args)
{
  for (; *args != NULL && !g_str_equal (*args, "--"); args++)
    {
      gboolean all = g_str_equal (*args, "--help-all");

      if (all || g_str_equal (*args, "--help") || g_str_equal (*args, "-h"))
        {
          g_autofree char *text = vn_cmd_dup_help (cmd, all);

          vn_cmd_put (text);
          return TRUE;
        }
    }
  return FALSE;
}

static void
main_print_version (void)
{
  g_autofree char *build = vn_version_dup_build ();

  printf ("vernier-cli %s\n%s", VN_VERSION, build);
}

/* Whether errors are told as JSON, wherever the option stands. */
static gboolean
main_wants_json (const char * const *args)
{
  for (; *args != NULL && !g_str_equal (*args, "--"); args++)
    if (g_str_equal (*args, "--json"))
      return TRUE;
  return FALSE;
}

static int
main_run_cmd (const VnCmd  *cmd,
              char        **argv)
{
  g_auto(GStrv) args = g_strdupv (argv);
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonBuilder) json = json_builder_new ();
  const GError *failure;

  if (main_print_cmd_help (cmd, (const char * const *) args))
    return VN_EXIT_DONE;
  /* GLib 2.84 starts a thread with the first task, and ends the process where it gets none: now there is room for it. */
  g_type_ensure (G_TYPE_TASK);
  json_builder_begin_object (json);
  if (!main_run_in_ranks (cmd, &args, json, &error))
    {
      /* GLib takes back what it has read of options if one of them is wrong. */
      vn_cmd_options.json = main_wants_json ((const char * const *) argv);
      return main_fail (cmd->name, error);
    }
  failure = vn_cmd_get_failure ();
  if (failure != NULL && vn_cmd_options.json)
    main_add_error (json, failure, failure->message);
  json_builder_end_object (json);
  if (vn_cmd_options.json && vn_ranks_get_rank () == 0)
    main_print_json (json);
  else if (failure != NULL)
    fprintf (stderr, "vernier-cli %s: %s\n", cmd->name, failure->message);
  return failure != NULL ? VN_EXIT_FAILED : VN_EXIT_DONE;
}

static int
main_run_named (const char  *name,
                char       **argv)
{
  const VnForeignWord *word = vn_foreign_word_find (VN_FOREIGN_COMMAND, name);
  g_autoptr(GStrvBuilder) args = NULL;
  g_auto(GStrv) words = NULL, both = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cmds); i++)
    if (g_str_equal (cmds[i]->name, name))
      return main_run_cmd (cmds[i], argv);
  if (word == NULL || word->here == NULL)
    return -1;
  /* as another quantizer calls it */
  args = g_strv_builder_new ();
  words = g_strsplit (word->here, " ", -1);
  g_strv_builder_addv (args, (const char **) words);
  g_strv_builder_addv (args, (const char **) argv + 1);
  both = g_strv_builder_end (args);
  return main_run_named (both[0], both);
}

/* Without handlers: a thread still runs. */
static void
main_end_now (int status)
{
  vn_cmd_remove_standard_files ();
  fflush (NULL);
  _exit (status);
}

int
main (int    argc,
      char **argv)
{
  const char *name = argc > 1 ? argv[1] : NULL;
  g_autofree char *hint = NULL;
  g_autoptr(GError) error = NULL;
  int status;

  if (vn_ort_child_take_over (argc, argv, &status))
    return status;
  vn_memory_share_heap ();
  vn_cmd_open_streams ();
  vn_place_find_locale (VN_LOCALEDIR);
  setlocale (LC_NUMERIC, "C");    /* what is printed is read by programs, too */

  vn_cmd_set_all (cmds, G_N_ELEMENTS (cmds));
  if (!vn_memory_has_room (LEAST_ROOM))
    {
      fprintf (stderr, _("vernier-cli: Out of memory: less than %d MB are left before the limit of this process\n"),
               (int) (LEAST_ROOM >> 20));
      return VN_EXIT_FAILED;
    }
  if (name == NULL || g_str_equal (name, "--help") || g_str_equal (name, "-h") || g_str_equal (name, "help"))
    {
      main_print_help (name != NULL ? stdout : stderr);
      return name != NULL ? VN_EXIT_DONE : VN_EXIT_USAGE;
    }
  if (g_str_equal (name, "--version"))
    {
      main_print_version ();
      return VN_EXIT_DONE;
    }
  status = main_run_named (name, argv + 1);
  vn_cmd_drop_backend ();
  if (vn_cmd_has_left ())
    main_end_now (status);
  if (status >= 0)
    return status;
  hint = vn_cmd_dup_command_hint (name);
  error = g_error_new (G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("There is no command “%s”; %s"), name,
                       hint != NULL ? hint : _("see --help"));
  vn_cmd_options.json = main_wants_json ((const char * const *) argv);
  return main_fail (NULL, error);
}
