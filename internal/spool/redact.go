package spool

import "strings"

// redacted stands in the place of what looks like a credential.
const redacted = "[redacted]"

// secretNames are parts of names whose values are not for a log.
var secretNames = []string{"key", "token", "secret", "passw", "passphrase", "pwd", "auth", "cred", "cookie", "session", "signature"}

// secretStarts begin tokens of well-known issuers.
var secretStarts = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_", "rk_", "pk_", "xox", "AKIA", "ASIA",
	"eyJ", "hf_", "npm_", "pypi-", "AIza", "ya29.", "dop_v1_", "shpat_", "SG.", "AGE-SECRET-KEY-",
}

// minToken is how long a word has to be to pass for a token of an issuer, and
// maxPlain how long one may be that is a mix of letters and digits.
const (
	minToken = 12
	maxPlain = 32
)

// redact puts a mark in the place of what looks like a credential. It is a
// second net: the spool keeps little of a command in the first place. Of a path
// only what is sure to be one goes.
func redact(s string, path bool) string {
	var b strings.Builder
	carry := false // what was read last says that a secret follows
	for len(s) > 0 {
		n := strings.IndexFunc(s, breaks)
		if n < 0 {
			n = len(s)
		}
		if n == 0 {
			if carry && (s[0] == '"' || s[0] == '\'') && !strings.HasPrefix(s[1:], ":") && !strings.HasPrefix(s[1:], "=") {
				if end := strings.IndexByte(s[1:], s[0]); end > 0 {
					b.WriteString(redacted)
					s, carry = s[end+2:], false
					continue
				}
			}
			carry = carry && strings.IndexByte(" =:\"'", s[0]) >= 0
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		word := s[:n]
		switch lower := strings.ToLower(word); {
		case carry && (lower == "bearer" || lower == "basic"):
			b.WriteString(word)
		case carry:
			b.WriteString(redacted)
			if n = strings.IndexAny(s, " \t\n\"'`;&|<>()"); n < 0 {
				n = len(s)
			}
			carry = false
		case token(word, path), strings.HasPrefix(s[n:], "@") && strings.HasSuffix(b.String(), ":"):
			b.WriteString(redacted) // a token, or the password of a URL
		default:
			b.WriteString(word)
			carry = !path && names(lower, s[n:])
		}
		s = s[n:]
	}
	return b.String()
}

// breaks reports whether a character stands between words.
func breaks(r rune) bool {
	return r < 0x80 && strings.IndexByte(" \t\n\"'`=:,;&|<>()[]{}@/?#\\$", byte(r)) >= 0
}

// names reports whether a word says that a secret follows it.
func names(lower, rest string) bool {
	if lower == "bearer" {
		return true
	}
	option := strings.HasPrefix(lower, "-")
	if !option && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, `":`) {
		return false
	}
	for _, part := range secretNames {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// token reports whether a word looks like a credential by itself.
func token(word string, path bool) bool {
	for _, start := range secretStarts {
		if len(word) >= minToken && strings.HasPrefix(word, start) {
			return true
		}
	}
	if path || len(word) < maxPlain {
		return false
	}
	letter, digit := false, false
	for i := range len(word) {
		c := word[i]
		letter = letter || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		digit = digit || c >= '0' && c <= '9'
	}
	return letter && digit
}
