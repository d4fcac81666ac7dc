package legible

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func checked(html string) string {
	var all []string
	for _, f := range Check(html) {
		all = append(all, f.String())
	}
	return strings.Join(all, "\n")
}

func TestTextWithTooLittleContrast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want string }{
		"nothing":                   {"", ""},
		"black on white":            {"<p>a</p>", ""},
		"grey on white":             {`<p style="color:#999">Hello &amp; you</p>`, `the text "Hello & you" is #999999 on #ffffff, a contrast of 2.8 to 1: at least 4.5 is needed`},
		"in capital letters":        {`<P STYLE="COLOR: #999 !IMPORTANT">a</P>`, `the text "a" is #999999 on #ffffff, a contrast of 2.8 to 1: at least 4.5 is needed`},
		"just enough":               {`<p style="color:#767676">a</p>`, ""},
		"just too little":           {`<p style="color:#777777">a</p>`, `the text "a" is #777777 on #ffffff, a contrast of 4.4 to 1: at least 4.5 is needed`},
		"large":                     {`<p style="color:#777;font-size:24px">a</p><h2 style="color:#777">b</h2>`, ""},
		"bold":                      {`<p style="color:#777;font:bold 14pt/1.5 Arial">a</p><b style="color:#777;font-size:18px">b</b>`, `the text "b" is #777777 on #ffffff, a contrast of 4.4 to 1: at least 4.5 is needed`},
		"large and still too light": {`<h1 style="color:#aaa">a</h1>`, `the text "a" is #aaaaaa on #ffffff, a contrast of 2.3 to 1: at least 3 is needed`},
		"inherited":                 {`<div style="background:#222"><table><tr><td><b>a</b></td></tr></table></div>`, `the text "a" is #000000 on #222222, a contrast of 1.3 to 1: at least 4.5 is needed`},
		"of attributes":             {`<table bgcolor="#EEE"><tr><td><font color="yellow">a</font></td></tr></table>`, `the text "a" is #ffff00 on #eeeeee, a contrast of 1.0 to 1: at least 4.5 is needed`},
		"several of two colours":    {`<p style="color:#999">a</p><p style="color:#999">b</p><p style="color:#999">c</p>`, `the text "a" and 2 more is #999999 on #ffffff, a contrast of 2.8 to 1: at least 4.5 is needed`},
		"transparent":               {`<div style="background-color:rgb(0 0 0 / 10%)"><p style="color:rgba(0,0,0,.3)">a</p></div>`, `the text "a" is #a1a1a1 on #e6e6e6, a contrast of 2.0 to 1: at least 4.5 is needed`},
		"a picture behind it":       {`<div style="background:#000 url('a;b.png')"><p>a</p><p style="background:#fff;color:#eee">b</p></div><td background="x.png" style="color:#fff">c</td>`, `the text "b" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"a gradient":                {`<div style="background-image:linear-gradient(#000, #fff)">a</div>`, ""},
		"a link":                    {`<div style="background:#000"><a href="https://a.org">a</a><a href="x" style="color:inherit">b</a></div>`, "the text \"a\" is #0000ee on #000000, a contrast of 2.2 to 1: at least 4.5 is needed\nthe text \"b\" is #000000 on #000000, a contrast of 1.0 to 1: at least 4.5 is needed"},
		"hidden":                    {`<div style="display:none;color:#fff">a</div><p hidden style="color:#fff">b</p><p style="font-size:1px;color:#fff">c</p><p style="opacity:0;color:#fff">d</p><p style="max-height:0;color:#fff">e</p>`, ""},
		"what is no text":           {`<p style="color:#fff">&nbsp; · &#847;</p><style>p{x:y}</style><!-- a -->`, ""},
		"unknown colours":           {`<p style="color:var(--a)">a</p><p style="color:#12">b</p><p style="background:linear">c</p>`, ""},
		"Liquid":                    {`<p style="color:{{ a }}">a</p><p style="{% if a %}color:#fff{% endif %}">b</p><p {{ c }}>c</p><p style="color:#eee" title="{{ d }}">{{ d }}</p>`, `the text "{{ d }}" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"branches":                  {`{% if a %}<div style="background:#000;color:#fff">{% else %}<div>{% endif %}a</div>b`, ""},
		"not closed":                {`<p style="color:#000;background:#fff">a<p>b<table><tr><td style="background:#000;color:#fff">c<td>d<tr><td>e</table>`, ""},
		"ends without a beginning":  {`</div></p><div style="background:#000;color:#fff"></p>a</div>b`, ""},
		"a style element":           {`<style>.a{color:#999} body{background:#fff}</style><body><p class="a">a</p>`, `the text "a" is #999999 on #ffffff, a contrast of 2.8 to 1: at least 4.5 is needed`},
		"a dark ground in a style":  {`<style>.a{background:#000}</style><p class="a" style="color:#fff">a</p>`, ""},
		"for small screens":         {`<style>@media (max-width:480px){p{color:#fff}}</style><p>a</p>`, ""},
		"dark colours":              {`<style>@media (prefers-color-scheme: dark){ .b{background:#111 !important} } p{margin:0}</style><div class="b"><p>a</p><p style="color:#fff;background:#333">b</p></div>`, `in dark colours the text "a" is #000000 on #111111, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"dark colours that fit":     {`<style>@media screen and (prefers-color-scheme:dark){ .b{background:#111!important} .t{color:#eee!important} }</style><div class="b"><p class="t" style="color:#111">a</p></div>`, ""},
		"hidden by a rule":          {`<style>.preheader{display:none}</style><span class=preheader style="color:#fff">a</span>`, ""},
		"large by a rule":           {`<style>.big{font-size:28px}</style><p class=big style="color:#777">a</p>`, ""},
		"a comment":                 {`<style>/* no @media here */ .a{background:#000} /* { */</style><p class=a style="color:#fff">a</p>`, ""},
		"a comment in a query":      {`<style>@media print{/* } */ p{color:#fff}} .a{color:#eee}</style><p>a</p><b class=a>b</b>`, `the text "b" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"a picture and a colour":    {`<table><td background="a.jpg" bgcolor="#7bceeb" style="color:#fff">a</td></table><p style="background:url(a.jpg) center;background-color:#7bceeb;color:#fff">b</p>`, ""},
		"a picture that is none":    {`<p style="background:url(a.jpg);background:#fff;color:#eee">b</p>`, `the text "b" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"for both schemes":          {`<meta name="color-scheme" content="light dark"><style>@media (prefers-color-scheme:dark){.t{color:#eee!important}}</style><p class=t>a</p><a href=x>b</a>c`, ""},
		"for both schemes in CSS":   {`<style>:root{color-scheme:light dark}@media (prefers-color-scheme:dark){.t{color:#eee!important}}</style><p class=t>a</p>`, ""},
		"for one scheme":            {`<style>@media (prefers-color-scheme:dark){.t{color:#eee!important}}</style><p class=t>a</p>`, `in dark colours the text "a" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"for screens":               {`<style media="screen">.a{background:#000}</style><style>@media screen{.b{background:#000}}</style><p class=a style="color:#fff">a</p><p class=b style="color:#fff">b</p>`, ""},
		"for paper and screens":     {`<style media="print, screen">.a{background:#000}</style><p class=a style="color:#fff">a</p>`, ""},
		"for paper":                 {`<style media="print">.a{color:#eee}</style><p class=a>a</p>`, ""},
		"kept":                      {`<style data-embed>.a{background:#000}</style><p class=a style="color:#fff">a</p>`, ""},
		"rules with Liquid":         {`<style>{% if a %}.a{background:#000}{% endif %}</style><p class=a style="color:#fff">a</p>`, ""},
		"rules for all":             {`<style>*{background:#000}</style><p style="color:#fff">a</p>`, ""},
		"rules that count":          {`<style>td:nth-child(2){background:#000}</style><table><tr>{% if a %}<td>a{% endif %}<td style="color:#fff">b</table>`, ""},
		"rules for the pointer":     {`<style>a:hover{color:#000} *{margin:0}</style><p style="color:#eee">a</p>`, `the text "a" is #eeeeee on #ffffff, a contrast of 1.1 to 1: at least 4.5 is needed`},
		"of the body":               {`<body bgcolor="#000" text="#fff" link="yellow">a<a href=x>b</a></body>`, ""},
		"bold by a number":          {`<p style="color:#777;font:700 20px Arial">a</p>`, ""},
		"wholly transparent":        {`<p style="color:rgba(0,0,0,0)">a</p>`, ""},
		"hidden in other ways":      {`<p style="display:none ! important;color:#fff">a</p><p style="height:0;overflow:hidden;color:#fff">b</p>`, ""},
	} {
		if got := checked(c.html); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestAPartMayStandOnAnyBackground(t *testing.T) {
	t.Parallel()
	found := CheckPart(`<p style="color:#fff">a</p><div style="background:#fff"><p style="color:#eee">b</p></div>`)
	if len(found) != 1 || found[0].Text != "b" {
		t.Errorf("found %+v", found)
	}
}

func TestTextsAreFoundAgain(t *testing.T) {
	t.Parallel()
	found := Check("<p>a</p><div hidden>b</div><p>\n  b\n c</p><p style='color:#eee'>b</p>")
	want := []Finding{{Text: "b", Source: "b", Nth: 1, Front: "#eeeeee", Back: "#ffffff", Ratio: 1.1, Least: 4.5}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A mail of 1 MB is read to its end, however it is written: what costs its square would end the tests.
func TestLargeMailsAreRead(t *testing.T) {
	t.Parallel()
	for _, piece := range map[string]string{
		"texts": `<p style="color:#999">a</p>`, "open": "<div style='color:#999'>", "closed": "</b>", "cells": "<td>a<tr>", "deep cells": "<div><td>", "brackets": "<", "styles": "<style>p{color:red}</style>",
		"queries": "<style>@media (prefers-color-scheme:dark){a{color:red}</style>", "branches": "{% if a %}<b>{% else %}", "paragraphs in what is open": strings.Repeat("<b>", 400) + strings.Repeat(`<p style="a">x`, 70_000), "declarations": `<p style="` + strings.Repeat("color:red;(", 1000) + `">`,
	} {
		Check(strings.Repeat(piece, 1<<20/len(piece)))
	}
	if got := Check(strings.Repeat(" ", maxBytes) + `<p style="color:#fff">a</p>`); got != nil {
		t.Errorf("more than is read: %v", got)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`<div style="background:#222;color:rgba(1,2,3,.4)"><p>a</p></div>`, `<style>@media (prefers-color-scheme:dark){.a{color:#fff!important}} p{color:#999}</style><p class=a>b`,
		`{% if a %}<td bgcolor=red>{% else %}<td>{{ b }}{% endif %}</td>`, `<p style="font:bold 2em/1 x;color:#999;font-size:150%;background:url(;)">a<h1>b`, `<p style='color:#9`, `<style>@media{`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, html string) {
		for _, found := range Check(html) {
			if found.Ratio < 1 || found.Ratio >= found.Least || found.Text == "" || !strings.Contains(html, found.Source) {
				t.Errorf("%+v in %q", found, html)
			}
		}
	})
}
