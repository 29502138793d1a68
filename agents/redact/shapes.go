package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// shape is one form of credential. The first group of its expression that took
// part in a match is the secret.
type shape struct {
	// words are lower case; without one of them the expression is not tried.
	words []string
	expr  string
	// may, if set, sees from the text up to the end of a word and from what
	// follows whether it is worth the expression.
	may func(upTo, after string) bool
	// near is how far before its word the shape begins at most; 0 is nearby.
	near int
	// far is how far after its word a match has to show itself; 0 is ahead.
	far int
	// genuine, if set, has the last word on a match.
	genuine func(secret string) bool
	re      func() *regexp.Regexp
}

// What may stand before a token: nothing, what is no part of a word, an escape
// of JSON or Go, the end of a terminal's colour.
const before = `(?:^|[^A-Za-z0-9]|\\[nrtbf]|\[[0-9;]*m)`

// What a name and its value have between them, and how a value looks: quoted,
// also within a string of JSON, or bare.
const (
	assigns = `["'\\]{0,4}\s*(?::=|=>|[:=]|\\u003[dD]|%3[dD])\s*`
	value   = `(?:\\{0,3}"([^"\\\n]{4,})|\\{0,3}'([^'\\\n]{4,})|([^\s"'` + "`" + `\\,;&|<>(){}\[\]]{4,}))`
	secrets = `(?:api|access|secret|private|auth|account|encryption|signing|shared)[_-]?key|secret|token|password|passwd|passphrase|pwd|credentials?`
)

var secretWords = []string{"key", "secret", "token", "password", "passwd", "passphrase", "pwd", "credential"}

var shapes = []*shape{
	{
		words: []string{
			"sk-", "xai-", "gsk_", "hf_", "r8_", "pplx-", "nvapi-", "tvly-", "sgp_", "aiza", "ya29.", "gocspx-", "ghp_", "gho_", "ghu_",
			"ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glagent-", "glsoat-", "xox", "xapp-",
			"_live_", "_test_", "whsec_", "npm_", "pypi-", "sg.", "dop_v1_", "doo_v1_", "shp", "dckr_pat_", "glsa_", "hvs.", "hvb.",
			"age-secret-key-1", "lin_api_", "figd_", "sntrys_", "pmak-", "nrak-", "tskey-", "rubygems_", "atatt3",
		},
		expr: before + `((?:sk-|xai-|gsk_|hf_|r8_|pplx-|nvapi-|tvly-|sgp_|AIza|ya29\.|GOCSPX-|gh[pousr]_|github_pat_|` +
			`gl(?:pat|dt|rt|ptt|cbt|ft|agent|soat)-|xox[a-z]-|xapp-|[srp]k_(?:live|test)_|whsec_|npm_|pypi-|SG\.|do[op]_v1_|shp[a-z]{2}_|` +
			`dckr_pat_|glsa_|hv[sb]\.|AGE-SECRET-KEY-1|lin_api_|figd_|sntrys_|PMAK-|NRAK-|tskey-|rubygems_|ATATT3)[A-Za-z0-9_.=-]{10,})`,
		genuine: random,
		may:     func(_, after string) bool { return run(after, 10) },
	},
	{ // AWS key ids
		words: []string{"akia", "asia", "aroa", "aida", "abia", "acca"},
		may:   func(_, after string) bool { return run(after, 12) },
		expr:  before + `((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,})`,
	},
	{ // JSON web tokens, signed or encrypted
		words: []string{"eyj"},
		may:   func(_, after string) bool { return run(after, 8) },
		expr:  before + `(eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)+)`,
	},
	{ // keys of bots: a number and its secret
		words: []string{":aa"},
		may:   func(_, after string) bool { return run(after, 30) },
		expr:  `[0-9]{8,10}:(AA[A-Za-z0-9_-]{30,})`,
	},
	{
		words: []string{"private key"},
		near:  96,
		expr:  `(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[^-]*-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY[^-]*-----|$))`,
	},
	{
		words: []string{"authorization", "x-api-key", "x-auth-token"},
		expr: `(?i)(?:authorization|x-api-key|x-auth-token)["'\\]{0,4}\s*[:=]\s*["'\\]{0,4}(?:(?:bearer|basic|token|digest|negotiate|apikey)\s+)?` +
			`([^\s"'\\,]{4,})`,
	},
	{
		words: []string{"cookie"},
		expr:  `(?i)(?:set-)?cookie["'\\]{0,4}:\s*["'\\]{0,4}([^\s"'\\][^\n"'\\]{3,})`,
	},
	{
		words:   []string{"bearer"},
		expr:    `(?i)` + before + `bearer["':=\s]+([A-Za-z0-9._~+/=-]{8,})`,
		genuine: random,
	},
	{
		words: []string{"basic"},
		expr:  `(?i)` + before + `basic\s+([A-Za-z0-9+/]{6,}={0,2})`,
		genuine: func(s string) bool {
			b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
			return err == nil && strings.Contains(string(b), ":")
		},
	},
	{ // URLs with a password, or a long name that is a token
		words: []string{"://"},
		near:  32,
		far:   most,
		may:   func(_, after string) bool { return strings.Contains(after[:min(len(after), most)], "@") },
		expr:  `[A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2}(?:[^\s/?#:@"'\\]*:([^\s/?#@"'\\]+)|([^\s/?#:@"'\\]{16,}))@`,
	},
	{
		words:   secretWords,
		may:     func(upTo, after string) bool { return assignment(after) && ofSecret(upTo) },
		expr:    `(?i)(?:` + secrets + `)` + assigns + value,
		genuine: assigned,
	},
	{ // variables of the environment: LICENSE_KEY=…
		words:   []string{"key"},
		near:    64,
		may:     func(upTo, after string) bool { return strings.HasSuffix(upTo, "KEY") && assignment(after) },
		expr:    before + `(?:[A-Z0-9]+_)*KEY` + assigns + value,
		genuine: assigned,
	},
	{ // flags
		words: secretWords,
		may: func(upTo, after string) bool {
			upTo = upTo[max(0, len(upTo)-nearby):]
			return strings.Contains(upTo[strings.LastIndexAny(upTo, " \t\n")+1:], "--") && after != "" && unicode.IsSpace(rune(after[0]))
		},
		expr:    `(?i)--(?:[a-z]+-)*(?:` + secrets + `)\s+` + value,
		genuine: assigned,
	},
	{ // curl -u name:password
		words: []string{"-u", "--user"},
		expr:  `(?:^|\s)(?:-u|--user)[\s=]+["'\\]{0,4}[^\s:"'\\]+:([^\s"'\\]+)`,
	},
}

