/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Execution providers in libraries of their own: RegisterExecutionProviderLibrary() and what follows it. */
#include "ort-plugin.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <string.h>

#define FIRST_VERSION "1.22"

void
vn_ort_plugin_clear (VnOrtPlugin *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->name);
  g_free (self->path);
  g_strfreev (self->keys);
  g_strfreev (self->values);
  g_free (self->devices);
  *self = (VnOrtPlugin) { 0 };
}

/* "key=value"; values may be empty. */
static gboolean
ort_plugin_parse_options (VnOrtPlugin         *self,
                          const char * const  *options,
                          GError             **error)
{
  g_autoptr(GStrvBuilder) keys = g_strv_builder_new (), values = g_strv_builder_new ();

  for (guint i = 0; options != NULL && options[i] != NULL; i++)
    {
      const char *equals = strchr (options[i], '=');
      g_autofree char *key = equals != NULL ? g_strndup (options[i], equals - options[i]) : NULL;

      if (key == NULL || *key == '\0' || strchr (options[i], '\n') != NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not an option of an execution provider; use KEY=VALUE"),
                       options[i]);
          return FALSE;
        }
      g_strv_builder_add (keys, key);
      g_strv_builder_add (values, equals + 1);
      self->n_options++;
    }
  self->keys = g_strv_builder_end (keys);
  self->values = g_strv_builder_end (values);
  return TRUE;
}

/*< private >
 * vn_ort_plugin_parse:
 * @self: (out caller-allocates): cleared by vn_ort_plugin_clear(), also after an error
 * @library: (nullable): "NAME=PATH": a relative path is that of the current folder; %NULL: options alone, of a provider that is
 *   known otherwise
 * @options: (nullable) (array zero-terminated): "KEY=VALUE" of the provider
 */
gboolean
vn_ort_plugin_parse (VnOrtPlugin         *self,
                     const char          *library,
                     const char * const  *options,
                     GError             **error)
{
  const char *equals;

  g_return_val_if_fail (self != NULL, FALSE);

  *self = (VnOrtPlugin) { 0 };
  if (library == NULL)
    return ort_plugin_parse_options (self, options, error);
  equals = strchr (library, '=');
  if (equals == NULL || equals == library || equals[1] == '\0' || strchr (library, '\n') != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s” is not an execution provider library; use NAME=PATH, such as QNNExecutionProvider=libonnxruntime_"
                     "providers_qnn.so"), library);
      return FALSE;
    }
  self->name = g_strndup (library, equals - library);
  self->path = g_canonicalize_filename (equals + 1, NULL);
  return ort_plugin_parse_options (self, options, error);
}

/* Those of all that the library has brought, or that there were before, whose provider has the name. */
static gboolean
ort_plugin_find_devices (VnOrtPlugin         *self,
                         const VnOrtLibrary  *library,
                         OrtEnv              *env,
                         GError             **error)
{
  g_autoptr(GString) there = g_string_new (NULL);
  g_autoptr(GHashTable) told = g_hash_table_new (g_str_hash, g_str_equal);
  const OrtEpDevice * const *devices = NULL;
  size_t n = 0;

  if (!vn_ort_library_check (library, library->get_ep_devices (env, &devices, &n), error))
    return FALSE;
  self->devices = g_new0 (const OrtEpDevice *, n + 1);
  for (size_t i = 0; i < n; i++)
    {
      const char *name = library->get_ep_name (devices[i]);

      if (g_ascii_strcasecmp (name, self->name) == 0)
        self->devices[self->n_devices++] = devices[i];
      if (g_hash_table_add (told, (gpointer) name))
        g_string_append_printf (there, "%s%s", there->len > 0 ? ", " : "", name);
    }
  if (self->n_devices > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” offers no device for an execution provider “%s”; available: %s"),
               self->path, self->name, there->str);
  return FALSE;
}

/*< private >
 * vn_ort_plugin_register:
 * @library: from version 1.22 on
 *
 * Loads the library of the provider, which stays loaded, and finds the devices of that.
 */
gboolean
vn_ort_plugin_register (VnOrtPlugin         *self,
                        const VnOrtLibrary  *library,
                        OrtEnv              *env,
                        GError             **error)
{
  g_return_val_if_fail (self != NULL && self->name != NULL && library != NULL && env != NULL, FALSE);

  if (library->register_ep_library == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” (version %s) loads no execution provider libraries: these need "
                                                            "ONNX Runtime %s or later"),
                   library->path, library->version, FIRST_VERSION);
      return FALSE;
    }
  return vn_ort_library_check (library, library->register_ep_library (env, self->name, self->path), error) &&
         ort_plugin_find_devices (self, library, env, error);
}

/*< private >
 * vn_ort_plugin_append:
 * @options: of a session, which runs on the first device of the provider; what that refuses runs on the CPU
 */
gboolean
vn_ort_plugin_append (const VnOrtPlugin   *self,
                      const VnOrtLibrary  *library,
                      OrtEnv              *env,
                      OrtOptions          *options,
                      GError             **error)
{
  g_return_val_if_fail (self != NULL && self->n_devices > 0 && library != NULL, FALSE);

  return vn_ort_library_check (library,
                               library->append_ep_devices (options, env, self->devices, 1, (const char * const *) self->keys,
                                                           (const char * const *) self->values, self->n_options), error);
}
