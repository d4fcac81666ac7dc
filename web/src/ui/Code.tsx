import { type RefObject, Suspense } from "react";
import type { PreviewProblem } from "../api/schema";
import { lazyComponent } from "../base/lazy";
import { catalogue } from "../base/words/catalogue";
import css from "./Code.module.css";
import type { CodeControl } from "./editor/control";
import { useFixed } from "./Locked";

const words = catalogue("shell.code", {
	leave: "Press Escape, then Tab, to leave the editor",
	help: "Ctrl+Space completes, F1 explains",
});

const CodeEditor = lazyComponent(() => import("./editor/CodeEditor"));

/** Name is something that code may name, for completion and help. */
export type Name = {
	kind: "parameter" | "section" | "item" | "slot" | "field";
	name: string;
	label?: string | null;
	help?: string | null;
	section?: string;
};

export type { CodeControl };

export type CodeProps = {
	label: string;
	value: string;
	onChange: (value: string) => void;
	language?: "markup" | "json";
	/** What the code may name: it is completed, and explained. */
	names?: Name[];
	problems?: PreviewProblem[];
	readOnly?: boolean;
	/** A text to insert in place of the selection; a new object inserts again. */
	insert?: { text: string } | null;
	/** A line to go to; a new object goes there again. */
	line?: { at: number } | null;
	/** Gets what changes the text from outside. */
	control?: RefObject<CodeControl | null>;
};

/** Code is a code editor. Until it is loaded it is a plain field with the same text. */
export function Code(props: CodeProps) {
	const label = [props.label, words.leave, props.names && words.help].filter(Boolean).join(". ");
	const readOnly = useFixed() || props.readOnly;
	return (
		<div className={css.code}>
			<Suspense
				fallback={
					<textarea
						aria-label={label}
						value={props.value}
						spellCheck={false}
						readOnly={readOnly}
						onChange={(e) => props.onChange(e.target.value)}
					/>
				}
			>
				<CodeEditor {...props} label={label} readOnly={readOnly} />
			</Suspense>
		</div>
	);
}
