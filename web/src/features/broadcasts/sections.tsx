import { ChevronDown, ChevronRight } from "lucide-react";
import { createContext, type ReactNode, useContext, useId } from "react";
import { Card } from "../../ui/Page";
import { fieldAt, focusField, type Place } from "../../ui/focusField";
import css from "./Composer.module.css";

/** Reveal opens a section of the composer, or shows its preview, and puts the focus on a field, or on a place in its text. */
export const Reveal = createContext<(section: string, path?: string, place?: Place) => void>(() => undefined);

/** useReveal returns the function that opens a section. */
export const useReveal = () => useContext(Reveal);

/** focusSection puts the focus on the field with a path in a section, else on the first field of it. */
export function focusSection(section: string, path?: string, place?: Place) {
	const part = document.getElementById(section);
	const first = part?.querySelector<HTMLElement>(
		":scope > div input, :scope > div select, :scope > div textarea, :scope > div button",
	);
	const field = (path && part && fieldAt(part, path)) || first;
	if (field) focusField(field, place);
	else part?.scrollIntoView();
}

/** Section is a part of the composer. Folded, it is one sentence. */
export function Section({
	id,
	title,
	summary,
	open,
	onOpen,
	children,
}: {
	id: string;
	title: string;
	summary: ReactNode;
	open: boolean;
	onOpen: (open: boolean) => void;
	children: ReactNode;
}) {
	const body = useId();
	return (
		<Card
			id={id}
			title={
				<button
					type="button"
					className={css.fold}
					aria-expanded={open}
					aria-controls={body}
					onClick={() => onOpen(!open)}
				>
					{open ? <ChevronDown aria-hidden size={16} /> : <ChevronRight aria-hidden size={16} />}
					{title}
				</button>
			}
			actions={!open && <span className={css.summary}>{summary}</span>}
		>
			<div id={body} hidden={!open} className={css.section}>
				{children}
			</div>
		</Card>
	);
}
