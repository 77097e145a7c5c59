// SPDX-License-Identifier: MIT

package main

// namedSets are the parts of results that documents compare. A set is of the results of its plan unless a template
// names a file.
var namedSets = map[string][]set{
	// Section 6.2 of the paper on advance reservations; the same with open rectangles, and with the workload of column T.
	"experiments": {
		{Title: "Section 6.2.1, job sizes and durations", Plan: "reservation-size", By: "umed", Figure: 2},
		{Title: "Section 6.2.2, system load", Plan: "reservation-load", By: "arrival_factor", Figure: 4},
		{Title: "Section 6.2.3, flexibility", Plan: "reservation-flexibility", By: "artime,deadline", Figure: 6},
	},
	"experiments, open": {
		{Title: "Section 6.2.1, job sizes and durations", Plan: "reservation-size-open", By: "umed"},
		{Title: "Section 6.2.2, system load", Plan: "reservation-load-open", By: "arrival_factor"},
		{Title: "Section 6.2.3, flexibility", Plan: "reservation-flexibility-open", By: "artime,deadline"},
	},
	"experiments, column T": {
		{Title: "Section 6.2.1, job sizes and durations", Plan: "reservation-column-t", By: "umed", Pattern: "-af1-ar3-dl3-"},
		{Title: "Section 6.2.2, system load", Plan: "reservation-column-t", By: "arrival_factor",
			Pattern: "-um7-.*-ar3-dl3-"},
		{Title: "Section 6.2.3, flexibility", Plan: "reservation-column-t", By: "artime,deadline", Pattern: "-um7-af1-"},
	},
	"experiments, logs": {
		{Title: "LANL-CM5", Plan: "reservation-log", By: "arrival_factor", Pattern: `^LANL-CM5-1994-4\.1-cln`},
		{Title: "KTH-SP2", Plan: "reservation-log", By: "arrival_factor", Pattern: `^KTH-SP2-1996-2\.1-cln`},
		{Title: "NASA-iPSC", Plan: "reservation-log", By: "arrival_factor", Pattern: `^NASA-iPSC-1993-3\.1-cln`},
	},
	// The fabric of the paper's figures comes first.
	"tvc figure 4": {
		{Title: "uniform sizes, non-blocking", By: "bandwidth", Pattern: "-uniform8-.*-non-blocking-", Slug: "uniform",
			Figure: 4},
		{Title: "log-uniform sizes, non-blocking", By: "bandwidth", Pattern: "-log8-.*-non-blocking-", Slug: "log",
			Figure: 4},
		{Title: "uniform sizes, one-path", By: "bandwidth", Pattern: "-uniform8-.*-one-path-"},
		{Title: "log-uniform sizes, one-path", By: "bandwidth", Pattern: "-log8-.*-one-path-"},
	},
	"tvc logs": {
		{Title: "KTH-SP2, non-blocking", By: "load", Pattern: "KTH-SP2-1996-2.1-cln.*-non-blocking-", Slug: "kth", Figure: 5},
		{Title: "NASA-iPSC, non-blocking", By: "load", Pattern: "NASA-iPSC-1993-3.1-cln.*-non-blocking-", Slug: "nasa",
			Figure: 5},
		{Title: "KTH-SP2, one-path", By: "load", Pattern: "KTH-SP2-1996-2.1-cln.*-one-path-"},
		{Title: "NASA-iPSC, one-path", By: "load", Pattern: "NASA-iPSC-1993-3.1-cln.*-one-path-"},
	},
	"tvc both logs": {
		{By: "load", Pattern: "^(KTH-SP2-1996-2.1-cln|NASA-iPSC-1993-3.1-cln).*-non-blocking-"},
	},
	"batch figure 6": {
		{Title: "FWload (Figure 6)", By: "load", Pattern: "^batch-feitelson-", Slug: "batch-figure6"},
		{Title: "JWload (Figure 7)", By: "load", Pattern: "^batch-jann-", Slug: "batch-figure7"},
	},
	"batch figure 9": {
		{Title: "FWload (Figure 9)", By: "load", Pattern: "^batch-feitelson-", Slug: "batch-figure9"},
		{Title: "JWload (Figure 10)", By: "load", Pattern: "^batch-jann-", Slug: "batch-figure10"},
	},
	"batch figure 11": {
		{Title: "FWload (Figure 11)", By: "load", Pattern: "^batch-feitelson-", Slug: "batch-figure11"},
		{Title: "JWload (Figure 12)", By: "load", Pattern: "^batch-jann-", Slug: "batch-figure12"},
	},
	"batch figure 13": {
		{Title: "FWload (Figure 13)", By: "load", Pattern: "^batch-feitelson-", Slug: "batch-figure13"},
		{Title: "JWload (Figure 14)", By: "load", Pattern: "^batch-jann-", Slug: "batch-figure14"},
	},
}

