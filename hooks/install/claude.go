package install

import (
	"path/filepath"

	"github.com/tidwall/gjson"
)

// claudeOff looks for the switch that turns every hook of Claude Code off. Of
// the files that set it the nearest one counts.
func claudeOff(j *job) (string, error) {
	files := []string{filepath.Join(j.Home, ".claude", "settings.json")}
	if j.Scope == Project {
		files = append(files,
			filepath.Join(j.root, ".claude", "settings.json"),
			filepath.Join(j.root, ".claude", "settings.local.json"))
	}
	off := ""
	for _, path := range files {
		doc, _, err := read(path, 0)
		if err != nil {
			return "", err
		}
		if v := gjson.GetBytes(doc, "disableAllHooks"); v.Exists() {
			off = ""
			if v.Bool() {
				off = path + ": disableAllHooks"
			}
		}
	}
	return off, nil
}
