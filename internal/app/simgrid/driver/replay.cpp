// SPDX-License-Identifier: MIT
//
// Replays a plan of gapwise in SimGrid (3.32 and later), and prints its makespan and the start of each task:
//
//   g++ -std=c++17 -O1 replay.cpp -lsimgrid -o replay
//   ./replay platform.xml plan.txt            shares links max-min, as gapwise does: the times are equal
//   ./replay platform.xml plan.txt simgrid    with SimGrid's own default model of the network (LV08)
//   ./replay platform.xml plan.txt asap       transfers start as soon as their data are there, not when the plan says
//
// Words can be combined, and options of SimGrid (--cfg=...) follow them. A task starts when its data are there and its
// machine has taken the tasks before it, in the order of the plan, and has room. A transfer starts when the plan says, or
// when its task has ended, if that is later: held transfers are part of a plan. It waits for the start-up of its sender
// and the latency of its route, and then sends its data. The latency is slept, and taken from the links: they would share
// by it. With simgrid the links keep it.
#include <simgrid/s4u.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
namespace sg = simgrid::s4u;

struct Machine {
  double startup = 0, local_rate = 0;
  std::vector<long> room;
  std::string name;
  sg::Host* host = nullptr;
  std::vector<int> order;
  sg::MutexPtr lock;
  sg::ConditionVariablePtr freed;
};
struct Edge {
  int from, to;
  double data, start, latency, weight;
};
struct Task {
  int machine;
  double seconds, planned;
  long cores;
  std::vector<long> needs;
  std::string name;
  std::vector<int> out;
  int in = 0;
  sg::SemaphorePtr ready;
  double began = -1, ended = -1;
};

static std::string rest(std::istream& in) {
  std::string name;
  in.ignore(1);
  std::getline(in, name);
  return name;
}

