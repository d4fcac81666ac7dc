import { Check, Copy as CopyIcon } from "lucide-react";
import { useState } from "react";
import { catalogue } from "../base/words/catalogue";
import { Button, IconButton } from "./Button";

const words = catalogue("shell.copy", {
	copy: "Copy {what}",
	copied: "Copied",
	failed: "Copying failed. Select the text and copy it yourself.",
});

/** Copy puts a text on the clipboard. With children it is a button with words. */
export function Copy({ text, subject, children }: { text: string; subject: string; children?: string }) {
	const [state, setState] = useState<"" | "copied" | "failed">("");
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			setState("copied");
		} catch {
			setState("failed");
		}
		setTimeout(() => setState(""), 2000);
	};
	const icon = state === "copied" ? <Check aria-hidden /> : <CopyIcon aria-hidden />;
	return (
		<>
			{children ? (
				<Button small icon={icon} onClick={() => void copy()}>
					{children}
				</Button>
			) : (
				<IconButton small label={words.copy({ what: subject })} icon={icon} onClick={() => void copy()} />
			)}
			<span className="visually-hidden" role="status">
				{state === "copied" ? words.copied : state === "failed" ? words.failed : ""}
			</span>
		</>
	);
}
