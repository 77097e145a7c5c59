// SPDX-License-Identifier: MIT

package instances

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// The weights that the authors' program computes for its column T, from
// midnight on.
func TestLublinCycle(t *testing.T) {
	want := [48]float64{
		0.5078, 0.4561, 0.4085, 0.3649, 0.3250, 0.2888, 0.2560, 0.2263, 0.1997, 0.1758, 0.1649, 0.2389, 0.3293, 0.4351, 0.5543, 0.6840,
		0.8208, 0.9609, 1.1002, 1.2349, 1.3615, 1.4769, 1.5785, 1.6644, 1.7332, 1.7843, 1.8174, 1.8331, 1.8321, 1.8155, 1.7848, 1.7415,
		1.6874, 1.6243, 1.5538, 1.4777, 1.3976, 1.3149, 1.2310, 1.1470, 1.0640, 0.9828, 0.9040, 0.8284, 0.7563, 0.6880, 0.6238, 0.5637,
	}
	for i, w := range lublinCycle(lublinColumnT) {
		if math.Abs(w-want[i]) > 6e-5 {
			t.Errorf("weight %d is %.4f, want %.4f", i, w, want[i])
		}
	}
	sum := 0.0
	for _, w := range lublinCycle(lublinLANLFit) {
		sum += w
	}
	if math.Abs(sum-48) > 1e-9 {
		t.Errorf("the weights of the fit sum to %v, want 48", sum)
	}
}

// Over many days arrivals follow the weights, do not drift, and are as far apart as in the fitted log: 510 s on
// average.
func TestLublinArrivals(t *testing.T) {
	const n = 1_000_000
	a := newLublinArrivals(lublinLANLFit, rand.New(rand.NewPCG(1, 2)))
	var count [48]float64
	last := 0.0
	for range n {
		x := a.Next()
		if x < last {
			t.Fatalf("%v after %v", x, last)
		}
		last = x
		count[int(math.Mod(x, 86400)/1800)]++
	}
	if mean := last / n; math.Abs(mean/510-1) > 0.05 {
		t.Errorf("mean distance %v s, want 510 within 5 %%", mean)
	}
	// Arrivals come in bursts, which makes the shares as uncertain as a thirtieth
	// of the sample would be otherwise: this is five standard deviations.
	for i, w := range lublinCycle(lublinLANLFit) {
		if got := count[i] / n * 48; math.Abs(got-w) > 0.05*(0.2+w) {
			t.Errorf("half hour %d: %.3f times the mean rate, want %.3f", i, got, w)
		}
	}
}

// mixture are mean and second moment of the logarithm of runtimes, by the model
// (the cut at 12 takes next to nothing).
func mixture(p lublinParameters, size int) (mean, std float64) {
	share := min(max(p.Slope*float64(size)+p.Intercept, 0), 1)
	m1, m2 := p.Shape1*p.Scale1, p.Shape2*p.Scale2
	v1, v2 := m1*p.Scale1, m2*p.Scale2
	mean = share*m1 + (1-share)*m2
	return mean, math.Sqrt(share*(v1+m1*m1) + (1-share)*(v2+m2*m2) - mean*mean)
}

func TestLublinRuntime(t *testing.T) {
	for name, c := range map[string]struct {
		p    lublinParameters
		size int
	}{"fit 32": {lublinLANLFit, 32}, "fit 512": {lublinLANLFit, 512}, "fit 1024": {lublinLANLFit, 1024}, "T 32": {lublinColumnT, 32}, "T 1024": {lublinColumnT, 1024}} {
		rng := rand.New(rand.NewPCG(3, 4))
		logs := make([]float64, 50_000)
		for i := range logs {
			r := lublinRuntime(c.p, c.size, rng)
			if r < 1 || r > math.Exp(12) || r != math.Floor(r) {
				t.Fatalf("%s: runtime %v", name, r)
			}
			logs[i] = math.Log(r)
		}
		wantMean, wantStd := mixture(c.p, c.size)
		// Rounding down moves short runtimes by a few per cent.
		if mean, std := stat.MeanStdDev(logs, nil); math.Abs(mean-wantMean) > 0.05 || math.Abs(std-wantStd) > 0.05 {
			t.Errorf("%s: logarithm %.3f +- %.3f, want %.3f +- %.3f", name, mean, std, wantMean, wantStd)
		}
	}
}

// The size grows with the break for any random numbers, and its mean is the closed form of the model.
func TestLublinLogSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.Float64Range(0, 1-1e-15)
		u, v := unit.Draw(t, "choice"), unit.Draw(t, "place")
		a, b := 4.5+5.5*unit.Draw(t, "a"), 4.5+5.5*unit.Draw(t, "b")
		a, b = min(a, b), max(a, b)
		x, y := lublinLogSize(4.5, a, 10, 0.82, u, v), lublinLogSize(4.5, b, 10, 0.82, u, v)
		if x > y || x < 4.5 || y > 10 {
			t.Fatalf("%v at %v, %v at %v", x, a, y, b)
		}
	})
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 200_000
	sum := 0.0
	for range n {
		sum += lublinLogSize(4.5, 7, 10, 0.82, rng.Float64(), rng.Float64())
	}
	if want := (0.82*4.5 + 7 + 0.18*10) / 2; math.Abs(sum/n-want) > 0.01 {
		t.Errorf("mean %v, want %v", sum/n, want)
	}
}
