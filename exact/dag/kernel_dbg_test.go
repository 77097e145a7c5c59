package dag

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	dagheur "github.com/gapwise/gapwise/heuristics/dag"
	"github.com/gapwise/gapwise/model"
	"path/filepath"
	"syscall"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func TestKernelDbg(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("KDIR") + "/*.json")
	proved, sum := 0, 0.0
	for _, f := range files {
		data, _ := os.ReadFile(f)
		in, err := model.DecodeInstance(data)
		if err != nil {
			t.Fatal(err)
		}
		d := in.(*model.DAG)
		g := d.Graph()
		at := cpu()
		_, upper, err := dagheur.BestPlan(context.Background(), d, g, model.Settings{Seed: 1}, 2000+100*g.Tasks, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := newTicks(g, upper, 0)
		v.findWeights(context.Background())
		ctx, c := context.WithTimeout(context.Background(), 30*time.Second)
		k := newKernelModel(v, int32(upper/v.unit+.5))
		o, s := k.minimise(ctx, int64(upper/v.unit+.5))
		c()
		used := cpu() - at
		sum += used
		if o.Optimal {
			proved++
		}
		fmt.Printf("%-40s improve %g best %d bound %d %v conflicts %d decided %d events %d restarts %d cpu %.2f\n", filepath.Base(f), upper/v.unit, o.Best, o.Bound, o.Optimal, s.Conflicts, s.Decided, s.Events, s.Restarts, used)
	}
	fmt.Println(proved, len(files), sum)
}
