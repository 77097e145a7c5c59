// Package exact holds the engines that prove optimality: for each problem a
// formulation solved by HiGHS and, where it pays, a native search.
package exact
