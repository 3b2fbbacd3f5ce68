#!/bin/sh
# Virtual environments of the peers of `surefoot bench whole_body`, one each: their packages clash with each other.
#     scripts/make_wbc_peers.sh DIR        then: surefoot bench whole_body --peers DIR
# PYTHON names the interpreter to make them with (3.11 or 3.12; python3 if it is not set).
set -eu

folder=${1:?usage: scripts/make_wbc_peers.sh DIR}
python=${PYTHON:-python3}

make_peer() {
    name=$1
    shift
    echo "making $folder/$name: $*"
    "$python" -m venv "$folder/$name"
    "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

mkdir -p "$folder"
make_peer placo placo==0.10.2
make_peer tsid --only-binary :all: tsid==1.7.1 pin==3.4.0 'cmeel-urdfdom<5' 'cmeel-tinyxml2<11'
