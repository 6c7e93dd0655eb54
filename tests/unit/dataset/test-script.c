/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Preprocessing in the user's Python: what it is told, what may come back, and all the ways it can go wrong. The
 * functions of the test need no numpy: arrays of Python's own will do. */

#include "folder-fixture.h"

#include "vn-error.h"
#include "vn-json.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#define TIMEOUT 20

static const char code[] =
  "import array, os, signal, struct, sys, time\n"
  "def make(code, values, shape):\n"
  "    return memoryview(array.array(code, values)).cast('B').cast(code, shape)\n"
  "def size(paths, d): return make('f', [os.path.getsize(paths[0]), len(paths), d['mean_value'][1]], (1, 3))\n"
  "def noisy(paths, d):\n"
  "    print('to be ignored')\n"
  "    os.write(1, b'and this\\n')\n"
  "    os.system('echo this as well')\n"
  "    return size(paths, d)\n"
  "def told(paths, d):\n"
  "    assert d == {'input_name': 'v \"\\u00e9\\\\', 'input_shape': [1, 3, 4, 2], 'dtype': 'float32', 'file_type': 'raw',\n"
  "                 'color_format': 'bgr', 'mean_value': [1.5, 2.0, 3.0], 'std_value': [4.0, 5.0, 0.1],\n"
  "                 'preprocess_file': d['preprocess_file'], 'data_list_path': d['data_list_path']}, d\n"
  "    return make('f', range(24), (1, 3, 4, 2))\n"
  "def double(paths, d): return make('d', [1, 2, 3], (3,))\n"
  "def integers(paths, d): return make('q', [1, 2, 3], (3,))\n"
  "def view(paths, d): return make('f', [1, 9, 2, 9, 3, 9], (6,))[::2]\n"
  "class Tensor:\n"
  "    def detach(self): return self\n"
  "    def cpu(self): return self\n"
  "    def numpy(self): return make('f', [1, 2, 3], (1, 3))\n"
  "def torch(paths, d): return Tensor()\n"
  "def shape(paths, d): return make('f', [1, 2, 3, 4], (1, 4))\n"
  "def nan(paths, d): return make('f', [1, float('nan'), float('inf')], (1, 3))\n"
  "def text(paths, d): return 'picture'\n"
  "def nothing(paths, d): return None\n"
  "def raises(paths, d):\n"
  "    return {}['missing']\n"
  "def leaves(paths, d): sys.exit(3)\n"
  "def quits(paths, d): os._exit(3)\n"
  "def leaves_behind(paths, d):\n"
  "    child = os.fork()\n"
  "    if child == 0:\n"
  "        os.close(3)\n"
  "        while True: time.sleep(1000)\n"
  "    with open(paths[0] + '.child', 'w') as file: file.write(str(child))\n"
  "    os._exit(3)\n"
  "def dies(paths, d): os.kill(os.getpid(), signal.SIGKILL)\n"
  "def sleeps(paths, d): time.sleep(1000)\n"
  "def garbles(paths, d): os.write(3, b'x' * 64); time.sleep(1000)\n"
  "def huge(paths, d):\n"
  "    os.write(3, struct.pack('<4s4BQ3q', b'VNS1', ord('T'), 1, 3, 0, 1 << 62, 1 << 30, 1 << 30, 1)); time.sleep(1000)\n"
  "def lies(paths, d):\n"
  "    os.write(3, struct.pack('<4s4BQ1q', b'VNS1', ord('T'), 1, 1, 0, 4, 3)); time.sleep(1000)\n"
  "def long_error(paths, d): raise ValueError('x' * 100000)\n"
  "def opens(paths, d):\n"
  "    for fd in 0, 1, 2: os.fstat(fd)\n"
  "    with open(paths[0]) as file: assert file.fileno() > 3, file.fileno()\n"
  "    os.write(2, b'')\n"
  "    return size(paths, d)\n"
  "def fails_twice(paths, d):\n"
  "    if paths[0].endswith('0.raw'): os._exit(1)\n"
  "    return make('f', [1, 2, 3], (1, 3))\n";

static gboolean
have_python (void)
{
  g_autofree char *python = g_find_program_in_path ("python3");

  if (python == NULL)
    g_test_skip ("there is no python3");
  return python != NULL;
}

