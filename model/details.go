package model

// Details is what the solvers of one problem tell beside a result's common
// figures. It is a pointer to a struct, and its keys stand in the JSON object of
// the result.
type Details interface {
	Kind() Kind
	// Lines tells in words, a line each, what the details say of the result.
	Lines(Result) []string
	// Claims names, in words, what the details claim that the judge doesn't
	// look at.
	Claims() []string
	// Figures returns the figures that experiments record.
	Figures() map[string]float64
}

// Parameters are settings that the algorithms of one problem alone know. They
// are a pointer to a struct with tags (package params).
type Parameters interface{ Kind() Kind }
