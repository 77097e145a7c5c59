package batch

import (
	"math/rand/v2"
	"testing"

	"github.com/gapwise/gapwise/model"
)

// No two processes on a processor take more of it than there is, whatever their
// jobs' uses, losses and efficiencies; and some take nearly all.
func TestUses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	some := func(x ...int64) int64 { return x[rng.IntN(len(x))] }
	share := func() int64 { return 1 + rng.Int64N(model.FullRate) }
	most := make([]float64, 11)
	for range 200_000 {
		job := func() model.BatchTicksJob {
			return model.BatchTicksJob{Processes: 1, Use: []int64{some(model.FullRate, share(), share())},
				Foreground: some(model.FullRate, 9600, share()), Efficiency: some(0, model.FullRate, 4800, share()) * some(0, 1, 1, 1)}
		}
		x, y := job(), job()
		for i := range most {
			taken := func(j *model.BatchTicksJob, rate int64) float64 {
				return float64(demandOf(j, float64(i)/10)) / parts * float64(rate) / float64(max(j.Foreground, j.Efficiency))
			}
			sum := taken(&x, x.Foreground) + taken(&y, y.BackgroundRate(y.Use[0], model.FullRate-x.Use[0]))
			if most[i] = max(most[i], sum); sum > 1 {
				t.Fatalf("α = %d/10: %+v and, in the background, %+v take %v of a processor", i, x, y, sum)
			}
		}
	}
	for i, x := range most {
		if x < 0.999 {
			t.Errorf("α = %d/10: at most %v of a processor is taken", i, x)
		}
	}
}

// The processes of a job may have different uses.
func TestDemandOf(t *testing.T) {
	j := &model.BatchTicksJob{Processes: 2, Use: []int64{5000, 10000}, Foreground: 10000}
	for alpha, want := range map[float64]float64{0: 1.5, 0.4: 1.7} {
		if got := float64(demandOf(j, alpha)) / parts; !(got <= want && got > want-1e-5) {
			t.Errorf("without a background, α = %v: the demand is %v, want %v", alpha, got, want)
		}
	}
	j.Efficiency = 10000 // c g(u) ≤ (1-α) u: 0.5 for α = 0.4 and u = 0.5 is 0.7 c ≤ 0.3
	if got, want := float64(demandOf(j, 0.4))/parts, 1.7*0.3/0.7; !(got <= want && got > want-1e-5) {
		t.Errorf("with a background the demand is %v, want %v", got, want)
	}
}
