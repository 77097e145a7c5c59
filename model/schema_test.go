package model_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gapwise/gapwise/model"
)

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../docs/schema/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func accepts(t *testing.T, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

// mutate changes one value or key somewhere in the document.
func mutate(rng *rand.Rand, v any) any {
	values := []any{nil, true, "x", -1.0, 0.0, 0.5, 2.0, 1e12, []any{}, map[string]any{}}
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		k := keys[rng.IntN(len(keys))]
		switch rng.IntN(5) {
		case 0:
			delete(x, k)
		case 1:
			x[strings.ToUpper(k[:1])+k[1:]] = x[k]
		default:
			x[k] = mutate(rng, x[k])
		}
		return x
	case []any:
		if len(x) > 0 && rng.IntN(5) > 0 {
			k := rng.IntN(len(x))
			x[k] = mutate(rng, x[k])
			return x
		}
	}
	return values[rng.IntN(len(values))]
}

// The published schemas and the decoders say the same about random mutations
// of a good document, but for what a schema can't say.
func TestSchemasAgreeWithDecoders(t *testing.T) {
	in, err := model.DecodeInstance([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	v := in.(*model.VCSched)
	p := v.NewPlacement([]int32{0, 0, 1}, 0.5)
	r := model.NewResult("x", 1)
	if err := r.SetSolution(v, p); err != nil {
		t.Fatal(err)
	}
	r.Kind = v.Kind()
	encode := func(x any) []byte {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, c := range map[string]struct {
		good   []byte
		decode func([]byte) error
		beyond []string // what only the decoder knows
	}{
		"vcsched.json": {[]byte(small), func(d []byte) error { _, err := model.DecodeInstance(d); return err },
			[]string{"taken", "current_hosts", "more than"}},
		"vcsched-solution.json": {encode(p), func(d []byte) error { _, err := model.DecodeSolution(d); return err }, nil},
		"result.json":           {encode(r), func(d []byte) error { _, err := model.DecodeResult(d); return err }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := schema(t, name)
			rng := rand.New(rand.NewPCG(1, 1))
			refused := 0
			for k := range 4000 {
				var doc any
				if err := json.Unmarshal(c.good, &doc); err != nil {
					t.Fatal(err)
				}
				if k > 0 {
					doc = mutate(rng, doc)
				}
				data := encode(doc)
				err := c.decode(data)
				ok := accepts(t, s, data)
				if err != nil {
					refused++
				}
				if (err == nil) != ok && !(ok && slices.ContainsFunc(c.beyond, func(b string) bool { return strings.Contains(err.Error(), b) })) {
					t.Fatalf("the schema accepts: %v, the decoder says: %v\n%s", ok, err, data)
				}
			}
			if refused < 1000 || refused == 4000 {
				t.Errorf("%d of 4000 refused", refused)
			}
		})
	}
}
