package transport

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// What an agent says of its failure is read in this order: a status that has a
// field of its own, then the text of its error message, then the last error on
// its standard error. What it says in an answer is never read.

// classOfStatus is the class of a status of HTTP, "" if the status tells none.
// 500 is none: the same request may well fail the same way elsewhere.
func classOfStatus(status int) string {
	switch status {
	case 429:
		return RateLimited
	case 502, 503, 504, 529:
		return Unavailable
	case 401, 403:
		return Auth
	}
	return ""
}

// classOfType is the class of an error's type, as the providers name them.
func classOfType(kind string) string {
	switch kind {
	case "rate_limit_error", "rate_limit_exceeded", "usage_limit_reached", "insufficient_quota":
		return RateLimited
	case "overloaded_error", "server_overloaded":
		return Unavailable
	case "authentication_error", "permission_error", "ProviderAuthError":
		return Auth
	}
	return ""
}

// later compiles an expression when it is first asked for: satelle starts more often
// than an agent fails.
func later(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// statusInText finds a status where an error message names one as such; a bare
// number is none.
var statusInText = later(`(?i)(?:\b(?:status|status[ _]?code|http|http_status|last status|api error)\b\W{1,5}|\()([45]\d\d)\b|` +
	`\b([45]\d\d) (?:too many requests|unauthorized|forbidden|bad gateway|service unavailable|gateway timeout|overloaded)`)

var phrases = []struct {
	class string
	found func() *regexp.Regexp
}{
	{RateLimited, later(`(?i)\brate[ _-]?limit|too many requests|\busage limit|\bquota\b|resource[ _]exhausted|\bhit your .{0,20}limit`)},
	{Unavailable, later(`(?i)\boverloaded|service unavailable|(?:currently|temporarily) unavailable|bad gateway|gateway time-?out|\bat capacity\b|` +
		`connection refused|\beconnrefused\b|stream disconnected|error sending request`)},
	{Auth, later(`(?i)not (?:signed|logged) in|\bunauthorized\b|invalid api key|authentication (?:required|failed|error)|please run /?\w* ?login`)},
}

// classOfText is the class of an error message, [Failed] if it tells none.
func classOfText(text string) string {
	text = clip(text)
	if m := statusInText().FindStringSubmatch(text); m != nil {
		status, _ := strconv.Atoi(m[1] + m[2]) // one of them is empty
		if class := classOfStatus(status); class != "" {
			return class
		}
		return Failed
	}
	for _, p := range phrases {
		if p.found().MatchString(text) {
			return p.class
		}
	}
	return Failed
}

const (
	// maxMessage bounds what a Failure quotes.
	maxMessage = 2 << 10
	// lastLines is how much of standard error is quoted where no error is marked.
	lastLines = 10
)

var (
	colours   = later("\x1b\\[[0-9;]*m")
	errorMark = later(`(?i)^(?:api )?error\b`)
)

// lastError is the error that a process ended with, from its standard error:
// what follows the last line that begins as one. What stands above is a log,
// which may quote anything, the work item and the model's thoughts included.
func lastError(stderr string) string {
	if marked, ok := markedError(stderr); ok {
		return marked
	}
	stderr = strings.ToValidUTF8(colours().ReplaceAllString(stderr, ""), "\uFFFD")
	if strings.Contains(stderr, "\nsession id: ") && strings.Contains(stderr, "\n--------\n") {
		return "" // a transcript, in which thoughts are not marked
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return clip(strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}

// markedError is what follows the last line that begins as an error.
func markedError(output string) (string, bool) {
	output = strings.ToValidUTF8(colours().ReplaceAllString(output, ""), "\uFFFD")
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if errorMark().MatchString(lines[i]) {
			return clip(strings.Join(lines[i:], "\n")), true
		}
	}
	return "", false
}

// clip bounds what is quoted, at a whole character.
func clip(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}
