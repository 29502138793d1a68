package shell

import "strings"

// powerReaders are the cmdlets that print, in lower case.
const powerReaders = "get-childitem get-content get-item get-itemproperty get-location get-date get-process get-service get-command get-help get-member " +
	"select-object select-string sort-object measure-object group-object compare-object format-table format-list out-string out-host test-path resolve-path " +
	"split-path join-path convertfrom-json convertto-json write-output write-host dir ls gci cat gc type pwd gl sls select sort measure echo"

// PowerShell tells what a PowerShell command does. It knows a pipeline of
// listed cmdlets with plain words and nothing else of the language.
func PowerShell(text string, env Env) Effect {
	for _, c := range text {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(" ./\\:*?,_-|", c)
		if !plain || len(text) > maxCode {
			return opaque(text, env, rulePowerShell, clip(text))
		}
	}
	eff := Effect{Words: []Word{{Text: text, Dir: env.Dir, Quiet: true}}}
	for _, stage := range strings.Split(text, "|") {
		words := strings.Fields(stage)
		if len(words) == 0 || !allowed(powerReaders, strings.ToLower(words[0])) {
			return opaque(text, env, rulePowerShell, clip(text))
		}
	}
	return eff
}
