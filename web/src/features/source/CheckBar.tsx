import { Check } from "lucide-react";
import type { PreviewAnswer } from "../../api/schema";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import { mailFix, mailProblem } from "../../base/words/errors";
import { fieldName } from "../../base/words/fieldNames";
import { and, bytes } from "../../base/words/formats";
import { useNamesOfPaths } from "../rules/useFields";
import css from "./CheckBar.module.css";
import { type Found, foundIn, hasPlace, type Kind } from "./checks";

const words = catalogue("source.checkBar", {
	label: "Checks of the email",
	size: "{kilobytes, number} KB of 102",
	sizeLabel: "Size of the email as it is sent",
	cut: "{kilobytes, number} KB: Gmail cuts the email after 102 KB",
	none: "Nothing to mend",
	line: "{field}, line {line}",
	value: "No value for {path}",
	counts: {
		errors: "{count, plural, one {# error} other {# errors}}",
		pictures: "{count, plural, one {# picture without alternative text} other {# pictures without alternative text}}",
		links: "{count, plural, one {# link leads nowhere} other {# links lead nowhere}}",
		contrast: "Contrast: {count, number}",
		names: "Unknown fields: {count, number}",
		others: "{count, plural, one {# more warning} other {# more warnings}}",
		missing: "{count, plural, one {# value is missing for this contact} other {# values are missing for this contact}}",
	},
	titles: {
		errors: "Errors",
		pictures: "Pictures without alternative text",
		links: "Links that lead nowhere",
		contrast: "Text that is hard to read",
		names: "Unknown fields",
		others: "More warnings",
		missing: "Missing for this contact",
	},
});

/** What Gmail shows of a mail, in bytes, and where it is nearly as much. */
const most = 102_000;
const nearly = 90_000;

type Props = {
	/** The mail as the server sees it; undefined until it has answered. */
	answer: PreviewAnswer | undefined;
	/** Whether it is shown with the data of a contact. */
	isForContact: boolean;
	/** Opens the place of something. */
	onGo: (found: Found) => void;
};

/** CheckBar says in a line what there is to mend in a mail, and how large it is. A press on a count lists the places. */
export function CheckBar({ answer, isForContact, onGo }: Props) {
	const nameOf = useNamesOfPaths();
	if (!answer) return null;
	const groups = foundIn(answer, isForContact);
	const countOf = (kind: Kind, count: number) => words.counts[kind]({ count });
	const all = groups.map(({ kind, found }) => countOf(kind, found.length));
	return (
		<section className={css.bar} aria-label={words.label}>
			<p className="visually-hidden" role="status">
				{all.length > 0 ? and(all) : words.none}
			</p>
			{answer.sent_size !== null && <Size size={answer.sent_size} />}
			{groups.map(({ kind, found }) => (
				<Popup key={kind} label={words.titles[kind]} className={css.count} button={<Count kind={kind} found={found} />}>
					{(close) => (
						<>
							<h3 className={css.title}>{words.titles[kind]}</h3>
							<ul className={css.list}>
								{found.map((one, i) => (
									<li key={[i, one.field, one.line, one.mark, one.row, one.path ?? one.problem?.message].join()}>
										{hasPlace(one) ? (
											<button
												type="button"
												onClick={() => {
													close();
													onGo(one);
												}}
											>
												<span>{sentenceOf(one, nameOf)}</span>
												<small>{placeOf(one)}</small>
											</button>
										) : (
											<p>{sentenceOf(one, nameOf)}</p>
										)}
									</li>
								))}
							</ul>
						</>
					)}
				</Popup>
			))}
			{groups.length === 0 && (
				<span className={css.none}>
					<Check aria-hidden size={14} /> {words.none}
				</span>
			)}
		</section>
	);
}

function Count({ kind, found }: { kind: Kind; found: Found[] }) {
	return (
		<span data-kind={kind} data-tone={kind === "errors" ? "danger" : kind === "missing" ? undefined : "warning"}>
			{words.counts[kind]({ count: found.length })}
		</span>
	);
}

function sentenceOf({ problem, path = "" }: Found, nameOf: (path: string) => string): string {
	if (!problem) return words.value({ path: nameOf(path) });
	const fix = problem.fix ? ` ${mailFix(problem.fix)}` : "";
	return mailProblem(problem) + fix;
}

const placeOf = ({ field, line }: Found) =>
	field === "" ? "" : line ? words.line({ field: fieldName(field), line }) : fieldName(field);

function Size({ size }: { size: number }) {
	const kilobytes = Math.round(size / 1000);
	return (
		<span
			className={css.size}
			data-tone={size > most ? "danger" : size > nearly ? "warning" : undefined}
			title={bytes(size)}
		>
			<meter aria-label={words.sizeLabel} min={0} max={most} high={nearly} value={Math.min(size, most)} />
			{size > most ? words.cut({ kilobytes }) : words.size({ kilobytes })}
		</span>
	);
}
