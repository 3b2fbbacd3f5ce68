#!/bin/sh
# Build surefoot/report/vendor/three.min.js anew: the parts of three.js that the report page uses, as one script that
# defines the global THREE. Needs node and npm. Usage: scripts/refresh_three.sh [version of three]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
vendor="$root/surefoot/report/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$vendor/three_entry.js" "$work/entry.js"
cd "$work"
npm init --yes > /dev/null
npm install --no-audit --no-fund --silent "three@${1:-latest}" esbuild
npx esbuild entry.js --bundle --minify --format=iife --global-name=THREE --legal-comments=none --outfile=three.min.js
version=$(node -p "require('./node_modules/three/package.json').version")
{ echo "/* three.js $version, MIT licence: see LICENSE.three; made by scripts/refresh_three.sh */"; cat three.min.js; } \
    > "$vendor/three.min.js"
cp node_modules/three/LICENSE "$vendor/LICENSE.three"
echo "three $version, $(wc -c < "$vendor/three.min.js") bytes"
