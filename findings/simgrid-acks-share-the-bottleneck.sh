#!/usr/bin/env bash
# In SimGrid's default network model, a transfer that is alone on its links gets a third of them while three others leave
#   the host that it goes to.
# SimGrid 3.32 (Debian 12: libsimgrid-dev 3.32-2+b2).
# Expected: LV08's cross-traffic is a load of 5 % on the way back: three transfers leave h0 over its link up, and one comes
#   to h0 over its link down (a cluster's links are SPLITDUPLEX). So the latter takes about as long as alone, 10.31 s for
#   1 GB at 100 MB/s, or 5 % more.
# Seen: 31.44 s, as long as the other three. Its acknowledgements use h0's full link up, so max-min sharing stops the
#   whole transfer at the level of that link. With --cfg=network/crosstraffic:0 it takes 10.31 s.
# Matters: full-duplex links aren't independent. Who corrects bandwidths by a factor of 1/1.05 for cross-traffic is off by
#   a factor of three here, and plans that overlap sending and receiving on a host lose the overlap.
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
  <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="100MBps" lat="50us"/>
</platform>
END
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
send() { LD_LIBRARY_PATH=$lib "$T/send" "$T/cluster.xml" "$@" 2>/dev/null | sort | paste -sd' '; }
alone=$(send h1 h0)
busy=$(send h0 h1 h0 h2 h0 h3 h1 h0)
without=$(send h0 h1 h0 h2 h0 h3 h1 h0 --cfg=network/crosstraffic:0)
printf 'alone: %s\nthree leave h0: %s\nthe same without cross-traffic: %s\n' "$alone" "$busy" "$without"
[ "$alone" = "h1-h0 10.31" ] && [ "$busy" = "h0-h1 31.44 h0-h2 31.44 h0-h3 31.44 h1-h0 31.44" ] &&
  [ "$without" = "h0-h1 30.93 h0-h2 30.93 h0-h3 30.93 h1-h0 10.31" ] || { echo "this has changed"; exit 1; }
