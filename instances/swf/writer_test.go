package swf_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gapwise/gapwise/instances/swf"
	"github.com/gapwise/gapwise/model"
)

func encode(t interface{ Fatal(...any) }, l *swf.Log) []byte {
	var b bytes.Buffer
	if err := l.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestColumns(t *testing.T) {
	l := &swf.Log{Jobs: []swf.Job{job}, Comments: []swf.Comment{{0, "; Version: 2.2"}, {1, ";end "}}}
	want := "; Version: 2.2\n" +
		"    1        2      3      4    5   6.50     7    8      9    10  1  12  13  14 15 16 17 18\n" +
		";end \n"
	if d := cmp.Diff(want, string(encode(t, l))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestWriterErrors(t *testing.T) {
	w := swf.NewWriter(&bytes.Buffer{})
	for name, line := range map[string]string{"no comment": "x", "empty": "", "two lines": "; a\nb", "CR": "; a\r", "long": ";" + strings.Repeat("x", 1<<16)} {
		if err := w.Comment(line); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, edit := range map[string]func(*swf.Job){
		"negative time":  func(j *swf.Job) { j.Submit = -2 },
		"negative place": func(j *swf.Job) { j.CPU = swf.Decimal{Units: -1, Places: 1} },
		"many places":    func(j *swf.Job) { j.Memory = swf.Decimal{Units: 1, Places: 19} },
	} {
		j := job
		edit(&j)
		if err := w.Write(&j); !errors.Is(err, model.ErrInvalid) || !strings.HasPrefix(err.Error(), "invalid SWF job 1: the ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := (&swf.Log{Jobs: []swf.Job{j}}).Encode(&bytes.Buffer{}); err == nil {
			t.Errorf("%s: a log takes it", name)
		}
	}
	if err := (&swf.Log{Comments: []swf.Comment{{0, "x"}}}).Encode(&bytes.Buffer{}); err == nil {
		t.Error("a log takes a comment without ;")
	}
}

// drawJob is any job that a log can tell.
func drawJob(t *rapid.T) swf.Job {
	whole := rapid.OneOf(rapid.Int64Range(-1, 10), rapid.Int64Range(-1, 1<<63-1))
	decimal := rapid.Custom(func(t *rapid.T) swf.Decimal {
		d := swf.Decimal{Units: whole.Draw(t, "units"), Places: rapid.Uint8Range(0, 18).Draw(t, "places")}
		if d.Units < 0 {
			d.Places = 0
		}
		return d
	})
	w := func() int64 { return whole.Draw(t, "field") }
	d := func() swf.Decimal { return decimal.Draw(t, "decimal") }
	return swf.Job{Number: w(), Submit: w(), Wait: w(), Runtime: w(), Procs: w(), CPU: d(), Memory: d(), RequestedProcs: w(), RequestedTime: w(),
		RequestedMemory: d(), Status: w(), User: w(), Group: w(), Executable: w(), Queue: w(), Partition: w(), Preceding: w(), Think: w()}
}

// What is written reads the same, and is written the same again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &swf.Log{Jobs: rapid.SliceOfN(rapid.Custom(drawJob), 0, 5).Draw(t, "jobs")}
		if len(l.Jobs) == 0 {
			l.Jobs = nil
		}
		for before := 0; before <= len(l.Jobs); before++ {
			for range rapid.IntRange(0, 2).Draw(t, "comments") {
				l.Comments = append(l.Comments, swf.Comment{Before: before, Text: rapid.StringMatching(`[ \t]{0,2};[^\n\r]{0,20}`).Draw(t, "comment")})
			}
		}
		text := encode(t, l)
		got, err := swf.ReadAll(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l, got); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
		if again := encode(t, got); !bytes.Equal(text, again) {
			t.Fatalf("%q, then %q", text, again)
		}
	})
}

// Whatever is read: an error that wraps ErrInvalid and is one line, or a log that is
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
		l.Header()
		again := encode(t, l)
		got, err := swf.ReadAll(bytes.NewReader(again))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l, got); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
	})
}
