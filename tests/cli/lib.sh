# What the scripts share. Sourced: . "$TEST_DIR/lib.sh"

fail()
{
    echo "FAILED: $*" >&2
    [ ! -e log ] || { echo "--- log" >&2; cat log >&2; }
    [ ! -e ev.jsonl ] || { echo "--- events" >&2; cat ev.jsonl >&2; }
    exit 1
}

skip()
{
    echo "$*"
    exit 77
}

# graph FILE: standard input with @DIR@ replaced by this directory. Commands name marker files that way on purpose: a path in the
# middle of a string is no input, so the marker can change what a command does without changing its key.
graph()
{
    sed "s|@DIR@|$PWD|g" >"$1"
}

# exits STATUS COMMAND…: output goes to `log`.
exits()
{
    expected_=$1
    shift
    status_=0
    "$@" >log 2>&1 || status_=$?
    [ "$status_" -eq "$expected_" ] || fail "\`$*\` exits with $status_, not $expected_"
}

# run STATUS [ARGUMENT…]: bgc run with everything recorded.
run()
{
    run_status_=$1
    shift
    rm -f ev.jsonl t.json
    exits "$run_status_" bgc run g.bgraph -j2 --events ev.jsonl --trace t.json "$@"
}

# outcome NODE: the word in the last run's events, "none" if it has none.
outcome()
{
    word_=$(sed -n 's|^{"event":"node_end",.*"node":"'"$1"'","outcome":"\([^"]*\)".*|\1|p' ev.jsonl)
    echo "${word_:-none}"
}

# is NODE WORD…: its outcome is one of these.
is()
{
    node_=$1
    shift
    got_=$(outcome "$node_")
    for word_ in "$@"; do
        [ "$got_" != "$word_" ] || return 0
    done
    fail "$node_ is '$got_', not '$*'"
}

# says PATTERN: in the output of the last command.
says()
{
    grep -q -e "$1" log || fail "the output does not say: $1"
}

says_not()
{
    ! grep -q -e "$1" log || fail "the output says: $1"
}

# line PATTERN: number of the first line of the events that matches, 0 if none does.
line()
{
    n_=$(grep -n -e "$1" ev.jsonl | head -n 1 | cut -d: -f1)
    echo "${n_:-0}"
}

# made NAME: text of the one output file of that name.
made()
{
    find .bgraph -path '*/out/*' -type f -name "$1" >found
    [ "$(wc -l <found)" -eq 1 ] || fail "not one output is called $1: $(cat found)"
    cat "$(cat found)"
}

# wait_for FILE: at most 20 s.
wait_for()
{
    i_=0
    while [ ! -e "$1" ]; do
        i_=$((i_ + 1))
        [ $i_ -le 200 ] || fail "$1 did not appear"
        sleep 0.1
    done
}
