package benchmarks

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
)

// Three jobs, worked out by hand: b waits from 5 to 6, after its restart.
func TestUsageOfBatch(t *testing.T) {
	in, s := traced()
	u, err := UsageOf(in, s)
	if err != nil {
		t.Fatal(err)
	}
	want := &Usage{Unit: "processors", Capacity: 8, Steps: []UsageStep{
		{AtS: 0, Used: 4}, {AtS: 1.5, Used: 4, Background: 2}, {AtS: 2, Used: 5, Background: 2}, {AtS: 5, Used: 5, Waiting: 1}, {AtS: 6, Used: 5, Background: 2},
		{AtS: 7, Used: 7}, {AtS: 10, Used: 3}, {AtS: 20, Used: 3}, {AtS: 42, Used: 2}, {AtS: 61.5}}}
	if d := cmp.Diff(want, u); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if from, to := u.Span(); from != 0 || to != 61.5 {
		t.Errorf("span %v to %v, want 0 to 61.5", from, to)
	}
	if got, want := u.Utilisation(0, 10), (4*2+5*5+7*3)/80.; math.Abs(got-want) > 1e-12 {
		t.Errorf("utilisation %v, want %v", got, want)
	}
}

// Of four requests one is accepted, one ends early, one is withdrawn before its start,
// one declined.
func TestUsageOfReservation(t *testing.T) {
	early, withdrawn := 3., 7.
	in := &model.Reservation{Name: "four", PEs: 10, Requests: []model.Request{
		{ID: "a", ReadyS: 2, DurationS: 4, DeadlineS: 9, PEs: 3},
		{ID: "b", ArrivalS: 1, ReadyS: 1, DurationS: 5, RuntimeS: &early, DeadlineS: 9, PEs: 4},
		{ID: "c", ArrivalS: 5, ReadyS: 8, DurationS: 1, DeadlineS: 20, PEs: 1, CancelS: &withdrawn},
		{ID: "d", ArrivalS: 6, ReadyS: 6, DurationS: 2, DeadlineS: 9, PEs: 10}}}
	u, err := UsageOf(in, &model.Bookings{Bookings: []model.Booking{{ID: "a", StartS: 2}, {ID: "b", StartS: 1}, {ID: "c", StartS: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []UsageStep{{AtS: 0, Waiting: 1}, {AtS: 1, Used: 4, Waiting: 1}, {AtS: 2, Used: 7}, {AtS: 4, Used: 3}, {AtS: 5, Used: 3, Waiting: 1},
		{AtS: 6, Waiting: 1, Declined: 20}, {AtS: 7, Declined: 20}}
	if d := cmp.Diff(want, u.Steps); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := UsageOf(in, &model.Execution{}); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("an execution of reservations: %v", err)
	}
	if _, err := UsageOf(&model.DAG{}, &model.Schedule{}); !errors.Is(err, model.ErrUnsupported) {
		t.Errorf("a schedule: %v", err)
	}
}

func TestUsageOfTVC(t *testing.T) {
	in := &model.TVC{Name: "v", FatTree: model.FatTree{K: 2, Slots: 4, LinkMbps: 10}, Requests: []model.TVCRequest{
		{ID: "x", VMs: 3, BandwidthMbps: 1, DurationS: 7}, {ID: "y", ArrivalS: 1, VMs: 9, BandwidthMbps: 1, DurationS: 3}}}
	u, err := UsageOf(in, &model.Embeddings{Runs: []model.Run[model.Embedding]{{ID: "x", Segments: []model.Segment[model.Embedding]{{StartS: 2, EndS: 9}}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := &Usage{Unit: "slots", Capacity: 8, Steps: []UsageStep{{AtS: 0, Waiting: 1}, {AtS: 1, Waiting: 1, Declined: 27}, {AtS: 2, Used: 3, Declined: 27}, {AtS: 9, Declined: 27}}}
	if d := cmp.Diff(want, u); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// The means of any partition add up to the integral of the steps.
func TestUsageMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var u usage
		want := 0.
		for range 1 + rng.IntN(20) {
			from, long, used := rng.Float64()*10, rng.Float64()*5, float64(1+rng.IntN(9))
			u.use(from, from+long, used, 0)
			u.decline(from, 1)
			want += used * long
		}
		n := float64(len(u.Steps)) / 3 // two changes of each use, one that is declined
		u.accumulate()
		from, to := u.Span()
		parts := 1 + rng.IntN(50)
		means, got := u.Means(from, to, parts), 0.
		for _, m := range means {
			got += m.Used * (to - from) / float64(parts)
		}
		if math.Abs(got-want) > 1e-9*want || means[parts-1].Declined != n {
			t.Fatalf("%d parts: integral %v, want %v; %v declined, want %v", parts, got, want, means[parts-1].Declined, n)
		}
	}
}