func init() {
	for _, s := range shapes {
		s.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s.expr) })
	}
}

// keys are what a key is called that is a secret.
var keys = []string{"api", "access", "secret", "private", "auth", "account", "encryption", "signing", "shared"}

// ofSecret reports whether a word that may be "key" is the key of something
// secret.
func ofSecret(upTo string) bool {
	name, ok := strings.CutSuffix(lower(upTo[max(0, len(upTo)-nearby):]), "key")
	if !ok {
		return true
	}
	name = strings.TrimRight(name, "_-")
	return slices.ContainsFunc(keys, func(k string) bool { return strings.HasSuffix(name, k) })
}

// assignment reports whether a value is assigned right after a word.
func assignment(after string) bool {
	after = strings.TrimPrefix(after, "s")
	for n := 0; n < 4 && after != "" && strings.IndexByte(`"'\`, after[0]) >= 0 && !strings.HasPrefix(after, `\u003`); n++ {
		after = after[1:]
	}
	after = strings.TrimLeft(after, " \t\r\n")
	return after != "" && strings.IndexByte(`:=%\`, after[0]) >= 0
}

// run reports whether a text begins with n characters of a token.
func run(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for _, c := range []byte(s[:n]) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '=') {
			return false
		}
	}
	return true
}

// random tells a generated token from words that have a hyphen.
func random(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) || strings.ContainsFunc(s, unicode.IsUpper) || len(s) >= 32
}

// assigned excludes what names a secret without being one.
func assigned(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "none", "undefined", "string", "required", "optional":
		return false
	}
	return !strings.HasPrefix(s, "$") && !strings.HasPrefix(s, mark) && strings.Trim(s, "0123456789.") != ""
}
