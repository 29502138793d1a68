//go:build !unix

package decide

import "io/fs"

// links returns 2, as if every file had another name, where it can't be told:
// then each is compared with the protected ones.
func links(fs.FileInfo) uint64 { return 2 }
