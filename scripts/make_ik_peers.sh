#!/bin/sh
# Virtual environments of the peers of `surefoot bench ik`, one each: their packages clash with each other.
#     scripts/make_ik_peers.sh DIR        then: surefoot bench ik --peers DIR
# PYTHON names the interpreter to make them with (3.11 or 3.12; python3 if it is not set).
set -eu

folder=${1:?usage: scripts/make_ik_peers.sh DIR}
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
make_peer pink pin-pink==4.4.0 pin==4.1.0 qpsolvers==4.13.0 daqp==0.10.3 proxsuite==0.8.0 quadprog==0.1.14
make_peer mink mink==1.3.0 mujoco==4.0.0 qpsolvers==4.13.0 daqp==0.10.3 quadprog==0.1.14
