// SPDX-License-Identifier: MIT

// Package vcsched holds the heuristics for VCSched by Stillwell, Schanzenbach, Vivien and Casanova (Resource Allocation
// using Virtual Clusters, sections 3.2-3.5 and 5.2) and a local search of our own. Algorithms lists them.
//
// If the hosts of the tasks are fixed, the best minimum yield is min(1, 1/L), L being the largest CPU load of a host.
// Inside, everything is a load to minimise, in the units of view.VCSched; outside, a yield to maximise.
package vcsched
