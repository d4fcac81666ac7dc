import { equals, holds, type Tests } from "../../base/testing";
import { asAddress, isAddress } from "./address";
import { line, mjmlText, richText } from "./allowed";
import { pastedMarkup, pastedText } from "./paste";
import { read } from "./read";
import { write } from "./write";

const pasted = (html: string) => pastedMarkup(html, richText);

/** What Word puts around the paragraphs that are copied. */
const ofWord = (body: string) => `<html xmlns:o="urn:schemas-microsoft-com:office:office"
xmlns:w="urn:schemas-microsoft-com:office:word" xmlns="http://www.w3.org/TR/REC-html40">
<head><meta http-equiv=Content-Type content="text/html; charset=utf-8"><meta name=Generator content="Microsoft Word 15">
<link rel=File-List href="file:///C:/Users/A/clip_filelist.xml"><title>A plan</title>
<!--[if gte mso 9]><xml><o:OfficeDocumentSettings><o:AllowPNG/></o:OfficeDocumentSettings></xml><![endif]-->
<style><!-- @font-face {font-family:"Cambria Math"; panose-1:2 4 5 3 5 4 6 3 2 4;} p.MsoNormal {mso-style-unhide:no; margin:0cm;} --></style>
<!--[if gte mso 10]><style> table.MsoNormalTable {mso-style-name:"Normal";} </style><![endif]--></head>
<body lang=DE style='tab-interval:35.4pt;word-wrap:break-word'><!--StartFragment-->${body}<!--EndFragment--></body></html>`;

const wordParagraph = (content: string, name = "p") =>
	`\n\n<${name} class=MsoNormal style='margin-bottom:0cm;line-height:normal'><span lang=EN-US\nstyle='font-size:12.0pt;font-family:"Times New Roman",serif;mso-ansi-language:EN-US'>${content}<o:p></o:p></span></${name}>`;

const wordItem = (marker: string, content: string, level = 1) =>
	`\n\n<p class=MsoListParagraphCxSpMiddle style='text-indent:-18.0pt;mso-list:l0 level${level} lfo1'><![if !supportLists]><span\nstyle='font-family:Symbol;mso-fareast-font-family:Symbol'><span style='mso-list:Ignore'>${marker}<span\nstyle='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;&nbsp; </span></span></span><![endif]><span lang=EN-US>${content}<o:p></o:p></span></p>`;

