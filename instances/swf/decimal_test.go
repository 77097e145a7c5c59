package swf_test

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances/swf"
)

// readCPU reads a number as a job's CPU time.
func readCPU(text string) (swf.Decimal, error) {
	l, err := swf.ReadAll(strings.NewReader(strings.Replace(jobLine, "6.50", text, 1)))
	if err != nil {
		return swf.Decimal{}, err
	}
	return l.Jobs[0].CPU, nil
}

// A number is read as the rational that it says, as text and as a float64, or
// it has too many digits.
func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{0,12}\.?[0-9]{1,12}0{0,12}([eE][+-]?[0-9])?`).Draw(t, "text")
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		d, err := readCPU(text)
		if err != nil {
			scaled := new(big.Rat).Mul(want, big.NewRat(1e18, 1))
			if kept := scaled.IsInt() && want.Cmp(big.NewRat(1e9, 1)) < 0 && len(strings.Trim(scaled.Num().String(), "0")) <= 18; kept {
				t.Fatalf("%v, which can be kept", err)
			}
			return
		}
		if got, _ := new(big.Rat).SetString(d.String()); got.Cmp(want) != 0 {
			t.Fatalf("%s is read as %v", text, d)
		}
		if x, err := strconv.ParseFloat(text, 64); err != nil || x != d.Float64() {
			t.Fatalf("%s is %v as a float64, want %v", text, d.Float64(), x)
		}
	})
}

func TestDecimalText(t *testing.T) {
	for d, want := range map[swf.Decimal]string{{}: "0", {Places: 2}: "0.00", {Units: -1}: "-1", {Units: -100, Places: 2}: "-1.00", {Units: 5, Places: 3}: "0.005",
		{Units: 48900, Places: 2}: "489.00", {Units: 1<<63 - 1, Places: 18}: "9.223372036854775807", {Units: -5, Places: 1}: "-0.5"} {
		if d.String() != want || fmt.Sprint(d) != want {
			t.Errorf("%q, want %q", d.String(), want)
		}
		if d.Known() != !strings.HasPrefix(want, "-") {
			t.Errorf("%v: known is %v", d, d.Known())
		}
	}
}
