// SPDX-License-Identifier: MIT

package swf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const jobLine = "1 2 3 4 5 6.50 7 8 9 10 1 12 13 14 15 16 17 18"

var job = swf.Job{Number: 1, Submit: 2, Wait: 3, Runtime: 4, Procs: 5, CPU: 6.5, Memory: 7,
	RequestedProcs: 8, RequestedTime: 9, RequestedMemory: 10, Status: swf.StatusCompleted, User: 12, Group: 13,
	Executable: 14, Queue: 15, Partition: 16, Preceding: 17, Think: 18}

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	require.OK(t, require.Err(z.Write([]byte(text))))
	require.OK(t, z.Close())
	return b.String()
}

func TestRead(t *testing.T) {
	unknown := job
	unknown.Wait, unknown.CPU, unknown.Think = swf.Unknown, swf.Unknown, swf.Unknown
	exact := job
	exact.Submit, exact.CPU, exact.Memory = 1000, 0.5, 1200
	big := job
	big.Number, big.CPU = 9223372036854775807, 9.223372036854775807
	header := swf.Header{{"Version", "2.2"}}
	for name, c := range map[string]struct {
		text   string
		header swf.Header
		want   []swf.Job
	}{
		"empty":                     {"", nil, nil},
		"blank lines alone":         {"\n \r\n\t\n", nil, nil},
		"one":                       {jobLine + "\n", nil, []swf.Job{job}},
		"no end of the last line":   {jobLine + "\n" + jobLine, nil, []swf.Job{job, job}},
		"CRLF":                      {"; Version: 2.2\r\n;\r\n" + jobLine + "\r\n" + jobLine + "\r\n", header, []swf.Job{job, job}},
		"blanks, tabs, empty lines": {"\n  " + strings.ReplaceAll(jobLine, " ", " \t ") + " \t \n\n" + jobLine + "  ", nil, []swf.Job{job, job}},
		"comments anywhere": {"; Version: 2.2\n;\n" + jobLine + "\n  ; in the middle \n\n;x\n" + jobLine + "\n;end",
			header, []swf.Job{job, job}},
		"unknown": {"1 2 -1 4 5 -1 7 8 9 10 1 12 13 14 15 16 17 -1", nil, []swf.Job{unknown}},
		"other ways to write a number": {"+1 1e3 3.000 4 5. .5 1.2E3 8 9 1000e-2 1 12 13 14 15 16 17 18.0", nil,
			[]swf.Job{exact}},
		"largest numbers": {"9223372036854775807 2 3 4 5 9.223372036854775807 7 8 9 10 1 12 13 14 15 16 17 18", nil, []swf.Job{big}},
		"zeros that don't fit": {strings.Replace(jobLine, "6.50", "6.50"+strings.Repeat("0", 30), 1), nil,
			[]swf.Job{job}},
		"gzip":            {zip(t, "; Version: 2.2\n;\n"+jobLine), header, []swf.Job{job}},
		"two gzip parts":  {zip(t, jobLine+"\n") + zip(t, jobLine), nil, []swf.Job{job, job}},
		"byte order mark": {"\xef\xbb\xbf" + jobLine, nil, []swf.Job{job}},
	} {
		t.Run(name, func(t *testing.T) {
			want := &swf.Log{Header: c.header, Jobs: c.want}
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got := require.Value(swf.ReadAll(r))(t)
				require.Same(t, "result", want, got, cmpopts.IgnoreFields(swf.Log{}, "Lines"))
			}
		})
	}
}

