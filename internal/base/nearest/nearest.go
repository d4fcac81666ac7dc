// Package nearest finds what somebody meant who misspelt a name.
package nearest

// Of returns the name that is most like a word, or an empty text if none is like it: at most a third of the
// word's characters differ. Of several, it returns the first.
func Of(word string, names []string) string {
	best, least := "", len([]rune(word))/3+1
	for _, n := range names {
		if d := distance([]rune(word), []rune(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns how many characters must be inserted, deleted, replaced or swapped with the next to make b
// of a (the distance of Damerau and Levenshtein, with each part changed once).
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := 1
			if a[i-1] == b[j-1] {
				changed = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
