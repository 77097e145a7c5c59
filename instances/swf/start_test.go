package swf

import "testing"

func TestHeaderStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		comments []string
		want     string // empty: none
	}{
		"KTH":            {[]string{"; UnixStartTime: 843480031", "; TimeZone: 3600"}, "1996-09-23 13:00:31 +0100 UTC+1"},
		"no zone":        {[]string{"; UnixStartTime: 843480031"}, "1996-09-23 12:00:31 +0000 UTC"},
		"west, half":     {[]string{"; UnixStartTime: 843480031", "; TimeZone: -12600"}, "1996-09-23 08:30:31 -0330 UTC-3:30"},
		"a strange zone": {[]string{"; UnixStartTime: 843480031", "; TimeZone: 1e9"}, "1996-09-23 12:00:31 +0000 UTC"},
		"none":           {[]string{"; MaxProcs: 3"}, ""},
		"unknown":        {[]string{"; UnixStartTime: 0"}, ""},
		"no number":      {[]string{"; UnixStartTime: now"}, ""},
		"too far":        {[]string{"; UnixStartTime: 9223372036854775807"}, ""},
	} {
		got, ok := ParseHeader(c.comments).Start()
		if text := got.String(); ok != (c.want != "") || ok && text != c.want {
			t.Errorf("%s: %v, %v, want %q", name, text, ok, c.want)
		}
	}
}