static VnDataSpec *
make_spec (Folder     *folder,
           const char *function,
           guint       n)
{
  g_autofree char *samples = g_build_filename (folder->path, "samples", NULL);
  VnDataSpec *spec = vn_data_spec_new (samples);

  folder_put_text (folder, "code.py", code);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("samples/%u.raw", i);

      folder_put (folder, name, "0123456789", i + 1);
    }
  spec->script = g_strdup_printf ("%s/code.py:%s", folder->path, function);
  spec->timeout = TIMEOUT;
  return spec;
}

/* ---- what works ---- */

static void
test_values (Folder        *folder,
             gconstpointer  data)
{
  static const struct
  {
    const char *function;
    double      last;
  } cases[] = {
    { "size", 2.5 }, { "noisy", 2.5 }, { "opens", 2.5 }, { "double", 3 }, { "integers", 3 }, { "view", 3 }, { "torch", 3 },
  };

  if (!have_python ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = make_spec (folder, cases[i].function, 2);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      spec->preprocess.mean[1] = 2.5f;
      dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (vn_dataset_load (dataset, 1, &tensor, &error));
      g_assert_no_error (error);
      g_test_message ("%s: %g", cases[i].function, vn_tensor_get_double (tensor, 2));
      g_assert_cmpint (tensor->dtype, ==, VN_DTYPE_F32);
      g_assert_true (vn_shape_equal (&tensor->shape, &VN_SHAPE (1, 3)));
      g_assert_cmpfloat (vn_tensor_get_double (tensor, 2), ==, cases[i].last);
      if (i < 3)
        g_assert_cmpfloat (vn_tensor_get_double (tensor, 0), ==, 2);
    }
}

static void
test_told (Folder        *folder,
           gconstpointer  data)
{
  const VnInputSpec input = { (char *) "v \"é\\", VN_DTYPE_F32, { 4, { -1, 3, -1, 2 } } };
  g_autoptr(VnDataSpec) spec = make_spec (folder, "told", 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnTensor) tensor = NULL;

  if (!have_python ())
    return;
  spec->preprocess = (VnPreprocess) { .height = 4, .color = VN_COLOR_BGR, .mean = { 1.5, 2, 3 }, .std = { 4, 5, 0.1f } };
  dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (vn_dataset_load (dataset, 0, &tensor, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (vn_tensor_get_double (tensor, 23), ==, 23);
}

typedef struct
{
  VnDataset *dataset;
  guint      n_right;
} Loading;

static gpointer
load_many (gpointer data)
{
  Loading *self = data;

  for (guint i = 0; i < 40; i++)
    {
      guint sample = i % vn_dataset_get_n (self->dataset);
      g_autoptr(VnTensor) tensor = NULL;

      if (vn_dataset_load (self->dataset, sample, &tensor, NULL))
        self->n_right += vn_tensor_get_double (tensor, 0) == sample + 1;
    }
  return NULL;
}

static void
test_threads (Folder        *folder,
              gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "size", 10);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  Loading loading[6];
  GThread *threads[6];

  if (!have_python ())
    return;
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 6; i++)
    {
      loading[i] = (Loading) { dataset, 0 };
      threads[i] = g_thread_new ("load", load_many, &loading[i]);
    }
  for (guint i = 0; i < 6; i++)
    {
      g_thread_join (threads[i]);
      g_assert_cmpuint (loading[i].n_right, ==, 40);
    }
}

