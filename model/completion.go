package model

import "fmt"

// Completion says what a start solution lacked, of which an instance has made a
// solution of its own: of a partial one, or one of the instance as it was before.
type Completion struct {
	Added   int // jobs, tasks or requests of the instance that the start doesn't place
	Ignored int // those of the start that the instance doesn't have, or not so
}

// String says it in a few words.
func (c Completion) String() string {
	return fmt.Sprintf("%d of the instance aren't in it and are added, %d of it aren't in the instance and are ignored", c.Added, c.Ignored)
}

// Match returns, for each of the instance's ids, the number of the start's element
// with that id, -1 for none. It counts both kinds of strangers. The error wraps
// ErrInvalid: an id that the start has twice, or a start of which the instance has
// nothing.
func Match(ids, start []string) ([]int, Completion, error) {
	at := make(map[string]int, len(start))
	for i, id := range start {
		if _, twice := at[id]; twice {
			return nil, Completion{}, fmt.Errorf("start: %w: %q is placed twice", ErrInvalid, id)
		}
		at[id] = i
	}
	of, c := make([]int, len(ids)), Completion{Ignored: len(start)}
	for k, id := range ids {
		i, ok := at[id]
		if !ok {
			i = -1
			c.Added++
		} else {
			c.Ignored--
		}
		of[k] = i
	}
	if len(start) > 0 && c.Ignored == len(start) {
		return nil, c, fmt.Errorf("start: %w: none of what it places is in the instance: %q isn't", ErrInvalid, start[0])
	}
	return of, c, nil
}
