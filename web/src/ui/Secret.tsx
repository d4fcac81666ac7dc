import { useState } from "react";
import { catalogue } from "../base/words/catalogue";
import { Button } from "./Button";
import { Copy } from "./Copy";
import { Dialog } from "./Dialog";
import { Checkbox } from "./Field";
import css from "./Secret.module.css";

const words = catalogue("shell.secret", {
	once: "You can see this only once. Store it where your program reads it.",
	stored: "I have stored it",
	done: "Done",
	copy: "Copy",
});

/** Secret shows a secret once, and closes only when it is said to be stored. */
export function Secret({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
	const [stored, setStored] = useState(false);
	return (
		<Dialog
			title={title}
			mustAnswer
			onClose={onClose}
			onSubmit={() => stored && onClose()}
			footer={
				<Button type="submit" variant="primary" disabledReason={stored ? undefined : words.once}>
					{words.done}
				</Button>
			}
		>
			<p>{words.once}</p>
			<div className={css.secret}>
				<code>{secret}</code>
				<Copy text={secret} subject={title}>
					{words.copy}
				</Copy>
			</div>
			<Checkbox label={words.stored} checked={stored} onChange={setStored} />
		</Dialog>
	);
}
