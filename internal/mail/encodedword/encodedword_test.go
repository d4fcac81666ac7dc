package encodedword_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/encodedword"
)

func TestEncodedWordsAreDecoded(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Hello":                           "Hello",
		"":                                "",
		"=?utf-8?q?Gr=C3=BC=C3=9Fe?=":     "Grüße",
		"=?UTF-8?B?R3LDvMOfZQ==?= an all": "Grüße an all",
		"=?iso-8859-1?Q?caf=E9?= <a@example.org>":    "café <a@example.org>",
		"=?windows-1252?Q?=93quoted=94?=":            "“quoted”",
		"=?koi8-r?B?8NLJ18XU?=":                      "Привет",
		"=?iso-2022-jp?B?GyRCJDMkcyRLJEEkTxsoQg==?=": "こんにちは",
		"=?gb2312?B?xOO6ww==?=":                      "你好",
		"=?utf-8?q?one?= =?utf-8?q?_two?=":           "one two",
		"=?utf-8?q?line=0D=0ABcc:_x?=":               "line\r\nBcc: x",
		"=?x-unknown?q?one?= two":                    "=?x-unknown?q?one?= two",
		"=?utf-8?b?%%%?= two":                        "=?utf-8?b?%%%?= two",
		"a =? b ?= c":                                "a =? b ?= c",
		"=?utf-8*de?q?Hallo?=":                       "=?utf-8*de?q?Hallo?=",
		"=?utf-8?q?" + "=?= =?utf-8?q??=":            "=?utf-8?q?" + "=?= ",
	} {
		if got := encodedword.Decode(value); got != want {
			t.Errorf("Decode(%q) = %q, want %q", value, got, want)
		}
	}
}
