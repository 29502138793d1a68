package shell

// gitRules say when a command of git only reads. Refreshing the index is no
// change, and what git's configuration makes it run is the user's; so git must
// read the configuration of a place that an agent can't write, and none from
// the command line.
var gitRules = []rule{
	{
		name: "git-log", of: "git",
		programs: "diff log show whatchanged rev-list diff-tree diff-index diff-files",
		why:      "print; --output names a file, --ext-diff runs a program, merges are done anew among the objects; they look for -- before they read options",
		deny:     "output ext-diff remerge-diff diff-merges", dashes: true,
		reads: "log --oneline -5 -- src", changes: "log -1 --output=f",
	},
	{
		name: "git-list", of: "git",
		programs: "status shortlog describe rev-parse ls-files ls-tree cat-file for-each-ref show-ref name-rev " +
			"merge-base var count-objects check-attr check-ignore check-mailmap check-ref-format range-diff cherry " +
			"stripspace patch-id show-branch verify-commit verify-tag get-tar-commit-id version",
		why:   "print; --output names a file, --ext-diff runs a program",
		deny:  "output ext-diff remerge-diff diff-merges",
		reads: "status --short -- src", changes: "range-diff --output=f a...b",
	},
	{
		name: "git-blame", of: "git", programs: "blame annotate", check: gitBlame, deny: "output ext-diff",
		why:   "print who wrote which line; --output names a file, behind a --, too",
		reads: "blame -L 1,2 src/a.go", changes: "blame --output=f src/a.go",
	},
	{
		name: "git-grep", of: "git", programs: "grep", deny: "O open-files-in-pager ext-grep", value: "efABCm",
		why:   "prints matches; -O opens them in a program",
		reads: "grep -n TODO -- '*.md'", changes: "grep -O./x TODO",
	},
	{
		name: "git-help", of: "git", programs: "help", deny: "w web i info",
		why:   "prints a page; -w and -i open a program",
		reads: "help -a", changes: "help -w log",
	},
	{
		name: "git-fast-export", of: "git", programs: "fast-export", deny: "export-marks import-marks import-marks-if-exists output ext-diff remerge-diff diff-merges",
		why:   "prints the history; its marks are files",
		reads: "fast-export HEAD", changes: "fast-export --export-marks=f HEAD",
	},
	{
		name: "git-fsck", of: "git", programs: "fsck", deny: "lost-found",
		why:   "checks objects; --lost-found writes some down",
		reads: "fsck --no-dangling", changes: "fsck --lost-found",
	},
	{
		name: "git-archive", of: "git", programs: "archive", deny: "o output remote exec", value: "o",
		why:   "prints an archive; -o names a file, --exec a program",
		reads: "archive HEAD", changes: "archive -o a.zip HEAD",
	},
	{
		name: "git-ls-remote", of: "git", programs: "ls-remote", check: gitLsRemote,
		why:   "lists what another repository has; --upload-pack and ext:: run a program",
		reads: "ls-remote --heads origin", changes: "ls-remote --upload-pack=./x origin",
	},
	{
		name: "git-branch", of: "git", programs: "branch", check: gitBranch,
		why:   "lists branches when asked to; a name makes one",
		reads: "branch --contains HEAD", changes: "branch new",
	},
	{
		name: "git-tag", of: "git", programs: "tag", check: gitTag,
		why:   "lists tags when asked to; a name makes one",
		reads: "tag -l 'v*' -n1", changes: "tag v2",
	},
	{
		name: "git-config", of: "git", programs: "config", check: gitConfig,
		why:   "prints settings; a second operand sets one",
		reads: "config --get user.name", changes: "config user.name x",
	},
	{
		name: "git-symbolic-ref", of: "git", programs: "symbolic-ref", check: gitSymbolicRef,
		why:   "prints where a reference leads; a second operand moves it",
		reads: "symbolic-ref --short HEAD", changes: "symbolic-ref HEAD refs/heads/x",
	},
	{
		name: "git-hash-object", of: "git", programs: "hash-object", deny: "w", value: "t",
		why:   "prints a name; -w writes the object",
		reads: "hash-object a", changes: "hash-object -w a",
	},
	{
		name: "git-merge-file", of: "git", programs: "merge-file", check: gitMergeFile,
		why:   "prints a merge with -p; else it rewrites its first operand",
		reads: "merge-file -p a b c", changes: "merge-file a b c",
	},
	{
		name: "git-apply", of: "git", programs: "apply", check: gitApply,
		why:   "shows what a patch would do with --stat or --check",
		reads: "apply --stat a.patch", changes: "apply a.patch",
	},
	{
		name: "git-format-patch", of: "git", programs: "format-patch", check: gitFormatPatch,
		why:   "prints patches with --stdout; else it writes files",
		reads: "format-patch -1 --stdout", changes: "format-patch -1",
	},
	{
		name: "git-dry-run", of: "git", programs: "add rm mv clean prune prune-packed", check: gitDryRun,
		why:   "only show what they would do with -n",
		reads: "clean -nd", changes: "clean -fd",
	},
	{
		name: "git-for-each-repo", of: "git", programs: "for-each-repo", check: gitForEachRepo,
		why:   "runs a command of git in the repositories that a setting lists, which decides",
		reads: "for-each-repo --config=maintenance.repo status", changes: "for-each-repo --config=maintenance.repo gc",
	},
	{
		name: "git-verify", of: "git", programs: "verify-pack show-index column fmt-merge-msg diff-pairs",
		why:   "print what they are given",
		reads: "verify-pack -v .git/objects/pack/a.idx", changes: "verify-pack -v a > b",
	},
	{
		name: "git-interpret-trailers", of: "git", programs: "interpret-trailers", deny: "in-place",
		why:   "prints a message with trailers; --in-place edits it",
		reads: "interpret-trailers --parse a", changes: "interpret-trailers --in-place --trailer x a",
	},
	{
		name: "git-request-pull", of: "git", programs: "request-pull", check: gitRequestPull,
		why:   "prints a summary; ext:: runs a program",
		reads: "request-pull v1 https://example.org/a main", changes: "request-pull v1 ext::./x",
	},
	{
		name: "git-replace", of: "git", programs: "replace", check: func(_ *judge, c *call) bool { return c.list("l list", "format", "") },
		why:   "lists replacements",
		reads: "replace -l", changes: "replace a b",
	},
	{
		name: "git-commit-graph", of: "git", programs: "commit-graph multi-pack-index", check: gitGroup, commands: "verify",
		why:   "verify a file; their other commands write it",
		reads: "commit-graph verify", changes: "commit-graph write",
	},
	{
		name: "git-remote", of: "git", programs: "remote", check: gitGroup, commands: "-,show,get-url",
		why:   "prints with no command or show or get-url; its other commands write",
		reads: "remote -v", changes: "remote add a ../b",
	},
	{
		name: "git-worktree", of: "git", programs: "worktree", check: gitGroup, commands: "list",
		why:   "prints with list; its other commands write",
		reads: "worktree list --porcelain", changes: "worktree remove ../wt",
	},
	{
		name: "git-stash", of: "git", programs: "stash", check: gitGroup, commands: "list,show", deny: "output ext-diff remerge-diff diff-merges",
		why:   "prints with list or show; its other commands write",
		reads: "stash list", changes: "stash drop",
	},
	{
		name: "git-notes", of: "git", programs: "notes", check: gitGroup, commands: "-,list,show",
		why:   "prints with no command, list or show; its other commands write",
		reads: "notes list", changes: "notes add -m x",
	},
	{
		name: "git-submodule", of: "git", programs: "submodule", check: gitGroup, commands: "-,status,summary",
		why:   "prints with no command or status or summary; its other commands write",
		reads: "submodule status", changes: "submodule update",
	},
	{
		name: "git-reflog", of: "git", programs: "reflog", check: gitGroup, commands: "-,show,list,exists", deny: "output ext-diff remerge-diff diff-merges",
		why:   "prints with no command or show or list or exists; its other commands write",
		reads: "reflog show", changes: "reflog expire --all",
	},
	{
		name: "git-bisect", of: "git", programs: "bisect", check: gitGroup, commands: "log",
		why:   "prints with log; its other commands write",
		reads: "bisect log", changes: "bisect start",
	},
	{
		name: "git-rerere", of: "git", programs: "rerere", check: gitGroup, commands: "status,diff,remaining",
		why:   "prints with status or diff or remaining; its other commands write",
		reads: "rerere status", changes: "rerere clear",
	},
	{
		name: "git-bundle", of: "git", programs: "bundle", check: gitGroup, commands: "list-heads,verify",
		why:   "prints with list-heads or verify; its other commands write",
		reads: "bundle verify a.bundle", changes: "bundle create a.bundle HEAD",
	},
	{
		name: "git-sparse-checkout", of: "git", programs: "sparse-checkout", check: gitGroup, commands: "list",
		why:   "prints with list; its other commands write",
		reads: "sparse-checkout list", changes: "sparse-checkout set src",
	},
}
