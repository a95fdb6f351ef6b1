#!/bin/sh
# Puts the charting library of the HTML report into a folder: fetch.sh FOLDER. Run while configuring.
#
# The three bundles come from npm at the versions and checksums of package-lock.json. The lock names no other package
# (each bundle holds what it needs) and no download address (npm asks the registry it is set up for). A folder that has
# them is left alone, so that configuring again costs nothing and needs no network.
# Exit status 0 and "ready", or 1 and the reason.
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
lock=$(cksum < "$here/package-lock.json")
if [ "$(cat "$folder/lock" 2> /dev/null)" = "$lock" ]; then
    echo ready
    exit 0
fi
if ! command -v npm > /dev/null 2>&1; then
    echo "npm is not installed"
    exit 1
fi
mkdir -p "$folder/npm" && cp "$here/package.json" "$here/package-lock.json" "$folder/npm/" || exit 1
cd "$folder/npm" || exit 1
if ! timeout 60 npm ci --ignore-scripts --no-audit --no-fund --legacy-peer-deps --prefer-offline > log 2>&1; then
    echo "npm ci failed, see $folder/npm/log"
    exit 1
fi
for name in vega vega-lite vega-embed; do
    cp "node_modules/$name/build/$name.min.js" "$folder/" && cp "node_modules/$name/LICENSE" "$folder/$name.LICENSE" || exit 1
done
rm -rf "$folder/npm"
echo "$lock" > "$folder/lock"
echo ready