/* One input by Python, the other as it is. */
static void
test_one_of_two (Folder        *folder,
                 gconstpointer  data)
{
  const VnInputSpec inputs[] = { vector_input, { (char *) "w", VN_DTYPE_F32, { 2, { 1, 3 } } } };
  g_autoptr(VnDataSpec) spec = make_spec (folder, "size", 0);
  g_autofree char *script = g_steal_pointer (&spec->script);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataSpec) copy = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  VnTensor *tensors[2] = { NULL };

  if (!have_python ())
    return;
  folder_put_npy (folder, "samples/v_0.npy", VN_SHAPE (1, 3), 7);
  folder_put_npy (folder, "samples/w_0.npy", VN_SHAPE (1, 3), 7);
  vn_data_spec_set_input (spec, "w", &spec->preprocess, script);
  copy = vn_data_spec_copy (spec);
  dataset = vn_dataset_open (copy, inputs, 2, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (vn_dataset_load (dataset, 0, tensors, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (vn_tensor_get_double (tensors[0], 0), ==, 7);
  g_assert_cmpfloat (vn_tensor_get_double (tensors[1], 0), ==, 140);      /* bytes of the file */
  vn_tensor_unref (tensors[0]);
  vn_tensor_unref (tensors[1]);
}

/* ---- what does not ---- */

static void
test_refused (Folder        *folder,
              gconstpointer  data)
{
  static const struct
  {
    const char *function;
    int         code;
    const char *said;
  } cases[] = {
    { "shape", VN_ERROR_SHAPE, "1×4" },
    { "nan", VN_ERROR_NUMERIC, "2 of 3" },
    { "text", VN_ERROR_MISSING_DATA, "not str" },
    { "nothing", VN_ERROR_MISSING_DATA, "not NoneType" },
    { "raises", VN_ERROR_MISSING_DATA, "KeyError: 'missing' (" },
    { "raises", VN_ERROR_MISSING_DATA, "code.py, line 28, in raises)" },
    { "leaves", VN_ERROR_MISSING_DATA, "SystemExit: 3" },
    { "quits", VN_ERROR_MISSING_DATA, "status 3" },
    { "dies", VN_ERROR_MISSING_DATA, "signal 9" },
    { "garbles", VN_ERROR_MALFORMED, "descriptor 3" },
    { "huge", VN_ERROR_LIMIT, NULL },
    { "lies", VN_ERROR_MALFORMED, NULL },
    { "long_error", VN_ERROR_MISSING_DATA, "ValueError: xxx" },
  };

  if (!have_python ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = make_spec (folder, cases[i].function, 1);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_no_error (error);
      g_assert_false (vn_dataset_load (dataset, 0, &tensor, &error));
      g_test_message ("%s: %.300s", cases[i].function, error->message);
      if (cases[i].code != VN_ERROR_LIMIT)
        g_assert_error (error, VN_ERROR, cases[i].code);
      if (cases[i].said != NULL)
        g_assert_nonnull (strstr (error->message, cases[i].said));
      g_assert_cmpuint (strlen (error->message), <, 5000);
    }
}

/* What is wrong with the file itself shows when the samples are opened. */
static void
test_not_opened (Folder        *folder,
                 gconstpointer  data)
{
  static const struct
  {
    const char *script, *python, *said;
  } cases[] = {
    { "code.py:missing", NULL, "size, noisy, told" },
    { "none.py:size", NULL, "none.py” does not exist" },
    { "code.py", NULL, "must name a Python file and a function" },
    { "code.py:", NULL, "must name a Python file and a function" },
    { "code.py:a b", NULL, "must name a Python file and a function" },
    { "syntax.py:f", NULL, "line 2" },
    { "imports.py:f", NULL, "no_such_module" },
    { "code.py:size", "/no/such/python", "/no/such/python" },
    { "code.py:size", "false", "“false” must be Python 3" },
  };

  if (!have_python ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) spec = make_spec (folder, "size", 1);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;

      folder_put_text (folder, "syntax.py", "pass\ndef f(:\n");
      folder_put_text (folder, "imports.py", "import no_such_module\ndef f(a, b): pass\n");
      g_free (spec->script);
      spec->script = g_build_filename (folder->path, cases[i].script, NULL);
      spec->python = g_strdup (cases[i].python);
      dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
      g_test_message ("%s: %s", cases[i].script, error != NULL ? error->message : "opened");
      g_assert_null (dataset);
      g_assert_nonnull (strstr (error->message, cases[i].said));
    }
}

/* What a file says does not run until the user does, or names the same; an older one's interpreter never runs. */
static void
test_foreign (Folder        *folder,
              gconstpointer  data)
{
  static const struct
  {
    const char *known;      /* named by the user, in the folder */
    gboolean    trust, runs;
  } cases[] = {
    { NULL, FALSE, FALSE }, { "code.py:noisy", FALSE, FALSE }, { "code.py:size", FALSE, TRUE },
    { "./x/../code.py:size", FALSE, TRUE },
    { NULL, TRUE, TRUE },
  };

  if (!have_python ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text =
        g_strdup_printf ("{\"path\": \"samples\", \"inputs\": {\"%s\": {\"script\": \"code.py:size\"}}, \"python\": \"false\"}",
                                               vector_input.name);
      g_autofree char *named = cases[i].known != NULL ? g_build_filename (folder->path, cases[i].known, NULL) : NULL;
      g_autoptr(JsonNode) node = vn_json_parse (text, -1, "text", NULL);
      g_autoptr(VnDataSpec) spec = vn_data_spec_from_json (node, "data", folder->path, NULL), copy = NULL;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = NULL;

      g_test_message ("case %u", i);
      vn_data_spec_free (make_spec (folder, "size", 1));
      if (cases[i].trust)
        vn_data_spec_trust (spec);
      g_assert_cmpint (vn_data_spec_trust_known (spec, (const char * const []) { named, NULL }), ==, cases[i].runs);
      copy = vn_data_spec_copy (spec);
      dataset = vn_dataset_open (copy, &vector_input, 1, NULL, &error);
      g_assert_cmpint (dataset != NULL, ==, cases[i].runs);
      if (!cases[i].runs)
        g_assert_nonnull (strstr (error->message, "code.py:size"));
    }
}

static void
test_random_refused (Folder        *folder,
                     gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "size", 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;

  g_free (spec->path);
  spec->path = g_strdup ("random");
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* A helper that dies is replaced, but not for ever; what it died of is told to the end. */
static void
test_replaced (Folder        *folder,
               gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "fails_twice", 2);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;

  if (!have_python ())
    return;
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr(VnTensor) bad = NULL;
      g_autoptr(VnTensor) good = NULL;

      g_clear_error (&error);
      g_assert_false (vn_dataset_load (dataset, 0, &bad, &error));
      g_test_message ("%s", error->message);
      g_assert_cmpint (strstr (error->message, "Giving up") != NULL, ==, i == 3);
      g_assert_nonnull (strstr (error->message, "exited with status 1"));
      g_assert_cmpint (vn_dataset_load (dataset, 1, &good, NULL), ==, i < 2);
    }
}

