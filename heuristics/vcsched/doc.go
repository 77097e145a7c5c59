// Package vcsched holds the heuristics for VCSched: those of Stillwell,
// Schanzenbach, Vivien and Casanova (Resource Allocation using Virtual
// Clusters, sections 3.2-3.5 and 5.2) and stronger ones of our own. All are
// typed functions of one signature; package heuristics lists them.
package vcsched