int main(int argc, char** argv) {
  bool theirs = false, asap = false, weighted = false;
  for (int k = 3; k < argc; k++) {
    theirs = theirs || !std::strcmp(argv[k], "simgrid");
    asap = asap || !std::strcmp(argv[k], "asap");
  }
  sg::Engine engine(&argc, argv);
  if (argc < 3) {
    std::fprintf(stderr, "replay: give platform.xml and plan.txt\n");
    return 2;
  }
  if (!theirs) {
    sg::Engine::set_config("network/model:CM02");
    sg::Engine::set_config("network/crosstraffic:0");
    sg::Engine::set_config("network/TCP-gamma:0");
  }
  std::ifstream file(argv[2]);
  std::string line, model;
  double scale = 1;
  size_t resources = 0;
  std::vector<Machine> machines;
  std::vector<Task> tasks;
  std::vector<Edge> edges;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "transfers") {
      in >> model >> scale >> resources;
    } else if (word == "machine") {
      Machine m;
      in >> m.startup >> m.local_rate;
      m.room.resize(resources);
      for (auto& x : m.room)
        in >> x;
      m.name = rest(in);
      machines.push_back(m);
    } else if (word == "task") {
      Task t;
      in >> t.machine >> t.seconds >> t.planned >> t.cores;
      t.needs.resize(resources);
      for (auto& x : t.needs)
        in >> x;
      t.name = rest(in);
      machines.at(t.machine).order.push_back(tasks.size());
      tasks.push_back(t);
    } else if (word == "edge") {
      Edge x;
      in >> x.from >> x.to >> x.data >> x.start >> x.latency >> x.weight;
      weighted = weighted || x.weight > 0;
      tasks.at(x.from).out.push_back(edges.size());
      tasks.at(x.to).in++;
      edges.push_back(x);
    }
    if (!in && word[0] != '#') {
      std::fprintf(stderr, "replay: can't read the line: %s\n", line.c_str());
      return 3;
    }
  }
  if (weighted && !theirs)
    sg::Engine::set_config("network/latency-factor:1e-12"); // CM02 shares by 1 / latency
  engine.load_platform(argv[1]);
  for (auto& m : machines) {
    m.host = engine.host_by_name(m.name);
    m.lock = sg::Mutex::create();
    m.freed = sg::ConditionVariable::create();
  }
  for (auto* l : engine.get_all_links()) {
    if (!theirs)
      l->set_latency(0);
    if (model.rfind("tcp", 0) == 0 && l->get_sharing_policy() == sg::Link::SharingPolicy::SHARED)
      l->set_sharing_policy(sg::Link::SharingPolicy::NONLINEAR, [](double capacity, int n) { return n > 0 ? capacity * 3 * n / (3 * n + 1) : capacity; });
  }
  for (auto& x : edges) {
    if (theirs || x.weight == 0)
      continue;
    std::vector<sg::Link*> links;
    machines[tasks[x.from].machine].host->route_to(machines[tasks[x.to].machine].host, links, nullptr);
    links.back()->set_latency(1 / x.weight); // the route's own link
  }
  for (auto& t : tasks)
    t.ready = sg::Semaphore::create(0);

  auto transfer = [&](int k) {
    Edge& x = edges[k];
    Machine &m = machines[tasks[x.from].machine], &n = machines[tasks[x.to].machine];
    if (&m == &n) {
      if (m.local_rate > 0 && x.data > 0)
        sg::this_actor::sleep_for(x.data / m.local_rate);
    } else {
      if (!asap && x.start > sg::Engine::get_clock())
        sg::this_actor::sleep_until(x.start);
      double wait = m.startup + (theirs && x.data > 0 ? 0 : x.latency);
      if (wait > 0)
        sg::this_actor::sleep_for(wait);
      if (x.data > 0)
        sg::Comm::sendto(m.host, n.host, (uint64_t)std::llround(x.data * scale));
    }
    tasks[x.to].ready->release();
  };
  auto run = [&](int t) {
    Task& x = tasks[t];
    Machine& m = machines[x.machine];
    x.began = sg::Engine::get_clock();
    if (x.seconds > 0 && x.cores == 1)
      sg::this_actor::execute(x.seconds * m.host->get_speed());
    else if (x.seconds > 0)
      sg::this_actor::sleep_for(x.seconds);
    x.ended = sg::Engine::get_clock();
    for (int k : x.out)
      sg::Actor::create("transfer", m.host, transfer, k);
  };
  for (auto& m : machines)
    sg::Actor::create("machine", m.host, [&] {
      for (int t : m.order) {
        Task& x = tasks[t];
        for (int k = 0; k < x.in; k++)
          x.ready->acquire();
        if (resources == 0 || x.seconds == 0) {
          run(t);
          continue;
        }
        std::unique_lock lock(*m.lock);
        while (!std::equal(x.needs.begin(), x.needs.end(), m.room.begin(), std::less_equal<>()))
          m.freed->wait(lock);
        for (size_t r = 0; r < resources; r++)
          m.room[r] -= x.needs[r];
        sg::Actor::create("task", m.host, [&, t] {
          run(t);
          m.lock->lock();
          for (size_t r = 0; r < resources; r++)
            m.room[r] += tasks[t].needs[r];
          m.freed->notify_all();
          m.lock->unlock();
        });
      }
    });
  engine.run();

  double makespan = 0, planned = 0, later = 0, earlier = 0;
  std::printf("%-14s %-14s %s\n", "start_s", "planned_s", "task");
  for (auto& t : tasks) {
    makespan = std::max(makespan, t.ended);
    planned = std::max(planned, t.planned + t.seconds);
    later = std::max(later, t.began - t.planned);
    earlier = std::max(earlier, t.planned - t.began);
    std::printf("%-14.9g %-14.9g %s\n", t.began, t.planned, t.name.c_str());
  }
  std::printf("makespan %.9g s, planned %.9g s; starts are later by %.2g s at most, earlier by %.2g s\n", makespan, planned, later, earlier);
}