static void
test_timeout (Folder        *folder,
              gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "sleeps", 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnTensor) tensor = NULL;

  if (!have_python ())
    return;
  spec->timeout = 3;
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (vn_dataset_load (dataset, 0, &tensor, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, "3 seconds"));
}

static gboolean
process_runs (const char *pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pid), *text = NULL;
  const char *state;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  state = strrchr (text, ')');
  return state != NULL && strchr ("ZX", state[2]) == NULL;
}

/* What the user's code has started ends with it, also where that ended first. */
static void
test_leaves_behind (Folder        *folder,
                    gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "leaves_behind", 1);
  g_autofree char *note = g_build_filename (folder->path, "samples", "0.raw.child", NULL), *pid = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnTensor) tensor = NULL;

  if (!have_python ())
    return;
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (vn_dataset_load (dataset, 0, &tensor, &error));
  g_clear_pointer (&dataset, vn_dataset_unref);
  g_assert_true (g_file_get_contents (note, &pid, NULL, NULL));
  for (guint i = 0; i < 200 && process_runs (pid); i++)
    g_usleep (10000);
  g_assert_false (process_runs (pid));
}

static gpointer
cancel_later (gpointer data)
{
  g_usleep (200000);
  g_cancellable_cancel (data);
  return NULL;
}

/* Would wait 1000 s otherwise. */
static void
test_cancelled (Folder        *folder,
                gconstpointer  data)
{
  g_autoptr(VnDataSpec) spec = make_spec (folder, "sleeps", 1);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnTensor) tensor = NULL;
  GThread *thread;

  if (!have_python ())
    return;
  spec->timeout = 1000;
  g_cancellable_push_current (cancellable);
  dataset = vn_dataset_open (spec, &vector_input, 1, NULL, &error);
  g_cancellable_pop_current (cancellable);
  g_assert_no_error (error);
  thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_assert_false (vn_dataset_load (dataset, 0, &tensor, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  FOLDER_TEST ("/script/values", test_values);
  FOLDER_TEST ("/script/told", test_told);
  FOLDER_TEST ("/script/threads", test_threads);
  FOLDER_TEST ("/script/one-of-two", test_one_of_two);
  FOLDER_TEST ("/script/refused", test_refused);
  FOLDER_TEST ("/script/not-opened", test_not_opened);
  FOLDER_TEST ("/script/foreign", test_foreign);
  FOLDER_TEST ("/script/random-refused", test_random_refused);
  FOLDER_TEST ("/script/replaced", test_replaced);
  FOLDER_TEST ("/script/leaves-behind", test_leaves_behind);
  FOLDER_TEST ("/script/timeout", test_timeout);
  FOLDER_TEST ("/script/cancelled", test_cancelled);

  return g_test_run ();
}
