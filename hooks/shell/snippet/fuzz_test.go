package snippet

import (
	"testing"
	"time"
)

// harms are programs that change files. No text after them makes them pass.
var harms = map[string]string{
	"python": "open('f', 'w')\n",
	"node":   "require('fs').rmSync('f');",
	"perl":   "unlink 'f';",
	"ruby":   "File.delete('f')\n",
	"lua":    "os.remove('f')\n",
}

// FuzzSnippet holds what must be true of any program: the judgement ends, and
// soon; and what changes files is seen, whatever follows it.
func FuzzSnippet(f *testing.F) {
	for language := range languages {
		reads, changes := cases(f, language)
		for _, code := range append(reads, changes...) {
			f.Add(language, code)
		}
	}
	f.Fuzz(func(t *testing.T, language, code string) {
		judge, ok := languages[language]
		if !ok {
			return
		}
		begin := time.Now()
		judge(code)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("took %v", took)
		}
		if judge(harms[language] + code) {
			t.Error("what changes files was overlooked")
		}
	})
}
