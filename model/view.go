package model

import "sync"

// held are the integer views (Ticks, Units, Graph) of the instances that are being
// solved.
var held = struct {
	sync.Mutex
	views map[Instance]*view
}{views: map[Instance]*view{}}

type view struct {
	once    sync.Once
	of      any
	holders int
}

// HoldView has an instance's integer view made once until release is called, by whoever
// asks for it first. The instance must not change meanwhile; nobody changes a view.
// gapwise.Case.Solve holds it while a solver runs.
func HoldView(in Instance) (release func()) {
	held.Lock()
	defer held.Unlock()
	v := held.views[in]
	if v == nil {
		v = &view{}
		held.views[in] = v
	}
	v.holders++
	return func() {
		held.Lock()
		defer held.Unlock()
		if v.holders--; v.holders == 0 {
			delete(held.views, in)
		}
	}
}

// viewOf returns the view of an instance that is held, or else makes it.
func viewOf[V any](in Instance, build func() *V) *V {
	held.Lock()
	v := held.views[in]
	held.Unlock()
	if v == nil {
		return build()
	}
	v.once.Do(func() { v.of = build() })
	return v.of.(*V)
}
