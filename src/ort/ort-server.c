/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the process does that runs parts of networks in libonnxruntime: a thread answers the requests of each channel. */
#include "ort-server.h"

#include "ort-library.h"
#include "ort-message.h"
#include "ort-plugin.h"
#include "ort-process.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define MOST_CHANNELS 256

/* How often it is looked whether the other process is gone, and microseconds between. */
#define LAST_LOOKS 100
#define LAST_LOOK_USEC 10000

static gboolean there;

/**
 * Session: a part that is ready.
 * @inputs, @outputs: (element-type utf8): names
 */
typedef struct
{
  gatomicrefcount ref;
  OrtSession     *session;
  GPtrArray      *inputs, *outputs;
} Session;

typedef struct
{
  VnOrtLibrary  library;
  OrtEnv       *env;
  OrtMemory    *memory;
  char         *provider, *custom_ops;
  VnOrtPlugin   plugin;      /* without a name: none */
  GMutex        lock;        /* of the sessions */
  GHashTable   *sessions;    /* guint64 -> Session */
} Server;

typedef struct
{
  Server      *server;
  int          socket;
  VnOrtShared  shared;
} Channel;

static gboolean
ort_server_check (const Server  *self,
                  OrtStatus     *status,
                  GError       **error)
{
  return vn_ort_library_check (&self->library, status, error);
}

/* ---- setting up ---- */

typedef struct { const char *word, *name, *function, *short_name; } Provider;

static const Provider providers[] = {
#define ORT_PROVIDER(word, name, function, short_name) { word, name, function, short_name },
#include "ort-providers.def"
#undef ORT_PROVIDER
};

/* (nullable): %NULL: none of the table */
static const Provider *
ort_server_find_provider (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (providers); i++)
    if (g_ascii_strcasecmp (providers[i].word, word) == 0 || g_ascii_strcasecmp (providers[i].name, word) == 0)
      return &providers[i];
  return NULL;
}

/* Whether this library was built with it. */
static gboolean
ort_server_check_provider (const Server    *self,
                           const Provider  *provider,
                           GError         **error)
{
  g_autoptr(GString) text = g_string_new (NULL);
  char **names = NULL;
  int n = 0;

  if (!ort_server_check (self, self->library.get_providers (&names, &n), error))
    return FALSE;
  for (int i = 0; i < n; i++)
    {
      if (provider != NULL && g_str_equal (names[i], provider->name))
        return TRUE;
      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", names[i]);
    }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” (version %s) has no execution provider “%s”; available: %s"),
               self->library.path, self->library.version, provider != NULL ? provider->name : self->provider, text->str);
  return FALSE;
}

static gboolean
ort_server_append_provider (const Server   *self,
                            OrtOptions     *options,
                            GError        **error)
{
  const Provider *provider = ort_server_find_provider (self->provider);
  g_autofree char *name = NULL;
  OrtStatus *(*append) (OrtOptions *, int) = NULL;
  void *symbol;

  if (!ort_server_check_provider (self, provider, error))
    return FALSE;
  if (provider->function == NULL && provider->short_name == NULL)
    return TRUE;   /* it is there without being asked for */
  name = g_strconcat ("OrtSessionOptionsAppendExecutionProvider_", provider->function, NULL);
  symbol = provider->function != NULL ? dlsym (self->library.handle, name) : NULL;
  if (symbol != NULL)
    {
      memcpy (&append, &symbol, sizeof symbol);
      return ort_server_check (self, append (options, 0), error);
    }
  if (provider->short_name != NULL && self->library.append_provider != NULL)
    return ort_server_check (self, self->library.append_provider (options, provider->short_name, NULL, NULL, 0), error);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” (version %s) cannot enable %s"), self->library.path,
               self->library.version, provider->name);
  return FALSE;
}

