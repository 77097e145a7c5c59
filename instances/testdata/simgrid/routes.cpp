// SPDX-License-Identifier: MIT
//
// Prints the routes that SimGrid finds in a platform, for routes.tsv beside this file:
//
//   g++ -std=c++17 routes.cpp -lsimgrid -o routes
//   routes PLATFORM.xml HOST...
//
// A line for each host (speed, cores) and each route (latency in seconds; links, with rate in bytes per second and
// policy S, F or W). A pair without a line has no route.
#include <simgrid/s4u.hpp>
#include <cstdio>
#include <string>
#include <vector>
namespace sg = simgrid::s4u;

int main(int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  engine.seal_platform();
  std::vector<sg::Host*> hosts;
  for (int k = 2; k < argc; k++)
    hosts.push_back(engine.host_by_name(argv[k]));
  for (auto* h : hosts)
    std::printf("host\t%s\t%.17g\t%d\n", h->get_cname(), h->get_speed(), h->get_core_count());
  for (auto* a : hosts)
    for (auto* b : hosts) {
      std::vector<sg::Link*> links;
      double latency = 0;
      if (a == b)
        continue;
      try {
        a->route_to(b, links, &latency);
      } catch (const std::exception&) {
        continue;
      }
      if (links.empty() && latency == 0)
        continue;
      std::printf("route\t%s\t%s\t%.17g", a->get_cname(), b->get_cname(), latency);
      for (size_t k = 0; k < links.size(); k++) {
        auto policy = links[k]->get_sharing_policy();
        std::printf("\t%s|%.17g|%c", links[k]->get_cname(), links[k]->get_bandwidth(),
                    policy == sg::Link::SharingPolicy::FATPIPE ? 'F' : policy == sg::Link::SharingPolicy::WIFI ? 'W' : 'S');
      }
      std::printf("\n");
    }
}
