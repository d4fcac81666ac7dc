import { history } from "prosemirror-history";
import { type Command, EditorState, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { equals, holds, type Tests } from "../../base/testing";
import { line, mjmlText, richText } from "./allowed";
import { chipText, outputOf } from "./chips";
import { sliceOf } from "./clipboard";
import {
	clearFormats,
	hasSeveral,
	insertLiquid,
	linkHere,
	look,
	removeLink,
	setLink,
	setLook,
	toggleFormat,
} from "./formats";
import { keys, pressName, typedLiquid } from "./keys";
import { toggleList } from "./lists";
import { alignment, blockName, setAlignment, setBlock } from "./paragraphs";
import { documentOf } from "./view";
import { write } from "./write";

/** A text that is edited without a page. "[" and "]" in its source are around the selection; "|" is the cursor. */
class Text {
	state: EditorState;
	done = 0;

	constructor(source: string, allowed = richText) {
		const doc = documentOf(source.replace(/[[\]|]/g, ""), allowed);
		if (!doc) throw new Error(`${source} is not edited`);
		const marked = documentOf(source, allowed);
		const places: number[] = [];
		marked?.descendants((node, at) => {
			for (const { index } of (node.text ?? "").matchAll(/[[\]|]/g)) places.push(at + index - places.length);
		});
		const plugins = [history(), keys(allowed, { link: () => undefined, done: () => this.done++ })];
		const selection = TextSelection.create(doc, places[0] ?? 1, places[1] ?? places[0] ?? 1);
		this.state = EditorState.create({ doc, selection, plugins });
	}

	private get view() {
		const dispatch = (tr: EditorState["tr"]) => {
			this.state = this.state.apply(tr);
		};
		return { state: this.state, dispatch, endOfTextblock: () => true } as unknown as EditorView;
	}

	run(command: Command) {
		command(this.state, this.view.dispatch);
		return this;
	}

	press(name: string) {
		const shiftKey = name.startsWith("Shift-");
		const ctrlKey = name.includes("Mod-");
		const key = name.replace(/^.*-/, "");
		const event = { key, keyCode: 0, shiftKey, ctrlKey, altKey: false, metaKey: false } as KeyboardEvent;
		for (const plugin of this.state.plugins) plugin.props.handleKeyDown?.call(plugin, this.view, event);
		return this;
	}

	type(text: string) {
		const { from, to } = this.state.selection;
		if (!typedLiquid(this.view, from, to, text)) this.view.dispatch(this.state.tr.insertText(text, from, to));
		return this;
	}

	paste(source: string) {
		this.view.dispatch(this.state.tr.replaceSelection(sliceOf(source)));
		return this;
	}

	get source() {
		return write(this.state.doc);
	}
}

const tests: Tests = {
	"an empty text begins with a paragraph, and ends as it began"() {
		equals(new Text("").type("a").source, "<p>a</p>");
		equals(new Text("", mjmlText).type("a").source, "a");
		equals(new Text("<p>|a</p>").press("Delete").source, "<p>a</p>", "the page deletes a letter");
		equals(new Text("<p>[a]</p>").press("Backspace").source, "");
		equals(new Text("", line).type("a").source, "a");
	},
	"a selection with several looks has none in common, and a look that is set leaves the others"() {
		const text = new Text('<p>[<span style="color:#ff0000">a</span><span style="font-size:20px">b</span>]</p>');
		equals([look(text.state, "color"), hasSeveral(text.state, "color")], ["", true]);
		const now = text.run(setLook("font-size", "30px"));
		equals(
			[hasSeveral(now.state, "font-size"), look(now.state, "font-size"), hasSeveral(now.state, "color")],
			[false, "30px", true],
		);
		holds(now.source.includes("#ff0000"), "the colour of a part is gone");
	},
	"Enter splits paragraphs and items"() {
		equals(new Text("<p>ab|c</p>").press("Enter").source, "<p>ab</p><p>c</p>");
		equals(
			new Text("<p align=right>ab|</p>").press("Enter").type("c").source,
			"<p align=right>ab</p><p align=right>c</p>",
		);
		equals(new Text("<h1>ab|</h1>").press("Enter").type("c").source, "<h1>ab</h1><p>c</p>");
		equals(new Text("ab|c", mjmlText).press("Enter").source, "<p>ab</p><p>c</p>");
		equals(new Text("<p>ab|</p>").press("Enter").press("Enter").type("c").source, "<p>ab</p><p><br/></p><p>c</p>");
		equals(new Text("<p>a|b</p>").press("Shift-Enter").source, "<p>a<br/>b</p>");
		equals(new Text("<ul>\n<li>a|b</li>\n</ul>").press("Enter").source, "<ul>\n<li>a</li>\n<li>b</li>\n</ul>");
		equals(
			new Text("<ul><li>a|</li></ul>").press("Enter").press("Enter").type("b").source,
			"<ul><li>a</li></ul><p>b</p>",
		);
		equals(new Text("<ul><li>a</li><li>|b</li></ul>").press("Backspace").source, "<ul><li>a</li></ul><p>b</p>");
		equals(new Text("a|b", line).press("Enter").source, "ab");
		equals(new Text("a|b", line).press("Enter").done, 1);
	},
	"Tab nests items, Escape lets it go"() {
		const list = "<ol><li>a</li><li>b|</li></ol>";
		const nested = "<ol><li>a<ol><li>b</li></ol></li></ol>";
		equals(new Text(list).press("Tab").source, nested);
		equals(new Text(list).press("Tab").press("Shift-Tab").source, list.replace("|", ""));
		equals(new Text(list).press("Escape").press("Tab").source, list.replace("|", ""));
		equals(new Text(list).press("Tab").press("Mod-z").source, list.replace("|", ""));
	},
	"lists are made, changed and taken away"() {
		equals(new Text("<p>[a</p><p>b]</p>").run(toggleList("ul")).source, "<ul><li>a</li><li>b</li></ul>");
		equals(new Text("\n<p>[a</p>\n<p>b]</p>\n").run(toggleList("ul")).source, "\n<ul><li>a</li>\n<li>b</li></ul>\n");
		equals(new Text("<ul class=x><li>a|</li></ul>").run(toggleList("ol")).source, "<ol class=x><li>a</li></ol>");
		equals(new Text("<ul><li>a|</li></ul>").run(toggleList("ul")).source, "<p>a</p>");
	},
	"formats are set on what lacks them, and taken from all"() {
		equals(new Text("<p>a[b <i>c]</i></p>").press("Mod-b").source, "<p>a<strong>b <i>c</i></strong></p>");
		equals(new Text("<p><b>a</b>[b]</p>").press("Mod-b").source, "<p><b>a</b><strong>b</strong></p>");
		equals(new Text("<p><b>[ab</b>c]</p>").press("Mod-b").source, "<p><b>ab</b><strong>c</strong></p>");
		equals(new Text("<p><b>a[b]c</b></p>").press("Mod-b").source, "<p><b>a</b>b<b>c</b></p>");
		equals(new Text("<p>a|</p>").press("Mod-i").type("b").press("Mod-i").type("c").source, "<p>a<em>b</em>c</p>");
		equals(new Text("<p>[a {{ b }}]</p>").press("Mod-u").source, "<p><u>a {{ b }}</u></p>");
		const all = '<p>[<b><i>a</i></b> <span style="color: red">b</span> <a href="https://x.test">c</a> &copy;]</p>';
		equals(new Text(all).run(clearFormats).source, '<p>a b <a href="https://x.test">c</a> &copy;</p>');
		equals(new Text("<p>[a]</p>").run(toggleFormat("strike")).source, "<p><s>a</s></p>");
	},
	"links are set, changed and removed"() {
		const linked = '<p><a href="https://x.test">a</a></p>';
		equals(new Text("<p>[a]</p>").run(setLink("x.test")).source, linked);
		equals(new Text("<p>a|</p>").run(setLink("x.test")).source, '<p>a<a href="https://x.test">https://x.test</a></p>');
		equals(
			new Text("<p><a target=_blank href='https://y.test'>a|b</a></p>").run(setLink("{{ u }}?a=1&b")).source,
			'<p><a target=_blank href="{{ u }}?a=1&amp;b">ab</a></p>',
		);
		equals(new Text(linked.replace(">a<", ">a|<")).run(removeLink).source, "<p>a</p>");
		equals(linkHere(new Text(linked.replace(">a<", ">|a<")).state)?.address, "https://x.test");
		equals(new Text(linked.replace(">a<", ">a|<")).type("b").source, `${linked.slice(0, -4)}b</p>`);
		equals(
			new Text("<p>[a]</p>").run(setLink('{{ u | default: "x" }}')).source,
			`<p><a href='{{ u | default: "x" }}'>a</a></p>`,
		);
	},
	"paragraphs become headings and are aligned, and keep what else their tags say"() {
		equals(new Text("<p class=x>a|</p>").run(setBlock("h2")).source, "<h2 class=x>a</h2>");
		equals(new Text("a|", mjmlText).run(setBlock("h1")).source, "<h1>a</h1>");
		equals(new Text("<h1>a|</h1>", mjmlText).run(setBlock("")).source, "a");
		equals(new Text("<p>a|").run(setBlock("h1")).source, "<h1>a</h1>");
		equals(new Text("<p>a|</p>").run(setAlignment("center")).source, '<p style="text-align: center">a</p>');
		equals(new Text("<p align='left' id=x>a|</p>").run(setAlignment("right")).source, '<p align="right" id=x>a</p>');
		equals(
			new Text("<p style='color: red; text-align: center'>a|</p>").run(setAlignment(null)).source,
			'<p style="color: red">a</p>',
		);
		const two = new Text("<p align=center>[a</p><h1>b]</h1>");
		equals([blockName(two.state), alignment(two.state)], [null, null]);
	},
	"a part of a text has a color and a size"() {
		const red = '<p>a<span style="color: red">b</span></p>';
		equals(new Text("<p>a[b]</p>").run(setLook("color", "red")).source, red);
		equals(new Text(red.replace(">b<", ">[b]<")).run(setLook("color", null)).source, "<p>ab</p>");
		const both = new Text(red.replace(">b<", ">[b]<")).run(setLook("font-size", "20px")).run(setLook("color", "blue"));
		equals([look(both.state, "color"), look(both.state, "font-size")], ["blue", "20px"]);
	},
	"Liquid that is typed or chosen is one piece"() {
		const typed = new Text("<p>a|</p>").type(" {{ b }").type("}");
		equals(typed.source, "<p>a {{ b }}</p>");
		equals(typed.state.doc.firstChild?.lastChild?.type.name, "liquid");
		equals(typed.type(" < {% if c < d %}x").source, "<p>a {{ b }} &lt; {% if c < d %}x</p>");
		equals(new Text("<p><b>a|</b></p>").run(insertLiquid("{{ c }}")).source, "<p><b>a{{ c }}</b></p>");
		equals(outputOf("{{ contact.first_name | default: 'you' }}"), { path: "contact.first_name", fallback: "you" });
		equals(outputOf("{{ a | upcase }}"), null);
		const names = (path: string) => (path === "a" ? "Field" : undefined);
		equals(
			["{{ a }}", "{{ a | upcase }}", "{% if x %}", "<!-- y -->", '<img alt="A cup" src=x>'].map(
				(s) => chipText(s, names).name,
			),
			["Field", "a | upcase", "if x", "<!-- y -->", "🖼 A cup"],
		);
	},
	"what is pasted goes where the cursor is"() {
		equals(new Text("<p>a|d</p>").paste("b <b>c</b>").source, "<p>ab <b>c</b>d</p>");
		equals(new Text("<p>a|</p>").paste(" b ").source, "<p>a b </p>");
		equals(new Text("<p>a|d</p>").paste("<p>b</p><p>c</p>").source, "<p>ab</p><p>cd</p>");
		equals(new Text("").paste("<ul><li>a</li><li>b</li></ul>").source, "<ul><li>a</li><li>b</li></ul>");
		equals(
			new Text("<ul><li>a|</li></ul>").paste("<p>b</p><p>c</p>").source.replace(/<\/?p>/g, ""),
			"<ul><li>abc</li></ul>",
		);
	},
	"keys have the same names on all keyboards"() {
		const none = { keyCode: 0, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };
		equals(pressName({ ...none, key: "B", shiftKey: true, ctrlKey: true }, false), "Shift-Mod-b");
		equals(pressName({ ...none, key: "и", keyCode: 66, metaKey: true }, true), "Mod-b");
		equals(pressName({ ...none, key: "h", ctrlKey: true }, true), "Ctrl-h");
		equals(pressName({ ...none, key: "Enter", keyCode: 13 }, true), "Enter");
	},
	"a line has no paragraphs"() {
		holds(documentOf("a <b>b</b> {{ c }}", line) !== null, "a line is edited");
		for (const source of ["<p>a</p>", "a<ul><li>b</li></ul>", "a<div>b</div>"])
			holds(documentOf(source, line) === null, `${source} is edited as source`);
	},
};

export default tests;
