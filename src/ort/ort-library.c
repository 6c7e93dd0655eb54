/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds libonnxruntime: where VN_ORT_LIBRARY says, under its usual names, or inside the Python packages that carry it: of the
 * interpreter that VN_PYTHON names, of active environments, of the one that “verify --install” makes, of the system. */
#include "ort-library.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <dlfcn.h>
#include <string.h>

/* The one function that the library exports gives these two. */
typedef struct
{
  const void * const *(*get_table)   (guint32 version);
  const char         *(*get_version) (void);
} Base;

#define FIRST_INTERFACE 4   /* all functions that every library must have belong to it */

/* ---- places ---- */

static void
ort_library_add_folder (GPtrArray  *paths,
                        const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, "libonnxruntime.so"))
      g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
}

/* ROOT/python3.11/PACKAGES/onnxruntime/capi/libonnxruntime.so.1.31.0 */
static void
ort_library_add_pythons (GPtrArray  *paths,
                         const char *root)
{
  static const char * const packages[] = { "site-packages", "dist-packages" };
  g_autoptr(GDir) dir = g_dir_open (root, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    for (guint i = 0; i < G_N_ELEMENTS (packages) && g_str_has_prefix (name, "python3"); i++)
      {
        g_autofree char *folder = g_build_filename (root, name, packages[i], "onnxruntime", "capi", NULL);

        ort_library_add_folder (paths, folder);
      }
}

/* A link is not followed: the packages of an environment are beside the link. */
static void
ort_library_add_interpreter (GPtrArray  *paths,
                             const char *command)    /* nullable */
{
  g_autofree char *program = command != NULL && *command != '\0' ? g_find_program_in_path (command) : NULL;
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : NULL;
  g_autofree char *home = folder != NULL ? g_path_get_dirname (folder) : NULL;
  g_autofree char *lib = home != NULL ? g_build_filename (home, "lib", NULL) : NULL;

  if (lib != NULL)
    ort_library_add_pythons (paths, lib);
}

static GPtrArray *
ort_library_list_paths (void)
{
  static const char * const names[] = { "libonnxruntime.so.1", "libonnxruntime.so" };
  static const char * const folders[] = { "/usr/local/lib", "/opt/onnxruntime/lib" };
  static const char * const roots[] = { "/usr/local/lib", "/usr/lib" };
  static const char * const homes[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *own = g_build_filename (g_get_home_dir (), ".local", "lib", NULL);
  g_autofree char *installed = g_build_filename (g_get_user_cache_dir (), "vernier", "onnxruntime", "lib", NULL);

  ort_library_add_interpreter (paths, g_getenv ("VN_PYTHON"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_ptr_array_add (paths, g_strdup (names[i]));
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    ort_library_add_folder (paths, folders[i]);
  for (guint i = 0; i < G_N_ELEMENTS (homes); i++)
    if (g_getenv (homes[i]) != NULL)
      {
        g_autofree char *lib = g_build_filename (g_getenv (homes[i]), "lib", NULL);

        ort_library_add_folder (paths, lib);
        ort_library_add_pythons (paths, lib);
      }
  ort_library_add_pythons (paths, installed);
  ort_library_add_pythons (paths, own);
  for (guint i = 0; i < G_N_ELEMENTS (roots); i++)
    ort_library_add_pythons (paths, roots[i]);
  return paths;
}

/* ---- opening ---- */

/* (nullable): interface N came with version 1.N; a library that is asked for a later one complains on standard error. */
static const void * const *
ort_library_find_later (const VnOrtLibrary *self,
                        const Base         *base,
                        guint32             interface)
{
  return g_ascii_strtoull (self->version + strlen ("1."), NULL, 10) >= interface ? base->get_table (interface) : NULL;
}

static gboolean
ort_library_take (VnOrtLibrary  *self,
                  void          *handle,
                  GError       **error)
{
  void *symbol = dlsym (handle, "OrtGetApiBase");
  const Base *(*get_base) (void) = NULL;
  const Base *base;
  const void * const *table, * const *later;

  if (symbol != NULL)
    memcpy (&get_base, &symbol, sizeof symbol);   /* ISO C knows no cast from data to function */
  base = get_base != NULL ? get_base () : NULL;
  self->version = base != NULL ? base->get_version () : NULL;
  if (self->version == NULL || !g_str_has_prefix (self->version, "1."))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” is not libonnxruntime version 1 (it reports: %s)"), self->path,
                   self->version != NULL ? self->version : _("nothing"));
      return FALSE;
    }
  table = base->get_table (FIRST_INTERFACE);
  if (table == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("“%s” (%s) no longer supports API version %d"), self->path,
                   self->version,
                   FIRST_INTERFACE);
      return FALSE;
    }
  self->handle = handle;
#define ORT_CALL(name, place, result, arguments) memcpy (&self->name, &table[place], sizeof self->name);
#define ORT_LATER_CALL(name, interface, place, result, arguments) \
  later = ort_library_find_later (self, base, interface); \
  self->name = NULL; \
  if (later != NULL) \
    memcpy (&self->name, &later[place], sizeof self->name);
#include "ort-calls.def"
  return TRUE;
}

static gboolean
ort_library_try (VnOrtLibrary  *self,
                 const char    *path,
                 GError       **error)
{
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);

  if (handle == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Cannot load “%s”: %s"), path, dlerror ());
      return FALSE;
    }
  g_free (self->path);
  self->path = g_strdup (path);
  return ort_library_take (self, handle, error);
}

/*< private >
 * vn_ort_library_open:
 * @self: (out): filled; the library stays loaded
 */
gboolean
vn_ort_library_open (VnOrtLibrary  *self,
                     GError       **error)
{
  const char *given = g_getenv ("VN_ORT_LIBRARY");
  g_autoptr(GPtrArray) paths = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (given != NULL && *given != '\0')
    return ort_library_try (self, given, error);
  paths = ort_library_list_paths ();
  for (guint i = 0; i < paths->len; i++)
    if (ort_library_try (self, g_ptr_array_index (paths, i), NULL))
      return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s",
               _("libonnxruntime.so was not found: install ONNX Runtime (“vernier-cli verify --install” does so), activate the "
                 "Python environment that has it, or set VN_PYTHON or VN_ORT_LIBRARY"));
  return FALSE;
}

/*< private >
 * vn_ort_library_check:
 * @status: of a call
 *
 * Returns: whether it went well; if not, @error has what the library says
 */
gboolean
vn_ort_library_check (const VnOrtLibrary  *self,
                      OrtStatus           *status,
                      GError             **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (status == NULL)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED, self->get_error_message (status));   /* it ends with the process */
  return FALSE;
}
