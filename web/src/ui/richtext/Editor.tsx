import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Code } from "../Code";
import { useFixed } from "../Locked";
import { type Allowed, richText } from "./allowed";
import type { Names } from "./chips";
import css from "./RichText.module.css";
import type { RichTextProps } from "./RichText";
import { Toolbar } from "./Toolbar";
import { chips, createView, documentOf, replaceDocument } from "./view";

const words = catalogue("editor.richText", {
	leave: "Tab indents lists. Press Escape, then Tab, to leave the text.",
	loses: "This text contains code that formatted editing would change. Edit its source.",
});

export const keeps = (value: string, allowed: Allowed) => documentOf(value, allowed) !== null;

const unnamed: Names = () => undefined;

/** Editor edits a text with its formatting. One that this would change elsewhere is edited as its source. */
export function Editor(props: RichTextProps) {
	const { label, value, onChange, allowed = richText, inline, look, undoes = true, names = unnamed, mergeMenu } = props;
	const readOnly = useFixed() || (props.readOnly ?? false);
	const [asksForSource, setAsksForSource] = useState(false);
	const place = useRef<HTMLDivElement>(null);
	const link = useRef<HTMLButtonElement>(null);
	const view = useRef<EditorView | null>(null);
	const [state, setState] = useState<EditorState | null>(null);
	const latest = useRef({ ...props, readOnly });
	latest.current = { ...props, readOnly };
	const edited = useRef<string | null>(null);
	const hint = useId();
	// Over another place, Escape alone leaves.
	const holdsTab = allowed.lists && !inline && !readOnly;
	latest.current.describedBy = [props.describedBy, holdsTab && hint].filter(Boolean).join(" ") || undefined;
	const isKept = value === edited.current || keeps(value, allowed);
	const isSource = asksForSource || !isKept;

	// biome-ignore lint/correctness/useExhaustiveDependencies: the view is made once; what changes is passed to it below
	useLayoutEffect(() => {
		const doc = isSource ? null : documentOf(value, allowed);
		if (!place.current || !doc) return;
		edited.current = value;
		const editor = createView(place.current, {
			doc,
			allowed,
			names,
			undoes,
			editable: () => !latest.current.readOnly,
			attributes: () => attributesOf(latest.current),
			actions: {
				link: () => link.current?.click(),
				done: props.onDone && (() => latest.current.onDone?.()),
			},
			changed(editor, source) {
				setState(editor.state);
				if (source === null || source === edited.current) return;
				edited.current = source;
				latest.current.onChange(source);
			},
		});
		view.current = editor;
		setState(editor.state);
		if (props.autoFocus) editor.focus();
		return () => {
			view.current = null;
			editor.destroy();
			setState(null);
		};
	}, [isSource, allowed]);

	useEffect(() => {
		if (!view.current || value === edited.current) return;
		const doc = documentOf(value, allowed);
		if (!doc) return;
		edited.current = value;
		replaceDocument(view.current, doc);
	}, [value, allowed]);

	useEffect(() => {
		view.current?.setProps({ nodeViews: chips(names) });
	}, [names]);

	// biome-ignore lint/correctness/useExhaustiveDependencies: the attributes of the view follow these
	useEffect(() => {
		view.current?.setProps({});
	}, [readOnly, label, props.describedBy, props.invalid]);

	return (
		<div className={inline ? css.inline : css.editor} data-bad={props.invalid || undefined}>
			{!readOnly && (
				<Toolbar
					label={label}
					allowed={allowed}
					view={isSource ? null : view.current}
					state={state}
					undoes={undoes}
					link={link}
					mergeMenu={mergeMenu}
					palettes={props.palettes}
					isSource={isSource}
					onSource={isKept ? setAsksForSource : undefined}
				/>
			)}
			{isSource ? (
				<div id={props.id} tabIndex={-1} data-path={props.path} className={css.source}>
					{!isKept && <p className={css.note}>{words.loses}</p>}
					<Code label={label} value={value} onChange={onChange} readOnly={readOnly} />
				</div>
			) : (
				<div ref={place} className={css.place} style={look} />
			)}
			{holdsTab && !isSource && (
				<p id={hint} className={css.hint}>
					{words.leave}
				</p>
			)}
		</div>
	);
}

/** The attributes of the element that is edited. */
function attributesOf({ id, label, path, describedBy, invalid, readOnly, allowed }: RichTextProps) {
	const attributes: { [name: string]: string } = {
		class: css.area ?? "",
		role: "textbox",
		"aria-label": label,
		tabindex: "0",
	};
	if (!allowed?.isLine) attributes["aria-multiline"] = "true";
	if (id) attributes.id = id;
	if (path) attributes["data-path"] = path;
	if (describedBy) attributes["aria-describedby"] = describedBy;
	if (invalid) attributes["aria-invalid"] = "true";
	if (readOnly) attributes["aria-readonly"] = "true";
	return attributes;
}