func TestErrors(t *testing.T) {
	with := func(text string) string {
		return "; x\n\n" + jobLine + "\n" + strings.Replace(jobLine, "4 5 6.50", text, 1)
	}
	for name, c := range map[string]struct {
		text  string
		line  int
		field int
		want  string
	}{
		"one field too few":     {with("4 6.50"), 4, 0, "it has 17 of the 18 fields, the first that is missing is the think time"},
		"one alone":             {"7", 1, 0, "it has 1 of the 18 fields, the first that is missing is the submit time"},
		"two too many":          {with("4 5 6.50 1 2"), 4, 0, "it has 20 fields, must have 18"},
		"a comment after a job": {jobLine + " ; x", 1, 0, "it has 20 fields, must have 18"},
		"a word":                {with("four 5 6.50"), 4, 4, `field 4, the run time, is "four", must be a number from 0, or -1 for unknown`},
		"NaN":                   {with("4 5 NaN"), 4, 6, `field 6, the average CPU time, is "NaN", must be a number from 0, or -1 for unknown`},
		"Inf":                   {with("4 Inf 6"), 4, 5, `field 5, the allocated processors, is "Inf", must be a number`},
		"-Inf":                  {with("4 -Inf 6"), 4, 5, `field 5, the allocated processors, is "-Inf", must be a number`},
		"hexadecimal":           {with("0x4 5 6"), 4, 4, `field 4, the run time, is "0x4", must be a number`},
		"two points":            {with("4 5 6.5.0"), 4, 6, `field 6, the average CPU time, is "6.5.0", must be a number`},
		"a sign alone":          {with("- 5 6"), 4, 4, `field 4, the run time, is "-", must be a number`},
		"a point alone":         {with("4 5 ."), 4, 6, `field 6, the average CPU time, is ".", must be a number`},
		"an exponent alone":     {with("4 5 e3"), 4, 6, `field 6, the average CPU time, is "e3", must be a number`},
		"no exponent":           {with("4 5 3e"), 4, 6, `field 6, the average CPU time, is "3e", must be a number`},
		"negative":              {with("-2 5 6"), 4, 4, `field 4, the run time, is "-2", must be a number from 0, or -1 for unknown`},
		"negative decimal":      {with("4 5 -0.5"), 4, 6, `field 6, the average CPU time, is "-0.5", must be a number from 0, or -1`},
		"a fraction":            {with("4 5.5 6"), 4, 5, `field 5, the allocated processors, is "5.5", must be a whole number from 0, or -1 for unknown: its fraction would be lost`},
		"overflow":              {with("4 9223372036854775808 6"), 4, 5, `field 5, the allocated processors, is "9223372036854775808", has more digits than can be kept (18)`},
		"overflow by exponent":  {with("4 1e19 6"), 4, 5, `field 5, the allocated processors, is "1e19", has more digits`},
		"too large":             {with("4 5 1e999"), 4, 6, `field 6, the average CPU time, is "1e999", must be a number`},
		"underscores":           {with("4 1_000 6"), 4, 5, `field 5, the allocated processors, is "1_000", must be a number`},
		"a long word":           {with(strings.Repeat("x", 1000) + " 5 6"), 4, 4, `field 4, the run time, is "` + strings.Repeat("x", 40) + `"..., must be a number`},
		"a control character":   {with("\x00 5 6"), 4, 4, `field 4, the run time, is "\x00", must be a number`},
		"a long line":           {jobLine + "\n;" + strings.Repeat("x", 1<<16), 2, 0, "it is longer than 65536 bytes"},
		"JSON":                  {`{"kind":"vcsched"}`, 1, 0, "it has 1 of the 18 fields"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := swf.ReadAll(strings.NewReader(c.text))
			var e *swf.Error
			if !errors.As(err, &e) || !errors.Is(err, model.ErrInvalid) {
				t.Fatalf("error %v, want an *Error that wraps ErrInvalid", err)
			}
			if want := fmt.Sprintf("invalid SWF: line %d: %s", c.line, c.want); !strings.HasPrefix(err.Error(), want) || e.Field != c.field || e.Line != c.line {
				t.Errorf("%+v\n%s\nwant\n%s", e, err, want)
			}
			if strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Errorf("%q isn't one line", err)
			}
		})
	}
}

// An error stays, and jobs before it are given.
func TestErrorStays(t *testing.T) {
	r := swf.NewReader(strings.NewReader(jobLine + "\nx\n" + jobLine))
	if j, err := r.Next(); err != nil || j != job {
		t.Fatal(j, err)
	}
	_, first := r.Next()
	if _, second := r.Next(); first == nil || first != second {
		t.Errorf("%v, then %v", first, second)
	}
	r = swf.NewReader(strings.NewReader("; a\nx"))
	h, first := r.Header()
	if _, second := r.Next(); first == nil || first != second || len(h) != 0 {
		t.Errorf("the header's %v, then %v", first, second)
	}
}

