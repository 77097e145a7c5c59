// SPDX-License-Identifier: MIT

package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// mostHosts bounds the nodes of a job.
const mostHosts = 1 << 17

// hosts returns the nodes of a list in which brackets hold numbers and ranges, as in c[1,3-5],gpu[08-11]n[1-2]. It is false
// for another text, and for more than mostHosts.
func hosts(list string) (all []string, ok bool) {
	for list != "" {
		end, open := 0, false // of the first name
		for ; end < len(list) && (open || list[end] != ','); end++ {
			open = list[end] == '[' || open && list[end] != ']'
		}
		made, ok := expand(list[:end])
		if !ok || open || len(all)+len(made) > mostHosts {
			return nil, false
		}
		if all, list = append(all, made...), list[end:]; list != "" {
			if list = list[1:]; list == "" {
				return nil, false
			}
		}
	}
	return all, len(all) > 0
}

// expand returns the names of which one has brackets. Numbers keep their leading zeros.
func expand(name string) (all []string, ok bool) {
	before, rest, bracket := strings.Cut(name, "[")
	if !bracket {
		return []string{name}, name != "" && !strings.Contains(name, "]")
	}
	list, after, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, false
	}
	ends := []string{""}
	if after != "" {
		if ends, ok = expand(after); !ok {
			return nil, false
		}
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 32)
		to, other := strconv.ParseUint(last, 10, 32)
		if err != nil || other != nil || to < from || (to-from+1)*uint64(len(ends)) > uint64(mostHosts-len(all)) {
			return nil, false
		}
		for ; from <= to; from++ {
			for _, end := range ends {
				all = append(all, fmt.Sprintf("%s%0*d%s", before, len(first), from, end))
			}
		}
	}
	return all, true
}
