package shell

import "strings"

// inert reports whether a variable with this value changes nothing of what
// other programs do to files: it may be set for any of them.
func inert(variable string, value word) bool {
	switch variable {
	case "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR",
		"CI", "DEBUG", "VERBOSE", "FOO", "BAR", "LS_COLORS", "TIME_STYLE", "BLOCK_SIZE", "QUOTING_STYLE", "GREP_COLOR", "GREP_COLORS", "MANWIDTH",
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_LITERAL_PATHSPECS", "GH_NO_UPDATE_NOTIFIER":
		return true
	case "PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER", "SYSTEMD_PAGER", "DELTA_PAGER", "BAT_PAGER":
		return value.known && (value.text == "" || value.text == "cat")
	}
	return strings.HasPrefix(variable, "LC_") && variable != "LC_"
}

// dangerous reports whether a variable may make a shell or a program that only
// reads do something else. Names in lower case are the text's own, but for
// those that zsh ties to the ones in upper case.
func dangerous(variable string) bool {
	switch variable {
	case "path", "cdpath", "fpath", "module_path", "mailpath", "manpath", "psvar", "argv", "nullcmd", "readnullcmd", "precmd", "preexec", "chpwd":
		return true
	case "PATH", "IFS", "ENV", "HOME", "CDPATH", "PWD", "OLDPWD", "PS4", "EDITOR", "VISUAL", "BROWSER", "TMPDIR", "GLOBIGNORE",
		"SHELL", "SHELLOPTS", "NULLCMD", "READNULLCMD", "FPATH", "ZDOTDIR", "FIGNORE", "EXECIGNORE", "TERMCAP", "GZIP", "CLASSPATH",
		"LOCPATH", "NLSPATH", "SKIP", "HUSKY", "TERMINFO":
		return true
	}
	if strings.HasPrefix(variable, "npm_config_") || strings.HasSuffix(variable, "_functions") { // the latter zsh calls
		return true
	}
	if strings.ToUpper(variable) != variable {
		return false
	}
	for _, prefix := range [...]string{
		"BASH", "LD_", "DYLD_", "GIT_", "SSH_", "LESS", "MAN", "PYTHON", "NODE", "NPM_", "PERL", "RUBY", "GEM_", "LUA", "JAVA", "_JAVA",
		"RIPGREP_", "GREP_", "TAR_", "ZIP", "UNZIP", "XZ_", "BAT_", "FZF_", "CURL_", "DOCKER_", "KUBE", "GH_", "GO", "CARGO_", "RUST",
		"XDG_", "SATELLE_", "PROMPT", "HIST", "GCONV_", "MALLOC_", "GLIBC_", "OPENSSL_", "SSL", "AWK", "POSIX", "SYSTEMD_", "JQ_",
		"RSYNC_", "HELM_", "TF_", "BUN_", "DENO_", "GETCONF_", "SUNPRO_", "DEPENDENCIES_", "DEBUGINFOD_", "GCC_", "GROFF_", "REDISCLI_", "CLAUDE_", "CODEX_", "GROK_", "AWS_", "PIP_", "HOMEBREW_", "APT_", "DPKG_", "COMP_", "DIFF_", "PRE_COMMIT", "LEFTHOOK",
	} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	for _, suffix := range [...]string{"PAGER", "EDITOR", "OPTS", "OPTIONS", "FLAGS", "_CONFIG", "_PATH", "_COMMAND", "PREFIX"} {
		if strings.HasSuffix(variable, suffix) {
			return true
		}
	}
	return false
}

// gitVariable reports whether a variable points git at another configuration,
// and so past its hooks.
func gitVariable(variable string) bool {
	switch variable {
	case "GIT_DIR", "GIT_COMMON_DIR", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "HUSKY", "SKIP":
		return true
	}
	return strings.HasPrefix(variable, "GIT_CONFIG")
}

// namedAfterProgram reports whether a variable bears the name of a listed
// program, which will look for its options there once it is exported.
func namedAfterProgram(variable string) bool {
	name, _, _ := strings.Cut(variable, "_")
	return name == strings.ToUpper(name) && lookup("", strings.ToLower(name)) != nil
}
