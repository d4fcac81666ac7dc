import { ChevronDown, ChevronRight } from "lucide-react";
import { createContext, type ReactNode, useContext, useId } from "react";
import { Card } from "../../ui/Page";
import css from "./Composer.module.css";

/** Reveal opens a section of the composer and puts the focus on one of its fields. */
export const Reveal = createContext<(section: string, path?: string) => void>(() => undefined);

/** useReveal returns the function that opens a section. */
export const useReveal = () => useContext(Reveal);

/** focusField puts the focus on the field with a path in a section, else on the first field of it. */
export function focusField(section: string, path?: string) {
	const part = document.getElementById(section);
	if (!part) return;
	part.scrollIntoView({
		block: "start",
		behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
	});
	const fields = [...part.querySelectorAll<HTMLElement>("[data-path]")];
	const target =
		path &&
		(fields.find((field) => field.dataset.path === path) ??
			fields.find((field) => path.startsWith(field.dataset.path ?? " ")));
	const first = part.querySelector<HTMLElement>(
		":scope > div input, :scope > div select, :scope > div textarea, :scope > div button",
	);
	const field =
		target &&
		(target.matches("input, select, textarea, button, a")
			? target
			: target.querySelector<HTMLElement>("input, select, textarea, button"));
	(field || first)?.focus({ preventScroll: true });
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