/* (nullable): options of a session */
static OrtOptions *
ort_server_make_options (const Server  *self,
                         GError       **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtOptions *options = NULL;
  void *handle = NULL;

  if (ort_server_check (self, ort->create_options (&options), error) &&
      ort_server_check (self, ort->set_intra_threads (options, 1), error) &&
      ort_server_check (self, ort->set_inter_threads (options, 1), error) &&
      ort_server_check (self, ort->set_log_severity (options, 4), error) &&
      ort_server_check (self, ort->set_option (options, "session.x64quantprecision", "1"), error) &&   /* sums do not saturate */
      (*self->custom_ops == '\0' ||
       ort_server_check (self, ort->register_custom_ops (options, self->custom_ops, &handle), error)) &&
      (*self->provider == '\0' || ort_server_append_provider (self, options, error)) &&
      (self->plugin.name == NULL || vn_ort_plugin_append (&self->plugin, ort, self->env, options, error)))
    return options;
  if (options != NULL)
    ort->release_options (options);
  return NULL;
}

static gboolean
ort_server_read_plugin (Server      *self,
                        const char  *library,
                        const char  *options,
                        GError     **error)
{
  g_auto(GStrv) each = *options != '\0' ? g_strsplit (options, VN_ORT_BETWEEN_OPTIONS, -1) : NULL;

  return *library == '\0' || vn_ort_plugin_parse (&self->plugin, library, (const char * const *) each, error);
}

static gboolean
ort_server_set_up (Channel       *channel,
                   VnOrtMessage  *request,
                   VnOrtMessage  *reply,
                   GError       **error)
{
  Server *self = channel->server;
  g_auto(GStrv) words = g_strsplit (request->text, "\n", VN_ORT_N_WORDS + 1);
  OrtOptions *options;

  if (g_strv_length (words) < VN_ORT_N_WORDS || self->env != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s", _("the request is not valid"));
      return FALSE;
    }
  self->provider = g_strdup (words[VN_ORT_WORD_PROVIDER]);
  self->custom_ops = g_strdup (words[VN_ORT_WORD_CUSTOM_OPS]);
  if (!ort_server_read_plugin (self, words[VN_ORT_WORD_EP_LIBRARY], words[VN_ORT_WORD_EP_OPTIONS], error) ||
      !vn_ort_library_open (&self->library, error) ||
      !ort_server_check (self, self->library.create_env (4, "vernier", &self->env), error) ||
      !ort_server_check (self, self->library.create_cpu_memory (1, 0, &self->memory), error) ||
      (self->plugin.name != NULL && !vn_ort_plugin_register (&self->plugin, &self->library, self->env, error)))
    return FALSE;
  options = ort_server_make_options (self, error);   /* what is wrong with them is told before any network is */
  if (options == NULL)
    return FALSE;
  self->library.release_options (options);
  reply->text = g_strdup (self->library.version);
  return TRUE;
}

/* ---- parts ---- */

static void
ort_server_unref_session (Server  *self,
                          Session *session)
{
  if (!g_atomic_ref_count_dec (&session->ref))
    return;
  if (session->session != NULL)
    self->library.release_session (session->session);
  g_ptr_array_unref (session->inputs);
  g_ptr_array_unref (session->outputs);
  g_free (session);
}

static gboolean
ort_server_read_names (Server    *self,
                       Session   *session,
                       GError   **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtAllocator *allocator = NULL;
  size_t n_inputs = 0, n_outputs = 0;
  char *name = NULL;

  if (!ort_server_check (self, ort->get_allocator (&allocator), error) ||
      !ort_server_check (self, ort->get_n_inputs (session->session, &n_inputs), error) ||
      !ort_server_check (self, ort->get_n_outputs (session->session, &n_outputs), error))
    return FALSE;
  for (size_t i = 0; i < n_inputs; i++)
    {
      if (!ort_server_check (self, ort->get_input_name (session->session, i, allocator, &name), error))
        return FALSE;
      g_ptr_array_add (session->inputs, g_strdup (name));   /* that of the library stays */
    }
  for (size_t i = 0; i < n_outputs; i++)
    {
      if (!ort_server_check (self, ort->get_output_name (session->session, i, allocator, &name), error))
        return FALSE;
      g_ptr_array_add (session->outputs, g_strdup (name));
    }
  return TRUE;
}

