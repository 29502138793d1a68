//go:build !darwin

package place

// canonical returns path. Where file names distinguish case, the components
// that were walked are already the only spelling of the file.
func canonical(_, path string) (string, error) { return path, nil }