const tests: Tests = {
	"Word leaves paragraphs, headings, lists, bold, italic and links"() {
		const document = ofWord(
			[
				wordParagraph("Our&nbsp;plan", "h1"),
				wordParagraph("Dear <b\nstyle='mso-bidi-font-weight:normal'>all</b>, <i>please</i> read\nthis."),
				wordParagraph("&nbsp;"),
				wordItem("·", "One"),
				wordItem("o", "Inner", 2),
				wordItem("·", 'See <a href="https://x.test/?a=1&amp;b=2"><span style="color:blue">the page</span></a>'),
				wordItem("1.", "First"),
				wordItem("2.", "Second"),
				wordParagraph("5&nbsp;km, page<br clear=all style='page-break-before:always'> end"),
				"<p class=MsoNormal><!--[if gte vml 1]><v:shape><v:imagedata src='file:///C:/a.png'/></v:shape><![endif]--><![if !vml]><img width=9 src='file:///C:/a.png'><![endif]></p>",
			].join(""),
		);
		equals(
			pasted(document),
			"<h1>Our plan</h1><p>Dear <strong>all</strong>, <em>please</em> read this.</p>" +
				'<ul><li>One<ul><li>Inner</li></ul></li><li>See <a href="https://x.test/?a=1&amp;b=2">the page</a></li></ul>' +
				"<ol><li>First</li><li>Second</li></ol><p>5&nbsp;km, page end</p>",
		);
	},
	"a long document of Word leaves what it says"() {
		let body = "";
		for (let i = 0; i < 60; i++) body += wordParagraph(`Paragraph <b>${i}</b>`) + wordItem("·", `Item ${i}`);
		const source = pasted(ofWord(body));
		equals(source.match(/<p>/g)?.length, 60, "paragraphs");
		holds(source.endsWith("<p>Paragraph <strong>59</strong></p><ul><li>Item 59</li></ul>"), "the last item is there");
		holds(!/mso|style|class|<span|<!/i.test(source), "nothing of Word is left");
		equals(write(read(source)), source, "what is read of it");
	},
	"Google Docs leaves the same"() {
		equals(
			pasted(
				`<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1"><h2 dir="ltr" style="line-height:1.38"><span style="font-size:16pt;font-weight:400">Title</span></h2><p dir="ltr"><span style="font-weight:400">A </span><span style="font-weight:700;font-style:italic">b</span><span style="font-weight:400"> c</span><span style="text-decoration:line-through">d</span></p><br><ul style="margin:0"><li dir="ltr" aria-level="1"><p dir="ltr" role="presentation"><span>One</span></p></li><ul><li aria-level="2"><p><span>Two</span></p></li></ul></ul><p><a href="https://www.google.com/url?q=https://x.test/a%3Fb%3Dc&amp;sa=D"><span style="color:#15c;text-decoration:underline">link</span></a></p></b>`,
			),
			'<h2>Title</h2><p>A <strong><em>b</em></strong> c<s>d</s></p><ul><li>One<ul><li>Two</li></ul></li></ul><p><a href="https://x.test/a?b=c">link</a></p>',
		);
	},
	"pages leave their text without what is hidden, run or drawn"() {
		const cases: [html: string, want: string][] = [
			["<div>a<div>b</div>c</div>", "<p>a</p><p>b</p><p>c</p>"],
			["<p>a</p><script>x()</script><style>y</style><!-- z --><noscript>n</noscript>", "<p>a</p>"],
			['<span style="display:none">tracker</span>a', "a"],
			['<p onclick="x()" class="y" id="z" style="color:red">a</p>', "<p>a</p>"],
			['<img src="data:image/png;base64,AAAA"><p>a<img src="https://x.test/a.png"></p>', "<p>a</p>"],
			["<table><tr><td>a</td><td>b</td></tr></table>", "<p>a</p><p>b</p>"],
			["<p>a<br>b<br/>c<br></p>", "<p>a<br/>b<br/>c</p>"],
			["<pre>a\n  b</pre>", "<p>a<br/>b</p>"],
			["a&nbsp;b &nbsp; c 10&nbsp;% d&nbsp;!", "a b c 10&nbsp;% d&nbsp;!"],
			["<p> </p><p>&nbsp;</p><div><br></div>", ""],
			["<p>a &lt;b&gt; &amp; c</p>", "<p>a &lt;b&gt; &amp; c</p>"],
			["<h5>a</h5><h1><b>b</b></h1>", "<p>a</p><h1>b</h1>"],
			["<ol><li>a</li><li><ul><li>b</li></ul></li></ol>", "<ol><li>a<ul><li>b</li></ul></li></ol>"],
			["<b>a</b><b> </b><b>b</b>", "<strong>a b</strong>"],
			["<a href='javascript:x()'>a</a> <a href=' java\nscript:x()'>b</a> <a href='data:text/html,x'>c</a>", "a b c"],
			["<a href='//x.test/a'>a</a>", '<a href="https://x.test/a">a</a>'],
			["<a href='https://x.test/%7B%7B%20id%20%7D%7D'>a</a>", '<a href="https://x.test/{{ id }}">a</a>'],
			["<a href='#_ftn1'>1</a>", "1"],
		];
		for (const [html, want] of cases) equals(pasted(html), want, html);
	},
	"Liquid in what is pasted is code, whatever a word processor made of it"() {
		const cases: [html: string, want: string][] = [
			["<p>Hi {{ first_name | default: “there” }}!</p>", '<p>Hi {{ first_name | default: "there" }}!</p>'],
			["<p>Hi {{ <span lang=EN>first_name</span>&nbsp;}}</p>", "<p>Hi {{ first_name }}</p>"],
			["<p>{% if a &lt; b %}c &lt; d{% endif %}</p>", "<p>{% if a < b %}c &lt; d{% endif %}</p>"],
		];
		for (const [html, want] of cases) equals(pasted(html), want, html);
		const chips: string[] = [];
		read(pastedText("Hi {{ a }} and {{ b }}", richText)).descendants((node) => {
			if (node.type.name === "liquid") chips.push(node.attrs.src);
		});
		equals(chips, ["{{ a }}", "{{ b }}"], "chips");
	},
	"text has paragraphs between empty lines"() {
		equals(pastedText("a\r\nb\r\n\r\n\r\nc <d> & e", richText), "<p>a<br/>b</p><p>c &lt;d&gt; &amp; e</p>");
		equals(pastedText(" \n\n", richText), "");
		equals(pastedText(" and more ", richText), " and more ", "a part of a sentence");
	},
	"only what the place allows is pasted"() {
		const html = "<h1>a</h1><ul><li>b<br>c</li></ul><p><u>d</u></p>";
		equals(pastedMarkup(html, mjmlText), "<h1>a</h1><ul><li>b<br/>c</li></ul><p><u>d</u></p>");
		equals(pastedMarkup(html, line), "a b c <u>d</u>");
		equals(pastedText("a\nb\n\nc", line), "a b c");
	},
	"links lead where the server lets them"() {
		for (const good of ["https://x.test", "MAILTO:a@x.test", "tel:1", "#top", "{{ url }}", "{{ url }}/a?b=c:d"])
			holds(isAddress(good), good);
		for (const bad of ["javascript:x", "java\tscript:x", "{{ a }}:x", "{{ a", "x.test", "data:,", "", "https:"])
			holds(!isAddress(bad), `not ${bad}`);
		equals(["x.test/a", "x.test/?a={{ b }}", "a@x.test", "//x.test", "{{ a }}", "javascript:x", "hm"].map(asAddress), [
			"https://x.test/a",
			"https://x.test/?a={{ b }}",
			"mailto:a@x.test",
			"https://x.test",
			"{{ a }}",
			"javascript:x",
			"hm",
		]);
	},
};

export default tests;
