package swf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/instances/swf"
	"github.com/gapwise/gapwise/model"
)

const jobLine = "1 2 3 4 5 6.50 7 8 9 10 1 12 13 14 15 16 17 18"

var job = swf.Job{Number: 1, Submit: 2, Wait: 3, Runtime: 4, Procs: 5, CPU: swf.Decimal{Units: 650, Places: 2}, Memory: swf.Decimal{Units: 7},
	RequestedProcs: 8, RequestedTime: 9, RequestedMemory: swf.Decimal{Units: 10}, Status: swf.StatusCompleted, User: 12, Group: 13,
	Executable: 14, Queue: 15, Partition: 16, Preceding: 17, Think: 18}

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	unknown := job
	unknown.Wait, unknown.CPU, unknown.Think = swf.Unknown, swf.Decimal{Units: -1}, swf.Unknown
	exact := job
	exact.Submit, exact.CPU, exact.Memory = 1000, swf.Decimal{Units: 5, Places: 1}, swf.Decimal{Units: 1200}
	big := job
	big.Number, big.CPU = 9223372036854775807, swf.Decimal{Units: 9223372036854775807, Places: 18}
	header := []swf.Comment{{0, "; Version: 2.2"}, {0, ";"}}
	for name, c := range map[string]struct {
		text     string
		comments []swf.Comment
		want     []swf.Job
	}{
		"empty":                     {"", nil, nil},
		"blank lines alone":         {"\n \r\n\t\n", nil, nil},
		"one":                       {jobLine + "\n", nil, []swf.Job{job}},
		"no end of the last line":   {jobLine + "\n" + jobLine, nil, []swf.Job{job, job}},
		"CRLF":                      {"; Version: 2.2\r\n;\r\n" + jobLine + "\r\n" + jobLine + "\r\n", header, []swf.Job{job, job}},
		"blanks, tabs, empty lines": {"\n  " + strings.ReplaceAll(jobLine, " ", " \t ") + " \t \n\n" + jobLine + "  ", nil, []swf.Job{job, job}},
		"comments anywhere": {"; Version: 2.2\n;\n" + jobLine + "\n  ; in the middle \n\n;x\n" + jobLine + "\n;end",
			append(header, swf.Comment{1, "  ; in the middle "}, swf.Comment{1, ";x"}, swf.Comment{2, ";end"}), []swf.Job{job, job}},
		"unknown": {"1 2 -1 4 5 -1 7 8 9 10 1 12 13 14 15 16 17 -1", nil, []swf.Job{unknown}},
		"other ways to write a number": {"+1 1e3 3.000 4 5. .5 1.2E3 8 9 1000e-2 1 12 13 14 15 16 17 18.0", nil,
			[]swf.Job{func() swf.Job { j := exact; j.RequestedMemory = swf.Decimal{Units: 1000, Places: 2}; return j }()}},
		"largest numbers": {"9223372036854775807 2 3 4 5 9.223372036854775807 7 8 9 10 1 12 13 14 15 16 17 18", nil, []swf.Job{big}},
		"zeros that don't fit": {strings.Replace(jobLine, "6.50", "6.50"+strings.Repeat("0", 30), 1), nil,
			[]swf.Job{func() swf.Job { j := job; j.CPU = swf.Decimal{Units: 65, Places: 1}; return j }()}},
		"gzip":            {zip(t, "; Version: 2.2\n;\n"+jobLine), header, []swf.Job{job}},
		"two gzip parts":  {zip(t, jobLine+"\n") + zip(t, jobLine), nil, []swf.Job{job, job}},
		"byte order mark": {"\xef\xbb\xbf" + jobLine, nil, []swf.Job{job}},
	} {
		t.Run(name, func(t *testing.T) {
			want := &swf.Log{Comments: c.comments, Jobs: c.want}
			for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
				got, err := swf.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
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
		"a fraction":            {with("4.5 5 6"), 4, 4, `field 4, the run time, is "4.5", must be a whole number from 0, or -1 for unknown: its fraction would be lost`},
		"overflow":              {with("9223372036854775808 5 6"), 4, 4, `field 4, the run time, is "9223372036854775808", has more digits than can be kept (18)`},
		"overflow by exponent":  {with("1e19 5 6"), 4, 4, `field 4, the run time, is "1e19", has more digits`},
		"too small":             {with("4 5 1e-19"), 4, 6, `field 6, the average CPU time, is "1e-19", has more digits`},
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
	if _, second := r.Next(); first == nil || first != second || r.Line() != 2 {
		t.Errorf("%v, then %v at line %d", first, second, r.Line())
	}
	r = swf.NewReader(strings.NewReader("; a\nx"))
	h, first := r.Header()
	if _, second := r.Next(); first == nil || first != second || len(h) != 0 {
		t.Errorf("the header's %v, then %v", first, second)
	}
	for _, err := range swf.NewReader(strings.NewReader("x")).All() {
		if !errors.Is(err, model.ErrInvalid) {
			t.Error(err)
		}
	}
}

func TestSourceErrors(t *testing.T) {
	zipped := zip(t, strings.Repeat(jobLine+"\n", 1000))
	for name, text := range map[string]string{"cut off": zipped[:len(zipped)-20], "header alone": zipped[:3], "checksum": zipped[:len(zipped)-8] + "12345678"} {
		if _, err := swf.ReadAll(strings.NewReader(text)); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "the gzip file is broken: ") {
			t.Errorf("%s: %v", name, err)
		}
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
	var comments []string
	n := 0
	for j, err := range r.All() {
		if err != nil || j != job {
			t.Fatal(j, err)
		}
		n++
		comments = append(comments, fmt.Sprint(n, r.Comments(), r.Line()))
	}
	comments = append(comments, fmt.Sprint(r.Comments()))
	if d := cmp.Diff([]string{"1 [; MaxProcs: 8] 2", "2 [; two] 4", "[; end]"}, comments); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := r.Next(); err != io.EOF || len(r.Comments()) > 0 {
		t.Errorf("after the end: %v, %v", err, r.Comments())
	}
	for range swf.NewReader(strings.NewReader(jobLine + "\n" + jobLine)).All() {
		break // the loop may be left
	}
}

// A job costs no allocation, decimals or not.
func TestNoAllocation(t *testing.T) {
	const n = 2000
	text := strings.Repeat(jobLine+"\n", n)
	allocations := testing.AllocsPerRun(3, func() {
		r := swf.NewReader(strings.NewReader(text))
		for range n {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocations > 20 {
		t.Errorf("%v allocations for %d jobs", allocations, n)
	}
}
