package decide

import (
	"errors"
	"path"
	"slices"
	"strings"

	"satelle/hooks/dialect"
	"satelle/hooks/shell"
)

// What is written in a tool's input, without knowing what the tool makes of
// it, may be a path or a command. A seat opens such a tool, but not what is
// protected or secret.

var errManyPaths = errors.New("the tool's input names more files than can be looked at")

// commandKeys are the fields under which tools take what they run.
const commandKeys = "command cmd script code shell chars"

// understandStrange reads the input of a tool that nobody knows.
func understandStrange(c dialect.Call, env shell.Env) (Act, error) {
	act := Act{Kind: Strange}
	for _, leaf := range c.Input.Leaves() {
		if listed(commandKeys, strings.ToLower(leaf.Key)) {
			effect := shell.Judge(leaf.Text, env)
			act.Effect.Words = append(act.Effect.Words, effect.Words...)
			act.Effect.Satelle = append(act.Effect.Satelle, guesses(leaf.Text, env)...)
			if act.What == "" {
				act.What = leaf.Text
			}
			if strings.Contains(strings.TrimSpace(leaf.Text), " ") {
				continue
			}
		}
		if pathLike(leaf.Text) {
			act.Maybe = append(act.Maybe, leaf.Text)
		}
	}
	act.Looks = act.Maybe
	if len(act.Maybe) > maxLooks {
		return act, errManyPaths
	}
	return act, nil
}

// guesses are the calls of satelle in a text that something unknown may run.
func guesses(text string, env shell.Env) []shell.Invocation {
	calls := shell.Judge(text, env).Satelle
	for i := range calls {
		calls[i].Guess = true
	}
	return calls
}

// pathLike reports whether a whole text can be the name of a file.
func pathLike(text string) bool {
	return text != "" && len(text) <= 4096 && !strings.ContainsAny(strings.TrimSpace(text), "\n\x00")
}

// prose are the fields of reading tools that name no file.
const prose = "pattern query content output_mode type description prompt"

// otherLooks are further files that a reading tool may be told of: in lists,
// and under keys that this version does not know.
func otherLooks(in dialect.Input, known string) []string {
	var all []string
	for _, leaf := range in.Leaves() {
		if !listed(known, leaf.Key) && !listed(prose, leaf.Key) && pathLike(leaf.Text) && len(all) < maxLooks {
			all = append(all, leaf.Text)
			if name := path.Base(leaf.Text); listed(globKeys, leaf.Key) && strings.Contains(name, "local") {
				all = append(all, ".satelle/"+name)
			}
		}
	}
	return all
}

// otherPaths are further files in the input of an editing tool: in lists of
// edits, and under keys that this version does not know but that speak of
// files. Their content is none.
func otherPaths(in dialect.Input, known string) []string {
	var all []string
	for _, leaf := range in.Leaves() {
		key := strings.ToLower(leaf.Key)
		speaks := strings.Contains(key, "path") || strings.Contains(key, "file")
		if speaks && !listed(fileText, key) && pathLike(leaf.Text) && len(all) < maxLooks {
			all = append(all, leaf.Text)
		}
	}
	if first, err := in.Texts(strings.Fields(known)...); err == nil {
		all = slices.DeleteFunc(all, func(p string) bool { return slices.Contains(first, p) })
	}
	return all
}

// fileText are the fields that hold a file's content.
const fileText = "file_text file_content file_contents filetext filecontent"

// readerTool reports whether the gate counts a tool that nobody knows as
// reading. Grok names the tool of a server a second time, in its input.
func readerTool(c dialect.Call, gate []string) bool {
	if _, known := toolOf(c.Tool); known || !slices.Contains(gate, c.Tool) {
		return false
	}
	inner, named, err := c.Input.Text("tool_name")
	return err == nil && (!named || c.Harness != dialect.Grok || inner == c.Tool)
}

// searches reports whether a reading tool shows the content of all files below
// a folder.
func searches(tool string) bool {
	tool = strings.ToLower(tool)
	return strings.Contains(tool, "grep") || strings.Contains(tool, "search")
}

// globKeys are the fields under which a search takes patterns of file names.
// One that names a file reaches it even where git ignores it.
const globKeys = "glob include includes include_pattern"

// fileURLs are the files that a tool without files of its own is to fetch.
func fileURLs(in dialect.Input) []string {
	var all []string
	for _, leaf := range in.Leaves() {
		if _, ok := fromURL(leaf.Text); ok && pathLike(leaf.Text) && len(all) < maxLooks {
			all = append(all, leaf.Text)
		}
	}
	return all
}

// fromURL returns the path of a file URL, its escapes replaced.
func fromURL(text string) (string, bool) {
	const scheme = "file:"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return "", false
	}
	rest := text[len(scheme):]
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(host, '/')
		if i < 0 {
			return "", false
		}
		rest = host[i:]
	}
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		if rest[i] == '%' && i+2 < len(rest) {
			high, low := hexDigit(rest[i+1]), hexDigit(rest[i+2])
			if high >= 0 && low >= 0 {
				b.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		b.WriteByte(rest[i])
	}
	return b.String(), strings.HasPrefix(rest, "/") && strings.IndexByte(b.String(), 0) < 0
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }
