import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { catalogue } from "../../base/words/catalogue";
import { useFixed } from "../../ui/Locked";
import type { ListedChoice } from "../../ui/aria/ChoiceList";
import { firstUnset, type Part, partAt, type Piece } from "./pieces";
import { type Control, PartButton } from "./PartButton";
import css from "./Sentence.module.css";

const words = catalogue("rules.sentence", { more: "Add to the condition" });

/** PartProblem is what is wrong at a path in a condition. */
export type PartProblem = { path: string; message: string };

type Props = {
	pieces: Piece[];
	control: (id: string) => Control;
	problems?: PartProblem[];
	/** The sentence was just added: what has to be chosen first opens by itself. */
	isNew?: boolean;
	/** A part that is shown as an icon before the sentence. */
	lead?: { part: Part; icon: ReactNode };
	/** What can be added to the sentence, and what adds it and returns the part to open. */
	more?: ListedChoice[];
	onMore?: (id: string) => string;
	/** The id of the element around all that belongs to the sentence. */
	of?: string;
};

/** What opens once the list or panel that is open has closed: a part, or the first that has to be chosen yet. */
type Next = { part: string } | { after: string | null };

/** Sentence is a sentence whose parts are changed in place, with what is wrong with them below it. */
export function Sentence({ pieces, control, problems = [], isNew = false, lead, more = [], onMore, of }: Props) {
	const id = useId();
	const isFixed = useFixed();
	const line = useRef<HTMLDivElement>(null);
	const [open, setOpen] = useState<string | null>(null);
	const [next, setNext] = useState<Next | null>(isNew && !isFixed ? { after: null } : null);
	useEffect(() => {
		if (!next || open) return;
		setNext(null);
		const unset = "part" in next ? next.part : firstUnset(pieces);
		const after = "part" in next ? null : next.after;
		const button = (part: string | null | undefined) =>
			part ? line.current?.querySelector<HTMLElement>(`[data-part="${part}"]`) : null;
		const target = button(unset === after ? null : unset);
		// What closes gives the focus back to its part, unless that has gone.
		if (target) {
			target.focus();
			setOpen(unset ?? null);
		} else if (after && !button(after)) button("more")?.focus();
	}, [next, open, pieces]);

	const messages = [...new Set(problems.map((problem) => problem.message))];
	const problemsOf = (part: string) =>
		problems.filter((problem) => partAt(pieces, problem.path) === part).map((problem) => problem.message);
	const idOf = (message: string) => `${id}-${messages.indexOf(message)}`;
	const close = () => setOpen(null);
	const done = (from: string) => {
		setOpen(null);
		setNext({ after: from });
	};
	const button = (part: Part, icon?: ReactNode) => {
		const own = problemsOf(part.id);
		return (
			<PartButton
				key={part.id}
				part={part}
				icon={icon}
				control={control(part.id)}
				error={own[0]}
				describedBy={own.map(idOf).join(" ") || undefined}
				isOpen={open === part.id}
				of={of}
				onOpen={() => setOpen(part.id)}
				onClose={close}
				onDone={() => done(part.id)}
			/>
		);
	};
	return (
		<div className={css.whole}>
			<div className={css.line} ref={line}>
				{lead && (isFixed ? <span className={css.lead}>{lead.icon}</span> : button(lead.part, lead.icon))}
				<p className={css.sentence}>
					{pieces.map((piece, i) =>
						typeof piece === "string" ? (
							<span key={i}>{piece}</span>
						) : isFixed ? (
							<span key={piece.id} className={piece.joins ? undefined : css.named}>
								{piece.text}
							</span>
						) : (
							button(piece)
						),
					)}
					{more.length > 0 && !isFixed && (
						<PartButton
							part={{ id: "more", text: words.more }}
							icon={<Plus aria-hidden size={16} />}
							control={{
								label: words.more,
								choices: more,
								choose: (choice) => onMore && setNext({ part: onMore(choice) }),
							}}
							isOpen={open === "more"}
							of={of}
							onOpen={() => setOpen("more")}
							onClose={close}
							onDone={() => done("more")}
						/>
					)}
				</p>
			</div>
			{messages.map((message) => (
				<p key={message} id={idOf(message)} data-fault className={css.fault}>
					{message}
				</p>
			))}
		</div>
	);
}
