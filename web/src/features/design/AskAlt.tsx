import { useEffect, useRef, useState } from "react";
import type { AssetRow } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { Dialog } from "../../ui/Dialog";
import { Checkbox, TextField } from "../../ui/Field";
import { Callout } from "../../ui/Page";
import { failureOf, store } from "../assets/assets";
import css from "./Images.module.css";

const words = catalogue("design.askAlt", {
	title: "{count, plural, one {Insert image} other {Insert # images}}",
	alt: "Alternative text",
	altOf: "Alternative text of {name}",
	help: "What the image shows, for those who cannot see it.",
	missing: "Describe what the image shows, or mark it as decorative.",
	decorative: "Decorative image",
	decorativeOf: "{name} is decorative",
	public: "Images are public, because recipients' mail programs load them.",
	insert: "Insert",
	refused: "{count, plural, one {# file cannot be used} other {# files cannot be used}}",
});

/** Described is a stored image with its alternative text. */
export type Described = AssetRow & { alt: string };

type Props = {
	/** Images as they are stored. */
	files: File[];
	/** What is said of other files. */
	refused: string[];
	onDone: (images: Described[]) => void;
	onClose: () => void;
};

/** AskAlt asks for the alternative texts of images, and then stores them. */
export default function AskAlt({ files, refused, onDone, onClose }: Props) {
	const [texts, setTexts] = useState<(string | null)[]>(files.map(() => "")); // null of a decorative one
	const [tried, setTried] = useState(false);
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState("");
	const stored = useRef<AssetRow[]>([]); // after a failure, the others are stored
	const isOpen = useRef(true);
	const [urls, setURLs] = useState<string[]>([]);
	useEffect(() => {
		isOpen.current = true;
		const made = files.map((file) => URL.createObjectURL(file));
		setURLs(made);
		return () => {
			isOpen.current = false;
			for (const url of made) URL.revokeObjectURL(url);
		};
	}, [files]);
	// What is stored has the texts that were sent. A field that is disabled instead would lose the focus.
	const set = (i: number, text: string | null) => !busy && setTexts(texts.map((other, n) => (n === i ? text : other)));
	const insert = async () => {
		setTried(true);
		if (texts.some((text) => text?.trim() === "")) return;
		setBusy(true);
		setProblem("");
		for (const file of files.slice(stored.current.length)) {
			try {
				stored.current.push(await store(file));
				if (!isOpen.current) return;
			} catch (error) {
				setBusy(false);
				return setProblem(failureOf(file, error));
			}
		}
		onDone(stored.current.map((image, i) => ({ ...image, alt: texts[i]?.trim() ?? "" })));
	};
	return (
		<Dialog
			title={words.title({ count: files.length })}
			onClose={onClose}
			onSubmit={() => void insert()}
			submit={{ label: words.insert, busy }}
		>
			{refused.length > 0 && (
				<Callout tone="warning" title={words.refused({ count: refused.length })}>
					{refused.map((sentence, i) => (
						<p key={i}>{sentence}</p>
					))}
				</Callout>
			)}
			{problem && <Callout tone="danger">{problem}</Callout>}
			{files.map((file, i) => {
				const text = texts[i] ?? null;
				const several = files.length > 1;
				return (
					<div key={i} className={css.asked}>
						<img src={urls[i]} alt="" />
						<div>
							<TextField
								label={several ? words.altOf({ name: file.name }) : words.alt}
								help={words.help}
								error={tried && text?.trim() === "" ? words.missing : undefined}
								path={`alt.${i}`}
								value={text ?? ""}
								disabled={text === null}
								readOnly={busy}
								onChange={(next) => set(i, next)}
								autoFocus={i === 0}
								autoComplete="off"
								spellCheck
							/>
							<Checkbox
								label={several ? words.decorativeOf({ name: file.name }) : words.decorative}
								checked={text === null}
								onChange={(decorative) => set(i, decorative ? null : "")}
							/>
						</div>
					</div>
				);
			})}
			<p className={css.hint}>{words.public}</p>
		</Dialog>
	);
}