func TestSourceErrors(t *testing.T) {
	zipped := zip(t, strings.Repeat(jobLine+"\n", 1000))
	for name, text := range map[string]string{"cut off": zipped[:len(zipped)-20], "header alone": zipped[:3], "checksum": zipped[:len(zipped)-8] + "12345678"} {
		require.Refused(t, name, require.Err(swf.ReadAll(strings.NewReader(text))), model.ErrInvalid,
			"the gzip file is broken: ")
	}
	broken := errors.New("unplugged")
	_, err := swf.ReadAll(io.MultiReader(strings.NewReader(jobLine+"\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || errors.Is(err, model.ErrInvalid) {
		t.Errorf("a broken source gives %v", err)
	}
}

func TestStreaming(t *testing.T) {
	r := swf.NewReader(strings.NewReader("; MaxProcs: 8\n" + jobLine + "\n; two\n" + jobLine + "\n; end"))
	h, err := r.Header()
	if procs, e := h.Procs(); err != nil || e != nil || procs != 8 {
		t.Fatal(h, err, e)
	}
	for range 2 {
		if j, err := r.Next(); err != nil || j != job {
			t.Fatal(j, err)
		}
	}
	for range 2 {
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	}
	if again, err := r.Header(); err != nil || len(again) != 1 {
		t.Errorf("the header after the end: %v, %v", again, err)
	}
}

// A job costs no allocation, decimals or not.
func TestNoAllocation(t *testing.T) {
	const n = 2000
	text := strings.Repeat(jobLine+"\n", n)
	allocations := testing.AllocsPerRun(3, func() {
		r := swf.NewReader(strings.NewReader(text))
		for range n {
			require.OK(t, require.Err(r.Next()))
		}
	})
	if allocations > 20 {
		t.Errorf("%v allocations for %d jobs", allocations, n)
	}
}

// values are a job's fields in the log's order.
func values(j *swf.Job) (all []float64) {
	v := reflect.ValueOf(*j)
	for f := range v.NumField() {
		all = append(all, v.Field(f).Convert(reflect.TypeFor[float64]()).Float())
	}
	return all
}

// write returns the log as a file; whole numbers keep all their digits.
func write(l *swf.Log) string {
	var b strings.Builder
	for _, f := range l.Header {
		fmt.Fprintf(&b, "; %s: %s\n", f.Key, strings.ReplaceAll(f.Value, "\n", "\n;   "))
	}
	for _, j := range l.Jobs {
		fmt.Fprintln(&b, strings.Trim(fmt.Sprintf("%v", j), "{}"))
	}
	return b.String()
}

// drawJob draws any job that a log can hold.
func drawJob(t *rapid.T) swf.Job {
	whole := rapid.OneOf(rapid.Int64Range(-1, 10), rapid.Int64Range(-1, 1<<63-1))
	decimal := rapid.OneOf(rapid.Just(-1.0), rapid.Float64Range(0, 100), rapid.Float64Min(0))
	w := func() int64 { return whole.Draw(t, "field") }
	d := func() float64 { return decimal.Draw(t, "decimal") }
	return swf.Job{Number: w(), Submit: d(), Wait: d(), Runtime: d(), Procs: w(), CPU: d(), Memory: d(), RequestedProcs: w(), RequestedTime: d(),
		RequestedMemory: d(), Status: w(), User: w(), Group: w(), Executable: w(), Queue: w(), Partition: w(), Preceding: w(), Think: d()}
}

// A job's line is read back as the job from which it was written.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &swf.Log{Jobs: rapid.SliceOfN(rapid.Custom(drawJob), 1, 5).Draw(t, "jobs")}
		got := require.Value(swf.ReadAll(strings.NewReader(write(want))))(t)
		require.Same(t, "result", want, got, cmpopts.IgnoreFields(swf.Log{}, "Lines"))
	})
}

// A number is read as strconv.ParseFloat reads it, however it is written.
func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{0,12}\.?[0-9]{1,12}0{0,12}([eE][+-]?[0-9])?`).Draw(t, "text")
		l := require.Value(swf.ReadAll(strings.NewReader(strings.Replace(jobLine, "6.50", text, 1))))(t)
		if want, err := strconv.ParseFloat(text, 64); err != nil || l.Jobs[0].CPU != want {
			t.Fatalf("%s is read as %v, want %v", text, l.Jobs[0].CPU, want)
		}
	})
}

// Any input gives an error of one line that wraps ErrInvalid, or a log that is
// written and read the same.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "; Version: 2.2\n" + jobLine + "\n", jobLine + "\r\n\t;x\r\n" + jobLine, "1 2", "\x1f\x8b\x08", "\xef\xbb\xbf;",
		strings.Replace(jobLine, "6.50", "1e-3", 1), strings.Replace(jobLine, "4", "-1.0", 1), strings.Replace(jobLine, "4", "9999999999999999999", 1)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := swf.ReadAll(bytes.NewReader(text))
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("error %q", err)
			}
			return
		}
		l.Header, l.Lines = nil, nil // neither its text nor the place of lines is kept
		got := require.Value(swf.ReadAll(strings.NewReader(write(l))))(t)
		got.Header, got.Lines = nil, nil
		require.Same(t, "result", l, got)
	})
}

// A log gives the line of each job.
func TestLines(t *testing.T) {
	l := require.Value(swf.ReadAll(strings.NewReader("; Version: 2.2\n\n" + jobLine + "\n; x\n" + jobLine + "\n" + jobLine)))(t)
	require.Same(t, "lines", []int{3, 5, 6}, l.Lines)
}
