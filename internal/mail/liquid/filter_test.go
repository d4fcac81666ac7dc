package liquid_test

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// TestFilters covers what the conformance cases leave open, and our own filters.
func TestFilters(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{`{{ 12.5 | money: "EUR" }}`, "€12.50"},
		{`{{ 12.5 | money: "CHF" }}`, "12.50 CHF"},
		{`{{ "1234.005" | money: "USD" }}`, "$1234.01"},
		{`{{ -3 | money: "GBP" }}`, "-£3.00"},
		{`{{ 1999.5 | money: "JPY" }}`, "¥2000"},
		{`{{ 1.2345 | money: "KWD" }}`, "1.235 KWD"},
		{`{{ -0.001 | money: "EUR" }}`, "€0.00"},
		{`{{ nobody | money: "EUR" }}`, ""},
		{`{{ 1 | pluralize: "item", "items" }} {{ 0 | pluralize: "item", "items" }} {{ "1" | pluralize: "a", "b" }} {{ 1.5 | pluralize: "a", "b" }}`, "item items a b"},
		{`{{ "ann@example.org" | sha256 }}`, "438c4c7afe600cdf1e455c369bec76dc970fc8ca463447c7b387a347f3c79331"},
		{`{{ "a b&c/é" | url_encode }} {{ "a+b%26%zz%" | url_decode }}`, "a+b%26c%2F%C3%A9 a b&%zz%"},
		{`{{ "aGk=" | base64_decode }}`, "hi"},
		{"{{ ' a  b ' | squish }}|{{ 'été' | capitalize }}|{{ 'ÉTÉ' | downcase }}", "a b|Été|été"},
		{"{{ 'hello' | slice: -3, 2 }}{{ 'hello' | slice: 9 }}{{ 'größe' | slice: 1, 3 }}", "llröß"},
		{"{{ 'a<script>x</script>b<style>y</style><!-- z -->c<br>d < e' | strip_html }}", "abcd < e"},
		{"{{ 'a,b,,' | split: ',' | size }} {{ ',a' | split: ',' | size }}", "2 2"},
		{"{{ -7 | divided_by: 2 }} {{ -7 | modulo: 3 }} {{ 7 | divided_by: -2 }}", "-4 2 -4"},
		{"{{ 1.15 | round: 1 }} {{ -2.5 | round }} {{ 1234 | round: -2 }}", "1.2 -3 1200"},
		{"{{ 0.1 | plus: 0.2 }} {{ 3 | times: 1.1 }}", "0.3 3.3"},
		{"{{ 9223372036854775807 | plus: 1 }}", "9223372036854776000.0"},
		{"{{ items | sum: 'price' }} {{ items | map: 'name' | join }}", "15.5 Tea Cup"},
		{"{{ items | sort: 'price' | map: 'name' | join: ' ' }} {{ items | where: 'name', 'Cup' | size }}", "Tea Cup 1"},
		{"{{ tags | first }} {{ tags | reverse | first }} {{ (3..5) | last }}", "garden sports 5"},
		{"{{ vip | default: 'x' }} {{ false | default: 'x', allow_false: true }} {{ tags.nobody | default: age }}", "true false 42"},
	})
}

func TestDates(t *testing.T) {
	t.Parallel()
	check(t, liquid.Text, []example{
		{`{{ signed_up | date: "%d %B %Y %H:%M" }}`, "01 February 2026 00:30"},
		{`{{ signed_up | time_zone: "America/New_York" | date: "%d %B %Y %H:%M %Z" }}`, "31 January 2026 18:30 EST"},
		{`{{ signed_up | time_zone: "america/new york" | date: "%H:%M %Z" }}`, "18:30 EST"},
		{`{{ signed_up }}`, "2026-02-01 00:30:00 +0100"},
		{`{{ birthday }} {{ birthday | date: "%-d %b %y" }}`, "1990-05-17 17 May 90"},
		{`{{ "2026-01-31T23:30:00Z" | date: "%F %T" }}`, "2026-02-01 00:30:00"},
		{`{{ "now" | date: "%Y-%m-%d" }} {{ now | date: "%A" }}`, "2026-03-14 Saturday"},
		{`{{ 0 | date: "%F %z" }} {{ 0 | date: "%:z" }}`, "1970-01-01 +0100 +01:00"},
		{`{{ "soon" | date: "%Y" }} {{ nobody | date: "%Y" }}`, "soon "},
		{`{{ birthday | date: "%e|%_m|%-m|%05d|%^a|%#b|%10A|%j|%u|%U|%W|%V|%G|%C|%s" }}`, "17| 5|5|00017|THU|MAY|  Thursday|137|4|19|20|20|1990|19|642898800"},
		{`{{ "2026-03-14 15:09:26.5" | date: "%I:%M %p %P %l %k %L %N %3N %R %r %D %c %v" }}`, "03:09 PM pm  3 15 500 500000000 500 15:09 03:09:26 PM 03/14/26 Sat Mar 14 15:09:26 2026 14-MAR-2026"},
		{`{{ birthday | date: "100%% %Q %" }}`, "100% %Q %"},
		{`{{ "March 14, 2016" | date: "%F" }} {{ "14.3.2016" | date: "%F" }}`, "2016-03-14 2016-03-14"},
	})
}
