package sqldb_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestTextsAreSortedAsPeopleSort(t *testing.T) {
	want := []string{"", "3M", "Ahlberg", "åkesson", "Åkesson", "AKESSON b", "Ålesund", "Bęc", "bed", "Łódź", "Lodzki", "Müller", "muller b", "Ødegaard", "Oder", "Straße", "strasse b", "Zoë", "Ωmega", "Ярослав", "яша", "张伟"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(sqldb.SortKey(a), sqldb.SortKey(b)) })
	// Texts with the same key keep the order that they had.
	if at := slices.Index(got, "Åkesson"); got[at+1] != "åkesson" {
		t.Errorf("the order is %q", got)
	}
	slices.SortFunc(got, func(a, b string) int { return strings.Compare(sqldb.SortKey(a)+"\x00"+b, sqldb.SortKey(b)+"\x00"+a) })
	if !slices.Equal(got, want) {
		t.Errorf("sorted:\n%q, want\n%q", got, want)
	}
}

// The databases and the program make the same keys, of every letter of the basic plane too.
func TestSortKeysAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		texts := []string{"", " ", "ASCII only", "Ångström & Söhne", "e\u0301", "ÇĞİŞ", "ﬁnance ②", "Ά Ή Ώ", "Ё ё Й", "가나다", "ガ", "İstanbul", "Ǆ", "ẞ", "🙂"}
		var page strings.Builder
		for r := rune(1); r <= 0xffff; r++ {
			if unicode.IsLetter(r) || unicode.IsNumber(r) || r >= 0x300 && r <= 0x36f {
				page.WriteRune('a')
				page.WriteRune(r)
			}
			if page.Len() > 2000 {
				texts = append(texts, page.String())
				page.Reset()
			}
		}
		texts = append(texts, page.String())
		for _, text := range texts {
			var key string
			if err := db.QueryRow(t.Context(), `SELECT `+db.SortText(db.Param(1, "TEXT")), text).Scan(&key); err != nil {
				t.Fatal(err)
			}
			if want := sqldb.SortKey(text); key != want {
				t.Errorf("%.40q: the database has %.80q, want %.80q", text, key, want)
			}
		}
		var null *string
		if err := db.QueryRow(t.Context(), `SELECT `+db.SortText("CAST(NULL AS TEXT)")).Scan(&null); err != nil || null != nil {
			t.Errorf("of null: %v, %v", null, err)
		}
	})
}
