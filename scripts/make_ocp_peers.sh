#!/bin/sh
# Virtual environment of the peer of `surefoot bench ocp`: Crocoddyl 3.2.0 with pin 3.9.
#     scripts/make_ocp_peers.sh DIR        then: surefoot bench ocp --peers DIR
# PYTHON names the interpreter to make it with (3.11 or 3.12; python3 if it is not set).
set -eu

folder=${1:?usage: scripts/make_ocp_peers.sh DIR}
python=${PYTHON:-python3}

mkdir -p "$folder"
echo "making $folder/croc"
"$python" -m venv "$folder/croc"
"$folder/croc/bin/python" -m pip install --quiet --disable-pip-version-check \
    crocoddyl==3.2.0 pin==3.9.0 'cmeel-urdfdom<5' 'cmeel-tinyxml2<11' \
    example-robot-data==5.0.0 example-robot-data-loaders==5.0.0
