# An environment that cannot be made leaves nothing behind; one that is made is used where no other is named.
unset VN_NO_VERIFY VN_PYTHON
export XDG_CACHE_HOME=$PWD/cache PATH=$PWD/bin:/usr/bin:/bin
mkdir bin
cat >bin/python3 <<'END'
#!/bin/sh
case "$2" in
  venv) [ "$FAIL" = venv ] && { echo "No module named ensurepip"; exit 1; }
        mkdir "$3/bin" && cp bin/own "$3/bin/python" ;;
  *) echo '{ "stage" : "import", "error" : "none here" }' >"$5/reply.json" ;;
esac
END
cat >bin/own <<'END'
#!/bin/sh
case "$2" in
  pip) [ "$FAIL" = pip ] && { echo "Looking"; echo "ERROR: no package for this Python"; echo "a hint"; exit 1; }
       [ "$FAIL" = hangs ] && exec sleep 60
       echo "Collecting $9" ;;
  import*) [ "$FAIL" = import ] && { echo "ImportError: numpy"; exit 1; } ;;
  *) echo '{ "stage" : "load", "error" : "no kernel for it" }' >"$5/reply.json" ;;
esac
exit 0
END
chmod +x bin/*
for FAIL in venv pip import; do export FAIL; "$CLI" verify --install; echo "exit $?"; find cache -mindepth 2; done
FAIL=hangs timeout -s INT 2 "$CLI" verify --install; find cache -mindepth 2
"$CLI" verify --install --python ./nowhere; echo "exit $?"
FAIL= "$CLI" verify --install; echo "exit $?"; (cd cache/vernier && find . -type f)
FAIL= "$CLI" verify --install --json
FAIL= "$CLI" quantize "$DEMO/demo.onnx" -o q.onnx --data "$DEMO/samples" --preprocess minus-one-one |
  grep -o "ONNX Runtime does not load.*it\."
rm -r bin cache q.onnx
