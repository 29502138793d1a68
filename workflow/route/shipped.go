package route

import (
	"embed"
	"io/fs"
)

//go:embed shipped
var shipped embed.FS

// Shipped are the files that a project begins with, by their path under
// .satelle. Their route needs no language model.
func Shipped() map[string][]byte {
	files := map[string][]byte{}
	root, err := fs.Sub(shipped, "shipped")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(root, path)
		return err
	})
	if err != nil {
		panic(err)
	}
	return files
}
