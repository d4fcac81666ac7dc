import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { liquid } from "@codemirror/lang-liquid";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, Transaction } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { retryImport } from "../../base/lazy";
import { useBufferedText } from "../../sync/pendingSaves";
import type { CodeProps } from "../Code";

// The editor is in a shadow root: its styles are then adopted style sheets, which the content security
// policy of the page allows.

const colors = HighlightStyle.define([
	{ tag: t.tagName, color: "var(--plot-blue)" },
	{ tag: [t.attributeName, t.propertyName], color: "var(--plot-teal)" },
	{ tag: [t.string, t.attributeValue], color: "var(--success)" },
	{ tag: t.comment, color: "var(--faint)", fontStyle: "italic" },
	{ tag: [t.keyword, t.operatorKeyword, t.controlKeyword], color: "var(--plot-magenta)" },
	{ tag: [t.number, t.bool, t.null], color: "var(--plot-orange)" },
	{ tag: [t.variableName, t.special(t.variableName)], color: "var(--plot-olive)" },
	{ tag: t.invalid, color: "var(--danger)" },
]);

const editorTheme = EditorView.theme({
	"&": { blockSize: "100%", fontSize: "13px", color: "var(--text)", backgroundColor: "var(--surface)" },
	"&.cm-focused": { outline: "none" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
	".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
	".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "0" },
	".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--selected) 50%, transparent)" },
	"&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected) !important" },
	".cm-cursor": { borderInlineStartColor: "var(--text)" },
	".cm-tooltip": { backgroundColor: "var(--raised)", border: "1px solid var(--line)", borderRadius: "6px" },
	".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--selected)", color: "var(--text)" },
	".cm-completionDetail": { color: "var(--muted)" },
	".cm-help, .cm-tooltip.cm-completionInfo": { padding: "8px 12px", maxInlineSize: "320px", fontFamily: "var(--sans)" },
	".cm-help code": { fontFamily: "var(--mono)", fontWeight: "600" },
	".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
	".cm-searchMatch": { backgroundColor: "var(--warning-tint)" },
	".cm-matchingBracket": { backgroundColor: "var(--selected)" },
});

/** Above this many characters the code is not highlighted. */
const maxHighlightedLength = 1_000_000;

/**
 * CodeEditor edits code. Escape, then Tab, leaves it. It reports its text after a pause, or when the editor is
 * left or somebody asks for it with flushEditors: the text of a long document costs too much at each key.
 */
export default function CodeEditor({
	label,
	value,
	onChange,
	language,
	names,
	problems,
	readOnly,
	line,
	insert,
	control,
}: CodeProps) {
	const host = useRef<HTMLDivElement>(null);
	const view = useRef<EditorView | null>(null);
	const editable = useRef(new Compartment());
	const assist = useRef(new Compartment());
	const extras = useRef<typeof import("./extras") | null>(null);
	const latest = useRef(value);
	latest.current = value;
	const text = useBufferedText({
		value,
		read() {
			if (!view.current) return null;
			if (extras.current) return extras.current.textOf(view.current.state);
			// How its lines end is not known yet.
			return latest.current.includes("\r") ? null : view.current.state.doc.toString();
		},
		change: onChange,
		receive(text, isOwn) {
			if (!view.current) return;
			if (extras.current) return extras.current.receive(view.current, text, isOwn);
			const changes = { from: 0, to: view.current.state.doc.length, insert: text };
			view.current.dispatch({ changes, annotations: Transaction.addToHistory.of(false) });
		},
	});
	const known = useRef(names);
	known.current = names;

	// biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; what changes is passed to it below
	useEffect(() => {
		if (!host.current) return;
		const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
		const editorView = new EditorView({
			root,
			parent: root,
			state: EditorState.create({
				doc: value,
				extensions: [
					lineNumbers(),
					history(),
					drawSelection(),
					foldGutter(),
					lintGutter(),
					bracketMatching(),
					closeBrackets(),
					assist.current.of(autocompletion()),
					highlightActiveLine(),
					value.length > maxHighlightedLength || language === "json" ? [] : liquid({ base: html() }),
					syntaxHighlighting(colors),
					editorTheme,
					EditorView.lineWrapping,
					editable.current.of(EditorState.readOnly.of(readOnly ?? false)),
					EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
					keymap.of([
						...closeBracketsKeymap,
						...defaultKeymap,
						...searchKeymap,
						...historyKeymap,
						...foldKeymap,
						...completionKeymap,
					]),
					EditorView.updateListener.of((update) => {
						if (update.docChanged) text.schedule();
					}),
				],
			}),
		});
		view.current = editorView;
		const { doc } = editorView.state;
		// Completion and help of names come after the editor, and what changes it from outside.
		void retryImport(() => import("./extras")).then(
			(module) => {
				if (view.current !== editorView) return;
				extras.current = module;
				if (latest.current.includes("\r"))
					editorView.dispatch({ effects: StateEffect.appendConfig.of(module.lineEnds(latest.current)) });
				if (editorView.state.doc !== doc) text.schedule(); // what was typed meanwhile
				if (control) control.current = module.controlOf(view, text.commit);
				if (!names) return;
				const { source, help } = module.hints(() => known.current ?? [], value.trimStart().startsWith("<mj"));
				editorView.dispatch({
					effects: assist.current.reconfigure([autocompletion({ override: [source], icons: false }), help]),
				});
			},
			() => undefined, // the server has another version, which the page says elsewhere
		);
		return () => {
			editorView.destroy();
			view.current = null;
		};
	}, []);

	useEffect(() => {
		view.current?.dispatch({ effects: editable.current.reconfigure(EditorState.readOnly.of(readOnly ?? false)) });
	}, [readOnly]);

	useEffect(() => {
		const editorView = view.current;
		if (!editorView) return;
		const all = (problems ?? [])
			.filter(
				(problem) => problem.line !== undefined && problem.line >= 1 && problem.line <= editorView.state.doc.lines,
			)
			.map((problem): Diagnostic => {
				const docLine = editorView.state.doc.line(problem.line ?? 1);
				const from = Math.min(docLine.to, docLine.from + Math.max(0, (problem.column ?? 1) - 1));
				return { from, to: docLine.to, severity: problem.severity, message: problem.message };
			});
		editorView.dispatch(setDiagnostics(editorView.state, all));
	}, [problems]);

	useEffect(() => {
		const editorView = view.current;
		if (!editorView || !line || line.at < 1 || line.at > editorView.state.doc.lines) return;
		const to = editorView.state.doc.line(line.at);
		editorView.dispatch({
			selection: { anchor: to.from },
			effects: EditorView.scrollIntoView(to.from, { y: "center" }),
		});
		editorView.focus();
	}, [line]);

	useEffect(() => {
		const editorView = view.current;
		if (!editorView || !insert) return;
		editorView.dispatch(editorView.state.replaceSelection(insert.text), { scrollIntoView: true });
		editorView.focus();
	}, [insert]);

	return <div ref={host} style={{ blockSize: "100%" }} />;
}
