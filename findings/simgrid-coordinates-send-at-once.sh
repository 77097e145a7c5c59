#!/usr/bin/env bash
# In SimGrid's default model, hosts of a zone of coordinates (routing Vivaldi) without links send any amount in one
#   latency: the TCP window, which bounds every other transfer with a latency, doesn't hold there.
# SimGrid 3.32 (Debian 12: libsimgrid-dev 3.32-2+b2).
# Expected: a and b are 46.3 ms apart by their coordinates. A window of 4 MiB over twice that is 45 MB/s, so 100 MB take
#   2.2 s and 13.01 latencies, as they do over a fast link of the same latency, and 10 GB take a hundred times as long.
# Seen: both amounts take 0.60 s, 13.01 latencies. Over the link they take 2.88 and 228.20 s.
# Matters: platforms of peers by coordinates alone simulate the sending of data as if it were free.
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
cat >"$T/vivaldi.xml" <<END
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="w" routing="Vivaldi">
    <host id="a" coordinates="25.5 9.4 1.4" speed="1Gf"/>
    <host id="b" coordinates="-12.7 -9.9 2.1" speed="1Gf"/>
  </zone>
</platform>
END
cat >"$T/link.xml" <<END
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="w" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <link id="fast" bandwidth="1TBps" latency="46.2987ms"/>
    <route src="a" dst="b"><link_ctn id="fast"/></route>
  </zone>
</platform>
END
cat >"$T/send.cpp" <<'END'
#include <cstdio>
#include <simgrid/s4u.hpp>
namespace sg = simgrid::s4u;
int main(int argc, char** argv) { // PLATFORM BYTES
  sg::Engine e(&argc, argv);
  e.load_platform(argv[1]);
  double bytes = std::stod(argv[2]);
  sg::Actor::create("s", e.host_by_name("a"), [bytes] { sg::Mailbox::by_name("box")->put(new int, bytes); });
  sg::Actor::create("r", e.host_by_name("b"), [] {
    sg::Mailbox::by_name("box")->get<int>();
    std::printf("%.2f\n", sg::Engine::get_clock());
  });
  e.run();
}
END
g++ -std=c++17 -I "$T/root/usr/include" "$T/send.cpp" -L "$lib" -Wl,-rpath-link,"$lib" -lsimgrid -o "$T/send" 2>"$T/log" || { cat "$T/log" >&2; exit 1; }
send() { LD_LIBRARY_PATH=$lib "$T/send" "$T/$1.xml" "$2" 2>/dev/null; }
seen="$(send vivaldi 1e8) $(send vivaldi 1e10) $(send link 1e8) $(send link 1e10)"
echo "coordinates: 100 MB and 10 GB, then a link: $seen s"
[ "$seen" = "0.60 0.60 2.88 228.20" ] || { echo "this has changed"; exit 1; }
