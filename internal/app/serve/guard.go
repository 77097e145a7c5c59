// SPDX-License-Identifier: MIT

package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// refuse returns why a request isn't served, before anything of its body is read; nil: it is.
func (s *Server) refuse(r *http.Request, pattern string) *Failure {
	if s.Token == "" {
		// A page in a browser can make its own name point here (DNS rebinding), and would
		// then be taken for a page of this service.
		if !Loopback(r.Host) {
			return failuref(http.StatusMisdirectedRequest, "header Host", "ask 127.0.0.1 or localhost, or start the service with a token",
				"without a token the service answers to 127.0.0.1, [::1] and localhost alone, not to %q", r.Host)
		}
		return nil
	}
	for _, known := range s.routes() {
		if known.open && pattern == known.method+" "+known.path {
			return nil
		}
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	ok := strings.EqualFold(scheme, "Bearer")                            // RFC 9110, section 11.1
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Token)) // of one length
	if !ok || subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return failuref(http.StatusUnauthorized, "header Authorization", "send Authorization: Bearer TOKEN", "the token is missing or wrong")
	}
	return nil
}

// Loopback reports whether an address, with a port or without, can be reached from this
// machine alone.
func Loopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
