package nearest

import (
	"cmp"
	"slices"
)

// maxWord bounds what is compared; a longer word is far from everything.
const maxWord = 200

// Word returns the known word with the fewest edits from s, of several the one
// that begins most alike, and the number of edits. Without known words it
// returns "".
func Word(s string, known []string) (word string, edits int) {
	if len(known) == 0 {
		return "", maxWord
	}
	word = slices.MinFunc(known, func(a, b string) int {
		return cmp.Or(distance(s, a)-distance(s, b), alike(s, b)-alike(s, a))
	})
	return word, distance(s, word)
}

// alike is the number of bytes that two words have in common in front.
func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is the number of bytes to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
