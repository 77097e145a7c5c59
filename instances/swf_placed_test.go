// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A log in the Standard Workload Format on nodes: processors, the memory asked for by processor, and partitions by number or
// by name in the header. What the nodes model isn't told as not modelled.
func TestSWFOnNodes(t *testing.T) {
	folder := t.TempDir()
	file, nodes := filepath.Join(folder, "log.swf"), filepath.Join(folder, "nodes.txt")
	const log = "; MaxProcs: 12\n; Partition: 1 small, 4 processors\n; Partition: 2 large, 8 processors\n" +
		"1 0 0 100 2 -1 -1 2 200 1000000 1 7 1 1 1 1 -1 -1\n" + // 977 MB a processor
		"2 0 0 100 8 -1 -1 8 200 -1 1 7 1 1 1 2 -1 -1\n" +
		"3 5 0 100 1 -1 -1 1 200 9000000 1 7 1 1 1 2 -1 -1\n" + // more than a node has
		"4 6 0 100 0 -1 -1 -1 200 10 1 7 1 1 1 2 -1 -1\n" +
		"5 7 0 100 3 -1 -1 3 200 1024 1 7 1 1 1 -1 -1 -1\n"
	require.OK(t, os.WriteFile(file, []byte(log), 0o644))
	for name, partitions := range map[string][2]string{"by name": {"small", "large"}, "by number": {"1", "2"}} {
		small, large := partitions[0], partitions[1]
		require.OK(t, os.WriteFile(nodes, []byte("NODELIST|PARTITION|CPUS|MEMORY|STATE\na|"+small+"|4|2048|idle\nb|"+large+"|4|8192|idle\nc|"+large+"|4|8192|idle\n"), 0o644))
		o := Options{Platform: nodes, Log: LogOptions{Placed: true}}
		in := require.Value(require.Value(Open(file))(t).Instance(o))(t).(*model.Batch)
		require.OK(t, in.Validate())
		var got []string
		for k := range in.Jobs {
			j := &in.Jobs[k]
			got = append(got, fmt.Sprint(j.ID, " ", j.Processes, " ", j.Needs.Each, " ", j.Needs.Partitions))
		}
		require.Same(t, name, fmt.Sprintf("1 1 [2 1954] [%s]/2 2 [4 0] [%s]/5 1 [3 3] []", small, large), strings.Join(got, "/"))
		said := strings.Join(in.Account.Lines(), "\n")
		require.Says(t, name, said, "1 job that fit no nodes of their partitions and features (3)", "1 job without processors (4)", "3 jobs on as few nodes as their processors allow")
		require.Same(t, name+": not modelled", 0, len(in.Account.NotModelled))
		require.Refused(t, name, require.Err(require.Value(Open(file))(t).Instance(Options{Log: LogOptions{Placed: true}})), model.ErrInvalid, "give --platform FILE")
		require.Refused(t, name, require.Err(require.Value(Open(file))(t).Instance(Options{Platform: nodes})), model.ErrInvalid, "give --unit resources")
	}
}