/* What is known of an output: of what is no tensor, nothing. */
static gboolean
ort_server_read_type (Server      *self,
                      Session     *session,
                      guint        i,
                      VnOrtPlace  *place,
                      GError     **error)
{
  const VnOrtLibrary *ort = &self->library;
  const OrtTensorType *tensor = NULL;
  OrtType *type = NULL;
  size_t rank = 0;
  int number = 0;
  gboolean good;

  *place = (VnOrtPlace) { .rank = VN_RANK_UNKNOWN };
  if (!ort_server_check (self, ort->get_output_type (session->session, i, &type), error))
    return FALSE;
  good = ort_server_check (self, ort->get_tensor_type (type, &tensor), error) &&
         (tensor == NULL || (ort_server_check (self, ort->get_element_type (tensor, &number), error) &&
                             ort_server_check (self, ort->get_rank (tensor, &rank), error)));
  if (good && tensor != NULL)
    place->dtype = number;
  /* no dims may be those of a scalar, or not known */
  if (good && tensor != NULL && rank > 0 && rank <= VN_MAX_RANK)
    {
      good = ort_server_check (self, ort->get_dims (tensor, place->dims, rank), error);
      place->rank = good ? (gint32) rank : VN_RANK_UNKNOWN;
    }
  ort->release_type (type);
  return good;
}

