import { useState } from "react";
import { catalogue } from "../../../base/words/catalogue";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { Checkbox, TextField } from "../../../ui/Field";
import { asAddress, isAddress } from "../../../ui/richtext/address";
import { ImageField } from "../../assets/ImageField";
import { MergeMenu } from "../../binding/Tokens";
import { refusals } from "../Kept";
import type { Change } from "../../../ui/editor/changeBetween";
import css from "./HtmlPicture.module.css";
import { HtmlText, type Writing } from "./HtmlText";
import { hasAttribute, type Piece, setValues, valueIn } from "./pieces";

const words = catalogue("design.html.dialog", {
	text: "Text",
	link: "Link",
	image: "Image",
	address: "Address",
	alt: "Alternative text",
	altHelp: "For those who do not see the image.",
	decorates: "It is only decoration",
	apply: "Apply",
	done: "Done",
	code: "Open in code",
	editText: "Edit text",
	editLink: "Edit its link",
	wrongLink: "Links start with https://, http://, mailto: or tel:, or with a merge field.",
	wrongImage: "Images start with https:// or http://, or with a merge field.",
});

type Props = {
	html: string;
	/** A link or an image. */
	piece: Piece;
	/** The text of the link, or around it, if that is edited. */
	text: Piece | null;
	apply: (changes: Change[]) => boolean;
	onClose: () => void;
	onText: (text: Piece) => void;
	onLink: (link: Piece) => void;
	onCode: () => void;
};

/** PieceDialog edits the address of a link, or the address and the alternative text of an image. */
export function PieceDialog({ html, piece, text, apply, onClose, ...props }: Props) {
	const isImage = piece.kind === "image";
	const name = isImage ? "src" : "href";
	const before = valueIn(html, piece, name);
	const [address, setAddress] = useState(before);
	const altBefore = valueIn(html, piece, "alt");
	const [alt, setAlt] = useState(altBefore);
	// An empty text is for readers who need none; without one, some programs read the address of the image aloud.
	const [decorates, setDecorates] = useState(altBefore === "" && hasAttribute(piece, "alt"));
	const [error, setError] = useState<string>();
	const [refused, setRefused] = useState(false);
	const link = isImage && piece.around?.kind === "link" ? piece.around : null;
	const change = (value: string) => {
		setAddress(value);
		setError(undefined);
	};
	/** submit applies what was typed, and then goes on; what cannot be applied stays, with the reason. */
	const submit = (then: () => void) => {
		const meant = address === before ? before : asAddress(address);
		if (meant !== before && !isRight(meant, isImage)) return setError(isImage ? words.wrongImage : words.wrongLink);
		const values: { [name: string]: string } = {};
		if (meant !== before) values[name] = meant;
		if (isImage && (decorates || alt !== altBefore)) values.alt = decorates ? "" : alt;
		if (!apply(setValues(html, piece, values))) return setRefused(true);
		then();
	};
	const field = (
		<TextField
			label={words.address}
			path={name}
			value={address}
			onChange={change}
			error={error ?? (refused ? refusals.refused : undefined)}
			autoFocus
			inputMode="url"
			autoComplete="off"
			spellCheck={false}
			placeholder="https://"
			after={<MergeMenu label={words.address} onInsert={(source) => change(address + source)} />}
		/>
	);
	return (
		<Dialog
			title={words[isImage ? "image" : "link"]}
			onClose={onClose}
			submit={{ label: words.apply }}
			onSubmit={() => submit(onClose)}
		>
			<div className={css.fields}>
				{isImage ? <ImageField onChange={change}>{field}</ImageField> : field}
				{isImage && !decorates && (
					<TextField
						label={words.alt}
						help={words.altHelp}
						path="alt"
						value={alt}
						onChange={setAlt}
						after={<MergeMenu label={words.alt} onInsert={(source) => setAlt(alt + source)} />}
					/>
				)}
				{isImage && <Checkbox label={words.decorates} checked={decorates} onChange={setDecorates} />}
				<div className={css.buttons}>
					{!isImage && text && (
						<Button small onClick={() => submit(() => props.onText(text))}>
							{words.editText}
						</Button>
					)}
					{link && (
						<Button small onClick={() => submit(() => props.onLink(link))}>
							{words.editLink}
						</Button>
					)}
					<Button small onClick={() => submit(props.onCode)}>
						{words.code}
					</Button>
				</div>
			</div>
		</Dialog>
	);
}

const isRight = (address: string, isImage: boolean) =>
	isAddress(address) && !(isImage && /^(mailto:|tel:|#)/i.test(address));

/** TextDialog edits a text beside the picture: where that has no room for it, and a text that is edited as its source. */
export function TextDialog({
	writing,
	onClose,
	onCode,
}: {
	writing: Writing;
	onClose: () => void;
	onCode: () => void;
}) {
	return (
		<Dialog
			title={words.text}
			onClose={onClose}
			footer={
				<>
					<Button onClick={onCode}>{words.code}</Button>
					<Button variant="primary" onClick={onClose}>
						{words.done}
					</Button>
				</>
			}
		>
			<HtmlText {...writing} onDone={onClose} />
		</Dialog>
	);
}
