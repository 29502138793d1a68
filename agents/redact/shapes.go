package redact

import (
	"encoding/base64"
	"regexp"
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
	// may, if set, sees from what is before and after a word whether it is worth
	// the expression.
	may func(before, after string) bool
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
			`gl(?:pat|dt|rt|ptt|cbt|ft|agent|soat)-|xox[a-z]-|xapp-|[srp]k_(?:live|test)_|whsec_|npm_|pypi-|SG\.|do[po]_v1_|shp[a-z]{2}_|` +
			`dckr_pat_|glsa_|hv[sb]\.|AGE-SECRET-KEY-1|lin_api_|figd_|sntrys_|PMAK-|NRAK-|tskey-|rubygems_|ATATT3)[A-Za-z0-9_.=-]{10,})`,
		genuine: random,
	},
	{ // AWS key ids
		words: []string{"akia", "asia", "aroa", "aida", "abia", "acca"},
		expr:  before + `((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{12,})`,
	},
	{ // JSON web tokens, signed or encrypted
		words: []string{"eyj"},
		expr:  before + `(eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)+)`,
	},
	{ // keys of bots: a number and its secret
		words: []string{":aa"},
		expr:  `[0-9]{8,10}:(AA[A-Za-z0-9_-]{30,})`,
	},
	{
		words: []string{"private key"},
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
		expr:  `[A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2}(?:[^\s/?#:@"'\\]*:([^\s/?#@"'\\]+)|([^\s/?#:@"'\\]{16,}))@`,
	},
	{
		words:   secretWords,
		may:     func(_, after string) bool { return assignment(after) },
		expr:    `(?i)(?:` + secrets + `)` + assigns + value,
		genuine: assigned,
	},
	{ // variables of the environment: LICENSE_KEY=…
		words:   []string{"key"},
		may:     func(_, after string) bool { return assignment(after) },
		expr:    before + `(?:[A-Z0-9]+_)*KEY` + assigns + value,
		genuine: assigned,
	},
	{ // flags
		words: secretWords,
		may: func(before, after string) bool {
			return strings.Contains(before[strings.LastIndexAny(before, " \t\n")+1:], "--") && after != "" && unicode.IsSpace(rune(after[0]))
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

// assignment reports whether a value is assigned right after a word.
func assignment(after string) bool {
	after = strings.TrimPrefix(after, "s")
	for n := 0; n < 4 && after != "" && strings.IndexByte(`"'\`, after[0]) >= 0 && !strings.HasPrefix(after, `\u003`); n++ {
		after = after[1:]
	}
	after = strings.TrimLeft(after, " \t\r\n")
	return after != "" && strings.IndexByte(`:=%\`, after[0]) >= 0
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
