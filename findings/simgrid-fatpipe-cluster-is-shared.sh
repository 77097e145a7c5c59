#!/usr/bin/env bash
# A SimGrid cluster whose links are FATPIPE shares them, and both directions together.
# SimGrid 3.32 (Debian 12: libsimgrid-dev 3.32-2+b2).
# Expected: a link of policy FATPIPE gives each transfer its whole bandwidth, as it does in a <link>. So three transfers of
#   1 GB from one host of <cluster sharing_policy="FATPIPE" bw="100MBps"> take 10.3 s each, as one does alone over a fat link.
# Seen: 32.48 s each, a third of the link, without a word. With the default, SPLITDUPLEX, they take 30.93 s: the FATPIPE
#   cluster is slower than that, since its links are SHARED, so acknowledgements use the same link as the data.
# Matters: a cluster that is to have no contention at its hosts has the most. Only links written out one by one are fat.
set -euo pipefail
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show libsimgrid-dev >/dev/null 2>&1 || apt-get -qq update
v=3.32-2+b2
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" install g++ libsimgrid-dev=$v libsimgrid3.32=$v libboost1.74-dev >/dev/null
for deb in "$T"/debs/*simgrid*.deb "$T"/debs/libboost1.74-dev*.deb; do dpkg -x "$deb" "$T/root"; done
lib=$T/root/usr/lib/x86_64-linux-gnu
cat >"$T/cluster.xml" <<'END'
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="100MBps" lat="50us" sharing_policy="FATPIPE"/>
</platform>
END
sed 's/ sharing_policy="FATPIPE"//' "$T/cluster.xml" >"$T/default.xml"
cat >"$T/send.cpp" <<'END'
#include <cstdio>
#include <simgrid/s4u.hpp>
namespace sg = simgrid::s4u;
int main(int argc, char** argv) { // PLATFORM FROM TO ...: 1 GB each, all at once
  sg::Engine e(&argc, argv);
  e.load_platform(argv[1]);
  for (int k = 2; k + 1 < argc; k += 2) {
    std::string from = argv[k], to = argv[k + 1], box = from + to;
    sg::Actor::create("s", e.host_by_name(from), [box] { sg::Mailbox::by_name(box)->put(new int, 1000000000); });
    sg::Actor::create("r", e.host_by_name(to), [=] {
      sg::Mailbox::by_name(box)->get<int>();
      std::printf("%s-%s %.2f\n", from.c_str(), to.c_str(), sg::Engine::get_clock());
    });
  }
  e.run();
}
END
g++ -std=c++17 -I "$T/root/usr/include" "$T/send.cpp" -L "$lib" -Wl,-rpath-link,"$lib" -lsimgrid -o "$T/send" 2>"$T/log" || { cat "$T/log" >&2; exit 1; }
send() { LD_LIBRARY_PATH=$lib "$T/send" "$T/$1.xml" "${@:2}" 2>/dev/null | sort | paste -sd' '; }
alone=$(send cluster h0 h1)
three=$(send cluster h0 h1 h0 h2 h0 h3)
default=$(send default h0 h1 h0 h2 h0 h3)
printf 'FATPIPE, alone: %s\nFATPIPE, three: %s\nby default, three: %s\n' "$alone" "$three" "$default"
[ "$three" = "h0-h1 32.48 h0-h2 32.48 h0-h3 32.48" ] && [ "$default" = "h0-h1 30.93 h0-h2 30.93 h0-h3 30.93" ] ||
  { echo "this has changed"; exit 1; }
