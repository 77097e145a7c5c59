// SPDX-License-Identifier: MIT

package simgrid

import (
	"fmt"
	"strconv"
	"strings"
)

// scale returns the prefixes of a unit with their factors: each is step times the one before, the first is 1.
func scale(step float64, prefixes ...string) map[string]float64 {
	all, x := map[string]float64{"": 1}, 1.0
	for _, p := range prefixes {
		x *= step
		all[p] = x
	}
	return all
}

// The units of SimGrid's attributes, in flop per second, bytes per second and seconds. A number without one has the base.
var (
	speeds, rates = units()
	times         = map[string]float64{"": 1, "w": 7 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
)

func units() (speeds, rates map[string]float64) {
	speeds, rates = map[string]float64{"": 1}, map[string]float64{"": 1}
	decimal := scale(1000, "k", "M", "G", "T", "P", "E", "Z", "Y")
	for p, x := range decimal {
		speeds[p+"f"] = x
	}
	for p, x := range scale(1000, "kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta") {
		speeds[p+"flops"] = x
	}
	for _, all := range []map[string]float64{decimal, scale(1024, "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")} {
		for p, x := range all {
			rates[p+"Bps"], rates[p+"bps"] = x, x/8
		}
	}
	return speeds, rates
}

// quantity reads a number with one of the units: the longest beginning that is a number, and a unit.
func quantity(key, text string, units map[string]float64) (float64, error) {
	text = strings.TrimSpace(text)
	for end := min(len(text), 60); end > 0; end-- {
		x, err := strconv.ParseFloat(text[:end], 64)
		if err != nil {
			continue
		}
		if unit, ok := units[text[end:]]; ok && x >= 0 && x*unit <= most {
			return x * unit, nil
		}
		break
	}
	return 0, fmt.Errorf("%s is %q, must be a number from 0 to %g with a unit of SimGrid", key, text, float64(most))
}

// Speed reads a speed in flop per second, with a unit such as 1Gf or without.
func Speed(text string) (float64, error) { return quantity("speed", text, speeds) }

// most is the largest quantity.
const most = 1e30

// counts reads whole numbers from 1 to limit, separated by commas.
func counts(key, text string, limit int) (all []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > limit {
			return nil, fmt.Errorf("%s is %q, must be whole numbers from 1 to %d", key, text, limit)
		}
		all = append(all, n)
	}
	return all, nil
}

// radical reads the numbers of a cluster's hosts, such as 0-99,102: at most limit of them.
func radical(text string, limit int) (all []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, more := strings.Cut(part, "-")
		if !more {
			to = from
		}
		a, err := strconv.Atoi(strings.TrimSpace(from))
		b, err2 := strconv.Atoi(strings.TrimSpace(to))
		switch {
		case err != nil || err2 != nil || a < 0 || b < a:
			return nil, fmt.Errorf("radical is %q, must be numbers and ranges such as 0-99,102", text)
		case b-a >= limit-len(all):
			return nil, fmt.Errorf("radical is %q, with the hosts before it more than %d hosts", text, maxHosts)
		}
		for k := a; k <= b; k++ {
			all = append(all, k)
		}
	}
	return all, nil
}
