/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs the networks, and how: --engine, --custom-ops, --ep-library and --simulate-target. A library of operators, or of an
 * execution provider, is code: it is loaded because the user names it here, never because a file does. */
#include "vn-cmd.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-ort-backend.h"
#include "vn-target-arithmetic.h"

#include <string.h>

#define RUNTIME "onnxruntime"
#define OWN "vernier"

static VnBackend *backend;   /* of all models of the command, once the first is opened */

static gboolean
cmd_engine_check_plugin (GError **error)
{
  const VnCmdOptions *o = &vn_cmd_options;
  g_auto(VnOrtPlugin) plugin = { 0 };
  g_autoptr(GError) reason = NULL;

  if (o->ep_library == NULL && o->ep_options == NULL)
    return TRUE;
  if (!vn_ort_plugin_parse (&plugin, o->ep_library, (const char * const *) o->ep_options, &reason))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: %s",
                 plugin.name == NULL && o->ep_library != NULL ? "--ep-library" : "--ep-option", reason->message);
  else if (plugin.name != NULL && !g_file_test (plugin.path, G_FILE_TEST_IS_REGULAR))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--ep-library: “%s” is not a file"), plugin.path);
  else
    return TRUE;
  return FALSE;
}

static gboolean
cmd_engine_fill (VnOrtSettings  *settings,
                 GError        **error)
{
  const VnCmdOptions *o = &vn_cmd_options;

  settings->custom_ops = o->custom_ops;
  settings->ep_library = o->ep_library;
  settings->ep_options = (const char * const *) o->ep_options;
  if (o->custom_ops != NULL && !g_file_test (o->custom_ops, G_FILE_TEST_IS_REGULAR))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--custom-ops: “%s” is not a file"), o->custom_ops);
      return FALSE;
    }
  if (!cmd_engine_check_plugin (error))
    return FALSE;
  if (o->engine == NULL)
    return TRUE;
  if (g_str_equal (o->engine, OWN))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("%s cannot be combined with --engine %s"),
                   o->custom_ops != NULL ? "--custom-ops" : "--ep-library", OWN);
      return FALSE;
    }
  settings->takes_all = TRUE;
  if (g_str_equal (o->engine, RUNTIME))
    return TRUE;
  if (g_str_has_prefix (o->engine, RUNTIME ":") && o->engine[strlen (RUNTIME ":")] != '\0' && strchr (o->engine, '\n') == NULL)
    {
      settings->provider = o->engine + strlen (RUNTIME ":");
      if (o->ep_library == NULL)
        return TRUE;
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--ep-library names the execution provider itself: use --engine %s"), RUNTIME);
      return FALSE;
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--engine: “%s” is not allowed; use %s"), o->engine,
               OWN ", " RUNTIME ", " RUNTIME ":cuda");
  return FALSE;
}

/* Of the target that --simulate-target names. */
static gboolean
cmd_engine_find_arithmetic (VnArithmetic  *arithmetic,
                            GError       **error)
{
  const VnCmdOptions *o = &vn_cmd_options;
  g_autofree char *ids = vn_target_dup_with_arithmetic ();
  const VnPreset *target;

  *arithmetic = VN_ARITHMETIC_EXACT;
  if (o->simulated_target == NULL)
    return TRUE;
  target = vn_target_find (o->simulated_target, FALSE, error);
  if (target == NULL)
    {
      g_prefix_error (error, "%s: ", "--simulate-target");
      return FALSE;
    }
  *arithmetic = vn_target_get_arithmetic (target);
  if (*arithmetic == VN_ARITHMETIC_EXACT)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 _("--simulate-target: “%s” is not known to compute differently from Vernier; use one of: %s"), target->id, ids);
  else if (o->engine != NULL)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--simulate-target cannot be combined with --engine %s"),
                 o->engine);
  else
    return TRUE;
  return FALSE;
}

/**
 * vn_cmd_drop_backend:
 *
 * Ends what vn_cmd_take_backend() has started, once nothing is run any more.
 */
void
vn_cmd_drop_backend (void)
{
  if (backend != NULL)
    vn_ort_backend_stop (VN_ORT_BACKEND (backend));
  g_clear_object (&backend);
}

/**
 * vn_cmd_take_backend:
 * @taken: (out) (transfer none) (nullable): what runs what we have no kernel for, or everything; %NULL: nothing does
 *
 * Returns: %FALSE if --engine, --custom-ops, --ep-library or --simulate-target names what is not there
 */
gboolean
vn_cmd_take_backend (VnBackend **taken,
                     GError    **error)
{
  const VnCmdOptions *o = &vn_cmd_options;
  VnOrtSettings settings = { 0 };
  VnArithmetic arithmetic;

  g_return_val_if_fail (taken != NULL, FALSE);

  *taken = NULL;
  if (!cmd_engine_find_arithmetic (&arithmetic, error))
    return FALSE;
  if (o->engine != NULL && g_str_equal (o->engine, OWN) && o->custom_ops == NULL && o->ep_library == NULL &&
      o->ep_options == NULL)
    return TRUE;
  if (backend == NULL)
    {
      g_autoptr(GError) reason = NULL;

      if (!cmd_engine_fill (&settings, error))
        return FALSE;
      backend = vn_ort_backend_new (&settings);
      vn_backend_set_arithmetic (backend, arithmetic);
      if ((o->engine != NULL || o->custom_ops != NULL) && !vn_ort_backend_start (VN_ORT_BACKEND (backend), &reason))
        {
          vn_cmd_drop_backend ();
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %s"), o->engine != NULL ? "--engine" : "--custom-ops",
                       reason->message);
          return FALSE;
        }
    }
  *taken = backend;
  return TRUE;
}
