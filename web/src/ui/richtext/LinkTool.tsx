import { Link as LinkIcon } from "lucide-react";
import type { Command, EditorState } from "prosemirror-state";
import { type RefObject, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { Button } from "../Button";
import { TextField } from "../Field";
import { Popup } from "../Popup";
import { asAddress, isAddress } from "./address";
import { linkHere, removeLink, setLink } from "./formats";
import css from "./RichText.module.css";
import type { RichTextProps } from "./RichText";

const words = catalogue("editor.link", {
	link: "Link",
	address: "Address",
	set: "Set link",
	remove: "Remove link",
	wrong: "Links start with https://, http://, mailto: or tel:, or with a merge field.",
});

type Props = {
	state: EditorState;
	run: (command: Command, close?: () => void) => void;
	trigger: RefObject<HTMLButtonElement | null>;
	mergeMenu: RichTextProps["mergeMenu"];
};

/** LinkTool sets and removes the link of the selection. */
export function LinkTool({ state, run, trigger, mergeMenu }: Props) {
	return (
		<Popup
			label={words.link}
			buttonLabel={words.link}
			button={<LinkIcon aria-hidden size={16} />}
			className={css.tool}
			pressed={linkHere(state) !== null}
			triggerRef={trigger}
		>
			{(close) => <LinkForm state={state} run={run} close={close} mergeMenu={mergeMenu} />}
		</Popup>
	);
}

type FormProps = Omit<Props, "trigger"> & { close: () => void };

function LinkForm({ state, run, close, mergeMenu }: FormProps) {
	const here = linkHere(state);
	const [address, setAddress] = useState(here?.address ?? "");
	const [error, setError] = useState<string>();
	return (
		<form
			className={css.panel}
			onSubmit={(event) => {
				event.preventDefault();
				event.stopPropagation();
				if (!isAddress(asAddress(address))) setError(words.wrong);
				else run(setLink(address), close);
			}}
		>
			<TextField
				label={words.address}
				value={address}
				onChange={(value) => {
					setAddress(value);
					setError(undefined);
				}}
				error={error}
				autoFocus
				inputMode="url"
				autoComplete="off"
				placeholder="https://"
				after={mergeMenu?.(words.address, (source) => setAddress(address + source))}
			/>
			<div className={css.actions}>
				{here && (
					<Button small onClick={() => run(removeLink, close)}>
						{words.remove}
					</Button>
				)}
				<Button small variant="primary" type="submit">
					{words.set}
				</Button>
			</div>
		</form>
	);
}
