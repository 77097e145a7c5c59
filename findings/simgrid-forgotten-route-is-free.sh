#!/usr/bin/env bash
# In SimGrid, a way through a zone without a route to the gateway is free: no error, no latency, no limit of rate.
# SimGrid 3.32 (Debian 12: libsimgrid-dev 3.32-2+b2).
# Expected: a1 in zone A sends to b1 in zone B by A's gateway a2. If A (routing Full) has no route from a1 to a2, there is
#   no way, and SimGrid says so, as it does for a transfer from a1 to a2 itself.
# Seen: 100 MB arrive after 1.08 s, by the link between the zones alone. With the route of 1 MB/s that was forgotten, they
#   take 108.26 s.
# Matters: a platform with a forgotten route inside a zone simulates without a word, a hundred times too fast here.
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
for route in "" '<route src="a1" dst="a2"><link_ctn id="inner"/></route>'; do
  cat >"$T/${route:+with}.xml" <<END
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="w" routing="Full">
    <zone id="A" routing="Full">
      <host id="a1" speed="1Gf"/>
      <host id="a2" speed="1Gf"/>
      <link id="inner" bandwidth="1MBps" latency="1ms"/>
      $route
    </zone>
    <zone id="B" routing="Full">
      <host id="b1" speed="1Gf"/>
    </zone>
    <link id="outer" bandwidth="100MBps" latency="50us"/>
    <zoneRoute src="A" dst="B" gw_src="a2" gw_dst="b1"><link_ctn id="outer"/></zoneRoute>
  </zone>
</platform>
END
done
cat >"$T/send.cpp" <<'END'
#include <cstdio>
#include <simgrid/s4u.hpp>
namespace sg = simgrid::s4u;
int main(int argc, char** argv) { // PLATFORM FROM TO ...: 100 MB each, all at once
  sg::Engine e(&argc, argv);
  e.load_platform(argv[1]);
  for (int k = 2; k + 1 < argc; k += 2) {
    std::string from = argv[k], to = argv[k + 1], box = from + to;
    sg::Actor::create("s", e.host_by_name(from), [box] { sg::Mailbox::by_name(box)->put(new int, 100000000); });
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
with=$(send with a1 b1)
without=$(send "" a1 b1)
printf 'with the route inside: %s\nwithout it: %s\n' "$with" "$without"
[ "$with" = "a1-b1 108.26" ] && [ "$without" = "a1-b1 1.08" ] || { echo "this has changed"; exit 1; }
