import { AlertTriangle, Check, CircleDashed, CircleDot, X } from "lucide-react";
import type { ReactNode } from "react";
import { type Kind, stateOf, type Tone } from "../base/words/status";
import css from "./Badge.module.css";

const icons: { [T in Tone]: typeof Check } = {
	neutral: CircleDashed,
	progress: CircleDot,
	success: Check,
	warning: AlertTriangle,
	danger: X,
};

/** Badge shows a word with a tone, by colour and by icon. */
export function Badge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
	const Icon = icons[tone];
	return (
		<span className={`${css.badge} ${css[tone]}`} title={title}>
			<Icon aria-hidden size={12} strokeWidth={2.5} />
			{children}
		</span>
	);
}

/** StateBadge shows a state of the API in words. */
export function StateBadge({ kind, state }: { kind: Kind; state: string }) {
	const shown = stateOf(kind, state);
	return (
		<Badge tone={shown.tone} title={shown.sentence}>
			{shown.word}
		</Badge>
	);
}
