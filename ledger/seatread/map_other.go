//go:build !unix

package seatread

import "os"

// mapFile maps nothing: pages are read one by one.
func mapFile(*os.File) (mem []byte, unmap func(), err error) { return nil, func() {}, nil }
