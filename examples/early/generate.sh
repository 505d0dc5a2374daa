# Writes $HEADER, announces it, then writes $BODY.
set -eu
echo 'int answer(void);' >"$HEADER.tmp"
mv "$HEADER.tmp" "$HEADER"
echo header >&"$BGC_SIGNAL_FD"
sleep 0.3
printf '#include "api.h"\nint answer(void) { return 42; }\n' >"$BODY"