// readingsOfBatch read in one way each the points that the paper on batch scheduling leaves open, or that are lost.
var readingsOfBatch = []batchReading{
	{Name: "as in the other plans"},
	{Name: "mean efficiency 0.40", FW: "-efficiency0.4", JW: "-efficiency0.4"},
	{Name: "mean efficiency 0.56", FW: "-efficiency0.56", JW: "-efficiency0.56"},
	{Name: "a CPU use for each process", FW: "-process", JW: "-process"},
	{Name: "estimates are the runtimes", FW: "-exact", JW: "-exact"},
	{Name: "FWload with long runtimes 7 times the short ones, not 100", FW: "-ratio7"},
	{Name: "JWload with jobs of up to 320 processes, not 100", JW: "-largest320"},
	{Name: "both of these", FW: "-ratio7", JW: "-largest320"},
	{Name: "both, and estimates are the runtimes", FW: "-ratio7-exact", JW: "-largest320-exact"},
	{Name: "the models' own sizes and runtimes", FW: "own", JW: "own"},
}

// figuresOfVCSched are printed in the paper on VCSched, by set, and tell readings of the memory needs apart.
var figuresOfVCSched = map[string][]printed{
	"small": {
		{Figure: "infeasible", Of: "search infeasible", Per: 1440, Format: "%.1f"},
		{Figure: "mcb8 fails", Text: "feasible ones that MCB8 doesn't solve", Of: "mcb8 failed", Per: 1440, Format: "%.1f"},
		{Figure: "sg fails", Text: "feasible ones that SG doesn't solve", Of: "sg failed", Per: 1440, Format: "%.1f"},
		{Figure: "mcb8 above 3", Text: "that MCB8 solves more than 3 % below the best MCB", Of: "mcb8 deg. > 3 %",
			Per: 1440, Format: "%.1f"},
		{Figure: "mcb8 above 10", Text: "that MCB8 solves more than 10 % below it", Of: "mcb8 deg. > 10 %", Per: 1440,
			Format: "%.1f"},
		{Figure: "lp above milp", Of: "lp", Above: "search", Format: "%.2f"},
		{Figure: "milp above mcb8", Of: "search", Above: "mcb8", Format: "%.2f"},
	},
	"large": {
		{Figure: "mcb8 most", Text: "largest degradation of MCB8 (Table 7), in percent", Of: "mcb8 deg. max %",
			Format: "%.2f"},
		{Figure: "mcb5 most", Text: "largest degradation of MCB5", Of: "mcb5 deg. max %", Format: "%.2f"},
		{Figure: "curve at 0.1", Text: "MCB8's curve below the LP's at slack 0.1, in percent of the LP's",
			Of: "mcb8 objective", Less: "lp bound", Slack: 0.1, Format: "%.1f"},
		{Figure: "curve at 0.2", Text: "MCB8's curve below the LP's at slack 0.2", Of: "mcb8 objective", Less: "lp bound",
			Slack: 0.2, Format: "%.1f"},
		{Figure: "mcb8 fails less", Text: "MCB8 fails less than GR, by percent of GR's failures", Of: "mcb8 unsolved %",
			Less: "gr unsolved %", Format: "%.1f"},
	},
}

// timesOfVCSched are printed in the paper on VCSched, by set.
var timesOfVCSched = map[string][]timed{
	"small": {
		{Text: "MILP by GLPK, mean", Algorithm: "glpk", Mean: true, Paper: 28.7},
		{Text: "MCB8, under", Algorithm: "mcb8", Paper: 0.00015},
		{Text: "GR, under", Algorithm: "gr", Paper: 0.00015},
		{Text: "SG, under", Algorithm: "sg", Paper: 0.00015},
		{Text: "GB, under", Algorithm: "gb", Paper: 0.00015},
		{Text: "SGB, under", Algorithm: "sgb", Paper: 0.00015},
		{Text: "RRND, a little over", Algorithm: "rrnd", Paper: 0.002},
		{Text: "RRNZ, a little over", Algorithm: "rrnz", Paper: 0.002},
	},
	"large": {
		{Text: "MCB8, 500 tasks, nearly", Algorithm: "mcb8", By: "jobs", Value: 500, Paper: 0.5},
		{Text: "GR, 500 tasks, 15 to 20 ms", Algorithm: "gr", By: "jobs", Value: 500, Paper: 0.0175},
		{Text: "SG, 500 tasks, 15 to 20 ms", Algorithm: "sg", By: "jobs", Value: 500, Paper: 0.0175},
	},
}
