package shell

// Names of the rules of the shell's language.
const (
	ruleRedirect   = "redirect"
	ruleVariable   = "variable"
	ruleFunction   = "function"
	ruleArithmetic = "arithmetic"
	ruleIndirect   = "indirect"
	ruleGlob       = "glob"
	ruleQuote      = "quote"
	ruleComputed   = "computed-program"
	ruleUnknown    = "unknown-program"
	ruleElsewhere  = "git-elsewhere"
	ruleUnparsable = "unparsable"
	ruleTooLong    = "too-long"
	ruleTooDeep    = "too-deep"
	rulePowerShell = "powershell"
)

// language holds the rules of the shell's language, which no program's name
// leads to.
var language = []rule{
	{
		name: ruleRedirect, why: "output into a file creates or changes it; devices that keep nothing are no files",
		reads: "ls 2>/dev/null >&2", changes: "ls > list.txt",
	},
	{
		name: ruleVariable, why: "some variables make a program that reads write, or run another one",
		reads: "LC_ALL=C ls", changes: "GIT_TRACE=/tmp/t git status",
	},
	{
		name: ruleFunction, why: "a function is judged where it is called; one whose name the shell calls by itself, or that calls too deeply, can't be followed",
		reads: "f() { ls; }; f", changes: "command_not_found_handle() { ls; }",
	},
	{
		name: ruleArithmetic, why: "the shell evaluates what a variable holds in arithmetic, commands in subscripts included; only integers may stand there",
		reads: "n=4; (( n >= 2 )) && echo many", changes: `read -r x; echo $(( x ))`,
	},
	{
		name: ruleIndirect, why: "the shell evaluates a name or a prompt that a variable holds, commands included",
		reads: `echo "${x%.md}"`, changes: `echo "${x@P}"`,
	},
	{
		name: ruleGlob, why: "zsh runs code in patterns of this form",
		reads: "ls *.md", changes: "ls @(a|b)",
	},
	{
		name: ruleQuote, why: "shells disagree on where this quote ends",
		reads: `echo $'a\tb'`, changes: `echo $'a\'b'`,
	},
	{
		name: ruleComputed, why: "which program runs is known only at run time",
		reads: "c=ls; $c docs", changes: "$CMD --check",
	},
	{
		name: ruleUnknown, why: "a program that is not listed can do anything, and run what it is given",
		reads: "ls", changes: "./build.sh",
	},
	{
		name: ruleElsewhere, why: "git runs what a repository's configuration says, and an agent may have written the one of another folder",
		reads: "git -C src status", changes: "git -C /tmp/x status",
	},
	{
		name: ruleUnparsable, why: "what can't be parsed can't be judged",
		reads: "echo '('", changes: "echo (",
	},
	{
		name: ruleTooLong, why: "a text is judged within a bounded time: 32 KiB, 1024 commands and 1024 words outside of here-documents",
		reads: "ls", changes: "ls; …", // the dots stand for more of the same
	},
	{
		name: ruleTooDeep, why: "texts within texts, brackets and calls are followed to a bounded depth",
		reads: "sh -c 'sh -c ls'", changes: `sh -c 'sh -c "sh -c \"sh -c \\\"sh -c \\\\\\\"ls\\\\\\\"\\\"\""'`,
	},
	{
		name: rulePowerShell, why: "of PowerShell a pipeline of listed cmdlets is known, and nothing else",
		reads: "Get-ChildItem | Select-Object -First 3", changes: "Remove-Item a",
	},
}