static gboolean
ort_server_load (Server         *self,
                 Session        *session,
                 const char     *path,
                 VnOrtMessage   *reply,
                 GError        **error)
{
  OrtOptions *options = ort_server_make_options (self, error);
  gboolean good;

  if (options == NULL)
    return FALSE;
  good = ort_server_check (self, self->library.create_session (self->env, path, options, &session->session), error);
  self->library.release_options (options);
  if (!good || !ort_server_read_names (self, session, error))
    return FALSE;
  reply->n_places = session->outputs->len;
  reply->places = g_new0 (VnOrtPlace, reply->n_places + 1);
  for (guint i = 0; i < reply->n_places; i++)
    if (!ort_server_read_type (self, session, i, &reply->places[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
ort_server_open (Channel       *channel,
                 VnOrtMessage  *request,
                 VnOrtMessage  *reply,
                 GError       **error)
{
  Server *self = channel->server;
  Session *session = g_new0 (Session, 1);
  guint64 *key = g_memdup2 (&request->part, sizeof request->part);

  g_atomic_ref_count_init (&session->ref);
  session->inputs = g_ptr_array_new_with_free_func (g_free);
  session->outputs = g_ptr_array_new_with_free_func (g_free);
  if (!ort_server_load (self, session, request->text, reply, error))
    {
      ort_server_unref_session (self, session);
      g_free (key);
      return FALSE;
    }
  g_mutex_lock (&self->lock);
  g_hash_table_insert (self->sessions, key, session);
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static gboolean
ort_server_close (Channel       *channel,
                  VnOrtMessage  *request,
                  VnOrtMessage  *reply,
                  GError       **error)
{
  Server *self = channel->server;
  Session *session;

  g_mutex_lock (&self->lock);
  session = g_hash_table_lookup (self->sessions, &request->part);
  g_hash_table_remove (self->sessions, &request->part);
  g_mutex_unlock (&self->lock);
  if (session != NULL)
    ort_server_unref_session (self, session);
  return TRUE;
}

/* ---- runs ---- */

static gboolean
ort_server_wrap (Channel           *channel,
                 const VnOrtPlace  *place,
                 OrtValue         **value,
                 GError           **error)
{
  Server *self = channel->server;
  VnShape shape;

  return vn_ort_place_check (place, channel->shared.size, &shape, error) &&
         ort_server_check (self, self->library.wrap_tensor (self->memory, channel->shared.data + place->offset, place->n_bytes,
                                                            place->dims, (size_t) place->rank, place->dtype, value), error);
}

/* Where an output will be, behind what is there. */
static gboolean
ort_server_place (Server      *self,
                  OrtValue    *value,
                  VnOrtPlace  *place,
                  gsize       *end,
                  GError     **error)
{
  const VnOrtLibrary *ort = &self->library;
  OrtTensorType *type = NULL;
  VnShape shape = { 0 };
  size_t rank = 0;
  int number = 0;
  gboolean good;

  if (!ort_server_check (self, ort->get_value_type (value, &type), error))
    return FALSE;
  good = ort_server_check (self, ort->get_element_type (type, &number), error) &&
         ort_server_check (self, ort->get_rank (type, &rank), error);
  if (good && (rank > VN_MAX_RANK || !vn_dtype_is_valid (number) || number == VN_DTYPE_STRING))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("a tensor of type %d with %d dims is not supported"), number,
                   (int) rank);
      good = FALSE;
    }
  good = good && ort_server_check (self, ort->get_dims (type, shape.dims, rank), error);
  ort->release_tensor_type (type);
  shape.rank = (int) rank;
  return good && vn_ort_place_set (place, (VnDType) number, &shape, end, error);
}

/* Behind the inputs, which @values may be. */
static gboolean
ort_server_take_outputs (Channel        *channel,
                         OrtValue      **values,
                         guint           n,
                         gsize           end,
                         VnOrtMessage   *reply,
                         GError        **error)
{
  Server *self = channel->server;

  reply->n_places = n;
  reply->places = g_new0 (VnOrtPlace, n + 1);
  for (guint i = 0; i < n; i++)
    if (!ort_server_place (self, values[i], &reply->places[i], &end, error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    {
      void *data = NULL;

      if (!vn_ort_shared_grow (&channel->shared, end, error) ||
          !ort_server_check (self, self->library.get_data (values[i], &data), error))
        return FALSE;
      if (reply->places[i].n_bytes > 0)
        memcpy (channel->shared.data + reply->places[i].offset, data, reply->places[i].n_bytes);
    }
  return TRUE;
}

static gboolean
ort_server_run_session (Channel        *channel,
                        Session        *session,
                        VnOrtMessage   *request,
                        VnOrtMessage   *reply,
                        GError        **error)
{
  Server *self = channel->server;
  const guint n_in = session->inputs->len, n_out = session->outputs->len;
  g_autofree OrtValue **in = g_new0 (OrtValue *, n_in + 1), **out = g_new0 (OrtValue *, n_out + 1);
  gboolean good = vn_ort_shared_map (&channel->shared, request->shared_size, error);

  for (guint i = 0; i < n_in && good; i++)
    good = ort_server_wrap (channel, &request->places[i], &in[i], error);
  good = good && ort_server_check (self, self->library.run (session->session, NULL, (const char * const *) session->inputs->pdata,
                                                            (const OrtValue * const *) in, n_in,
                                                            (const char * const *) session->outputs->pdata, n_out, out), error) &&
         ort_server_take_outputs (channel, out, n_out, request->shared_size, reply, error);
  for (guint i = 0; i < n_in; i++)
    if (in[i] != NULL)
      self->library.release_value (in[i]);
  for (guint i = 0; i < n_out; i++)
    if (out[i] != NULL)
      self->library.release_value (out[i]);
  return good;
}

static gboolean
ort_server_run (Channel       *channel,
                VnOrtMessage  *request,
                VnOrtMessage  *reply,
                GError       **error)
{
  Server *self = channel->server;
  Session *session;
  gboolean good;

  g_mutex_lock (&self->lock);
  session = g_hash_table_lookup (self->sessions, &request->part);
  if (session != NULL)
    g_atomic_ref_count_inc (&session->ref);
  g_mutex_unlock (&self->lock);
  if (session == NULL || request->n_places != session->inputs->len)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, "%s", _("the request is not valid"));
      good = FALSE;
    }
  else
    good = ort_server_run_session (channel, session, request, reply, error);
  if (session != NULL)
    ort_server_unref_session (self, session);
  return good;
}

/* ---- channels ---- */

typedef gboolean (*AnswerFunc) (Channel       *channel,
                                VnOrtMessage  *request,
                                VnOrtMessage  *reply,
                                GError       **error);

static void
ort_server_answer (Channel       *channel,
                   VnOrtMessage  *request,
                   VnOrtMessage  *reply)
{
  static const AnswerFunc funcs[VN_ORT_N_REQUESTS] = {
    [VN_ORT_SETUP] = ort_server_set_up, [VN_ORT_OPEN] = ort_server_open, [VN_ORT_RUN] = ort_server_run,
    [VN_ORT_CLOSE] = ort_server_close,
  };
  g_autoptr(GError) error = NULL;

  if (request->kind >= VN_ORT_N_REQUESTS || (request->kind != VN_ORT_SETUP && channel->server->env == NULL))
    g_set_error (&error, VN_ERROR, VN_ERROR_MALFORMED, "%s", _("the request is not valid"));
  else
    funcs[request->kind] (channel, request, reply, &error);
  if (error != NULL)
    {
      vn_ort_message_clear (reply);
      *reply = (VnOrtMessage) { .kind = 1, .text = g_strdup (error->message) };
    }
  reply->shared_size = channel->shared.size;
}

static gpointer
ort_server_serve (gpointer data)
{
  Channel *channel = data;
  gboolean good = TRUE;

  while (good)
    {
      g_auto(VnOrtMessage) request = { 0 }, reply = { 0 };

      good = vn_ort_message_receive (&request, channel->socket, 0, NULL, NULL);
      if (good)
        ort_server_answer (channel, &request, &reply);
      good = good && vn_ort_message_send (&reply, channel->socket, NULL);
    }
  return NULL;
}

/* Ends when the other side does: all channels are closed then. */
static void
ort_server_main (guint n_channels)
{
  Server self = { .sessions = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL) };
  g_autofree Channel *channels = g_new0 (Channel, n_channels);
  g_autofree GThread **threads = g_new0 (GThread *, n_channels);

  g_mutex_init (&self.lock);
  for (guint i = 0; i < n_channels; i++)
    {
      channels[i] = (Channel) { &self, VN_ORT_FIRST_FD + 2 * (int) i, { .fd = VN_ORT_FIRST_FD + 2 * (int) i + 1 } };
      threads[i] = g_thread_new ("channel", ort_server_serve, &channels[i]);
    }
  for (guint i = 0; i < n_channels; i++)
    g_thread_join (threads[i]);
}

/*< private >
 * vn_ort_server_take_over:
 * @argc, @argv: of main(), which asks this first
 * @status: (out): what main() shall return, if %TRUE
 *
 * Returns: whether this process was started to run parts of networks, and has done so
 */
gboolean
vn_ort_server_take_over (int    argc,
                         char **argv,
                         int   *status)
{
  guint64 n = 0;
  pid_t parent;

  g_return_val_if_fail (status != NULL, FALSE);

  there = TRUE;
  if (argc != 4 || !g_str_equal (argv[1], VN_ORT_SERVER) ||
      !g_ascii_string_to_unsigned (argv[2], 10, 1, MOST_CHANNELS, &n, NULL))
    return FALSE;
  parent = getppid ();
  ort_server_main ((guint) n);
  /* A process that is killed closes its files before it is gone; nobody else removes what is left then. */
  for (guint i = 0; i < LAST_LOOKS && getppid () == parent; i++)
    g_usleep (LAST_LOOK_USEC);
  if (getppid () != parent)
    vn_ort_process_remove_folder (argv[3]);
  *status = 0;
  return TRUE;
}

/*< private >
 * vn_ort_server_is_there:
 *
 * Returns: whether this program can be started so
 */
gboolean
vn_ort_server_is_there (void)
{
  return there;
}
