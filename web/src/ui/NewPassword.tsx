import { catalogue } from "../base/words/catalogue";
import { TextField } from "./Field";

const words = catalogue("shell.newPassword", {
	rule: "At least 10 characters. Several unrelated words work best.",
	more: "{count, plural, one {# more character needed.} other {# more characters needed.}}",
	weak: "Weak: easy for a program to guess. Add a word or two.",
	fair: "Fair: one more word would make it strong.",
	strong: "Strong.",
});

const minLength = 10;

/** strength describes a password in words. The server has the last word: it knows the common ones. */
function strength(password: string): string {
	const n = [...password].length;
	if (n === 0) return words.rule;
	if (n < minLength) return words.more({ count: minLength - n });
	// Guesses in bits: characters repeated or in a row add little.
	let steps = 0;
	for (let i = 1; i < n; i++) {
		const distance = Math.abs(password.charCodeAt(i) - password.charCodeAt(i - 1));
		if (distance > 1) steps++;
	}
	const kinds = new Set(password.toLowerCase()).size;
	const entropy = Math.min(steps, kinds * 2) * 2.3;
	return entropy < 20 ? words.weak : entropy < 36 ? words.fair : words.strong;
}

type Props = {
	label: string;
	value: string;
	onChange: (value: string) => void;
	error?: string;
	path?: string;
	help?: string;
	autoFocus?: boolean;
};

/** NewPassword is the field of a password that is being chosen. It says in words how strong it is. */
export function NewPassword({ help, ...props }: Props) {
	return (
		<TextField
			{...props}
			type="password"
			name="new-password"
			autoComplete="new-password"
			help={props.value === "" && help ? help : strength(props.value)}
			required
		/>
	);
}
